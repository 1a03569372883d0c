/// Creates the files of new stores and of compactions.
struct FileCreation {
    let path: String
    let options: StoreOptions
    let fileSystem: any FileSystem
    let counters: Counters

    /// Writes the header of a new file. Its superblock marks the file's name as not yet durable.
    func begin(
        _ storage: any StorageFile, storeID: StoredUUID, segmentShift shift: UInt8
    ) throws(StoreError) -> (LogFile, Superblock) {
        guard FileFormat.segmentShiftRange.contains(shift) else {
            throw StoreError(
                .invalidArgument, path: path, "a segment shift of \(shift) is out of range",
                remedy: "Use one from \(FileFormat.segmentShiftRange.lowerBound) to \(FileFormat.segmentShiftRange.upperBound).")
        }
        let identity = FileIdentity(segmentShift: shift, storeID: storeID, fileID: fileSystem.random())
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        var superblock = Superblock()
        superblock.generation = 1
        superblock.isUnsettled = true
        for offset in FileFormat.identityOffsets {
            header.replaceSubrange(Int(offset)..<Int(offset) + FileIdentity.Layout.size, with: identity.encoded())
        }
        let at = Int(FileFormat.superblockOffsets[1])
        header.replaceSubrange(at..<at + Superblock.Layout.size, with: superblock.encoded(fileID: identity.fileID))
        try Self.write(header[...], to: storage, at: 0)
        let file = LogFile(storage: storage, path: path, identity: identity, maps: options.usesMemoryMapping, counters: counters)
        file.extendReadable(to: UInt64(header.count))
        return (file, superblock)
    }

    /// Writes a superblock at its generation's offset.
    static func write(_ superblock: Superblock, to storage: any StorageFile, fileID: UInt64) throws(StoreError) {
        try write(superblock.encoded(fileID: fileID)[...], to: storage, at: superblock.offset)
    }

    static func write(_ bytes: ArraySlice<UInt8>, to storage: any StorageFile, at offset: UInt64) throws(StoreError) {
        try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try storage.write(UnsafeRawBufferPointer(bytes), at: offset) }
    }
}
