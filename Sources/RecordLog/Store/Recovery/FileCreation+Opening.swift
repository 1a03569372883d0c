extension FileCreation {
    /// Writes the header of a new file. Makes the header and the file's name durable.
    func initialize(
        _ storage: any StorageFile, storeID: StoredUUID, segmentShift: UInt8? = nil
    ) throws(StoreError) -> OpenedFile {
        // Opened before the first write: if no descriptor is left, the file stays empty and the next opening creates the store.
        let directory = options.durability != .none ? try fileSystem.openDirectory(of: path) : nil
        var (file, superblock) = try begin(storage, storeID: storeID, segmentShift: segmentShift ?? options.segmentShift)
        if let directory {
            try storage.sync()
            try directory.sync()
            superblock.isUnsettled = false
            superblock.generation += 1
            try Self.write(superblock, to: storage, fileID: file.identity.fileID)
        }
        return OpenedFile(
            snapshot: Snapshot.empty(file, counters), superblock: superblock, end: FileFormat.dataStart, bytesBehind: 0,
            zeroedEnd: FileFormat.dataStart)
    }
}
