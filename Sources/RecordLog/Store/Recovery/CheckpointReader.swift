/// Loads the state that a checkpoint's manifest describes.
struct CheckpointReader {
    let file: LogFile
    let counters: Counters

    /// - Returns: the checkpoint's snapshot, and the offset at which the log continues.
    /// - Throws: if the manifest, or anything that it names directly, is damaged. The caller then replays the whole log.
    func load(_ pointer: FramePointer, size: UInt64) throws(StoreError) -> (snapshot: Snapshot, end: UInt64) {
        guard let frame = try file.frame(at: pointer.offset, limit: size), frame.header.kind == .checkpoint,
            frame.header.checksum == pointer.checksum, let manifest = Manifest(frame.payload),
            manifest.logEnd >= FileFormat.dataStart, manifest.logEnd <= pointer.offset, manifest.logEnd % UInt64(FrameHeader.alignment) == 0
        else { throw damaged(pointer.offset) }
        // The bytes that a manifest counts precede it in the file. Compaction reserves room by these counts.
        let liveBytes = manifest.tables.reduce(0) { $0 + $1.liveBytes }
        guard liveBytes <= pointer.offset, manifest.indexes.allSatisfy({ $0.runs.allSatisfy { $0.byteCount <= pointer.offset } })
        else { throw damaged(pointer.offset) }
        // Full size from the start: the runtime would instantiate another type to grow an array of structures.
        var tables = [TableState?](repeating: nil, count: manifest.tables.reduce(0) { max($0, Int($1.id.rawValue) + 1) })
        for table in manifest.tables {
            let index = Int(table.id.rawValue)
            try check(table.directory, before: pointer.offset)
            let base = table.directory.isNone ? nil : try PrimaryBase(directory: table.directory, source: file)
            guard table.nextRow <= UInt64(base?.pageCount ?? 0) * PrimaryBase.rowsPerPage else { throw damaged(pointer.offset) }
            tables[index] = TableState(
                primary: PrimaryIndex(base: base), nextRow: table.nextRow, rowCount: table.rowCount,
                liveBytes: table.liveBytes)
        }
        var indexes = [RunSet?](repeating: nil, count: manifest.indexes.reduce(0) { max($0, Int($1.id.rawValue) + 1) })
        for index in manifest.indexes {
            let number = Int(index.id.rawValue)
            for run in index.runs { try check(run.root, before: pointer.offset) }
            indexes[number] = RunSet(fresh: [], disk: index.runs.map { SortedRun(manifest: $0, source: file) })
        }
        let bare = Snapshot(
            sequence: manifest.sequence, catalog: .empty, file: file, end: manifest.logEnd, commitChecksum: manifest.commitChecksum,
            tables: tables, indexes: indexes, counters: counters)
        var catalog = Catalog.empty
        if let bytes = try bare.unsafeSystemValue(Catalog.row) {
            guard let stored = Catalog(bytes) else {
                throw Catalog.isNewer(bytes) ? Catalog.unreadable(bytes, file.path, at: nil) : damaged(pointer.offset)
            }
            catalog = stored
        }
        let snapshot = Snapshot(
            sequence: manifest.sequence, catalog: catalog, file: file, end: manifest.logEnd, commitChecksum: manifest.commitChecksum,
            tables: tables, indexes: indexes, counters: counters)
        return (snapshot, manifest.logEnd)
    }

    /// A manifest names only frames before it, so nothing refers to itself.
    private func check(_ pointer: FramePointer, before offset: UInt64) throws(StoreError) {
        guard pointer.isNone || pointer.offset < offset else { throw damaged(pointer.offset) }
    }

    private func damaged(_ offset: UInt64) -> StoreError {
        StoreError.corrupt(file.path, at: offset, "a checkpoint is damaged")
    }
}
