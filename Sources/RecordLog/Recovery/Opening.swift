/// A file that has been opened and recovered.
struct OpenedFile {
    let snapshot: Snapshot
    var slot: HeaderSlot
    /// Where the next frame goes.
    let end: UInt64
    let checkpointEnd: UInt64
    let zeroedEnd: UInt64
}

/// Opens a store: header, checkpoint, replay, and what to do about the tail. Spec: FORMAT.md, "Recovery".
///
/// Repeatable after a crash at any point: until the tail is cut off nothing is written, and cutting it off twice is
/// cutting it off.
struct Opening {
    let path: String
    let options: StoreOptions
    let fileSystem: any FileSystem
    let counters: Counters

    func run() throws(StoreError) -> OpenedFile {
        if options.isReadOnly {
            return try recover(try fileSystem.open(path, .readOnly))
        }
        // Compaction may put another file in the path's place while this one waits for its lock.
        for _ in 0..<100 {
            let storage = try openForWriting()
            try storage.lock(timeout: options.lockTimeout)
            guard try fileSystem.identity(of: path) == storage.identity else {
                storage.unlock()
                continue
            }
            defer { storage.unlock() }
            return try recover(storage)
        }
        throw StoreError(.locked, path: path, "the file is replaced again and again", remedy: "Stop the other process.")
    }

    private func openForWriting() throws(StoreError) -> any StorageFile {
        do throws(StoreError) {
            return try fileSystem.open(path, .readWrite)
        } catch {
            guard error.code == .notFound, options.createIfMissing else { throw error }
        }
        do throws(StoreError) {
            return try fileSystem.open(path, .create)
        } catch {
            guard error.code == .exists else { throw error }
            return try fileSystem.open(path, .readWrite)
        }
    }

    /// Recovers an open file; a writer holds its lock.
    func recover(_ storage: any StorageFile) throws(StoreError) -> OpenedFile {
        let size = try storage.size()
        var header = [UInt8](repeating: 0, count: Int(FileFormat.dataStart))
        let count = try Self.read(storage, into: &header)
        if !options.isReadOnly, size <= FileFormat.dataStart, header.allSatisfy({ $0 == 0 }) {
            // Nothing was ever here, or a crash came before the header was.
            return try FileCreation(path: path, options: options, fileSystem: fileSystem, counters: counters)
                .initialize(storage, storeID: (fileSystem.random(), fileSystem.random()))
        }
        let identity = try HeaderReader(path: path).identity(header, count: count, size: size)
        let file = LogFile(storage: storage, path: path, identity: identity)
        let slot = HeaderReader.newestSlot(header, fileID: identity.fileID)
        let state = try startingState(file, slot, size: size)
        let replay = Replay(file: file, from: state.snapshot, at: state.position, options: options)
        try replay.run(limit: size, publishedEnd: slot?.end)
        counters.replayed(bytes: replay.end - state.position)
        let snapshot = try replay.finish(counters: counters)
        return try settle(snapshot, slot: slot, end: replay.end, size: size, checkpointEnd: state.checkpointEnd)
    }

    static func read(_ storage: any StorageFile, into header: inout [UInt8]) throws(StoreError) -> Int {
        let result: Result<Int, StoreError> = header.withUnsafeMutableBytes { bytes in
            do throws(StoreError) { return .success(try storage.read(into: bytes, at: 0)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    // MARK: Checkpoint

    /// The state of the newest checkpoint; that of an empty store where there is none, or it cannot be read.
    private func startingState(
        _ file: LogFile, _ slot: HeaderSlot?, size: UInt64
    ) throws(StoreError) -> (snapshot: Snapshot, position: UInt64, checkpointEnd: UInt64) {
        if let slot, !slot.checkpoint.isNone, !options.rebuildsIndexes, slot.checkpoint.offset < size,
            let loaded = try? CheckpointReader(file: file, counters: counters).load(slot.checkpoint, size: size)
        {
            return (loaded.snapshot, loaded.end, loaded.end)
        }
        let empty = Snapshot(
            sequence: 0, catalog: .empty, file: file, end: FileFormat.dataStart, commitChecksum: 0, tables: [], indexes: [],
            counters: counters)
        return (empty, FileFormat.dataStart, FileFormat.dataStart)
    }

    // MARK: Tail

    /// Decides what the bytes behind the last commit are, and cuts off a torn tail.
    private func settle(
        _ snapshot: Snapshot, slot: HeaderSlot?, end: UInt64, size: UInt64, checkpointEnd: UInt64
    ) throws(StoreError) -> OpenedFile {
        let file = snapshot.file
        var newSlot = slot ?? HeaderSlot()
        let isAsPublished = slot.map { $0.end == end && $0.sequence == snapshot.sequence } ?? false
        if options.isReadOnly {
            // A reader takes what is before the tail, whatever the tail is.
            return OpenedFile(snapshot: snapshot, slot: newSlot, end: end, checkpointEnd: checkpointEnd, zeroedEnd: end)
        }
        let tail = try TailExamination(file: file, sequence: snapshot.sequence, end: end, size: size, slot: slot).run()
        if case .corrupt(let offset, let evidence) = tail {
            throw StoreError.corrupt(
                path, at: offset, "bytes that had been committed are damaged: \(evidence)")
        }
        var zeroedEnd = max(size, end)
        if case .torn = tail {
            // (7) Nothing is appended after damaged bytes without truncation and sync.
            try file.storage.truncate(to: end)
            file.forgetVerified(from: end, to: size)
            if options.durability != .none { try file.storage.sync() }
            zeroedEnd = end
        }
        if !isAsPublished {
            newSlot.sequence = snapshot.sequence
            newSlot.end = end
            newSlot.commitChecksum = snapshot.commitChecksum
            newSlot.durableSequence = min(newSlot.durableSequence, snapshot.sequence)
            newSlot.durableEnd = min(newSlot.durableEnd, end)
            if checkpointEnd == FileFormat.dataStart { newSlot.checkpoint = .none }
            newSlot.generation += 1
            if options.durability != .none {
                try file.storage.sync()
                newSlot.durableSequence = newSlot.sequence
                newSlot.durableEnd = newSlot.end
            }
            try FileCreation.write(newSlot, to: file.storage, fileID: file.identity.fileID)
        }
        return OpenedFile(snapshot: snapshot, slot: newSlot, end: end, checkpointEnd: checkpointEnd, zeroedEnd: zeroedEnd)
    }
}

/// Reads the first 8 KiB of a file, and says what it is where it is no store.
struct HeaderReader {
    let path: String

    func identity(_ header: [UInt8], count: Int, size: UInt64) throws(StoreError) -> FileIdentity {
        var found: FileIdentity?
        header.withUnsafeBytes { bytes in
            for offset in FileFormat.identityOffsets where found == nil {
                let start = Int(offset)
                found = FileIdentity(UnsafeRawBufferPointer(rebasing: bytes[start..<start + FileIdentity.Layout.size]))
            }
        }
        guard let found else {
            if header.starts(with: Array("SQLite format 3\0".utf8)) {
                throw StoreError(
                    .notAStore, path: path, "this is an SQLite database", remedy: "Open it with SQLite, or give a Heartwood store.")
            }
            throw StoreError(
                .notAStore, path: path, at: 0, "this is not a Heartwood store, or its header is destroyed",
                remedy: "Check the path; restore a backup if it was a store.")
        }
        guard found.version <= FileFormat.version, found.version > 0 else {
            throw StoreError(
                .unsupportedVersion, path: path, "the store has format version \(found.version), newer than \(FileFormat.version)",
                remedy: "Open it with a newer Heartwood.")
        }
        guard FileFormat.segmentShiftRange.contains(found.segmentShift) else {
            throw StoreError.corrupt(path, at: FileFormat.identityOffsets[0], "the header names an impossible segment size")
        }
        return found
    }

    /// The valid slot of the higher generation; nil where neither is valid.
    static func newestSlot(_ header: [UInt8], fileID: UInt64) -> HeaderSlot? {
        header.withUnsafeBytes { newestSlot($0, fileID: fileID) }
    }

    static func newestSlot(_ header: UnsafeRawBufferPointer, fileID: UInt64) -> HeaderSlot? {
        var newest: HeaderSlot?
        for offset in FileFormat.slotOffsets {
            let start = Int(offset)
            let bytes = UnsafeRawBufferPointer(rebasing: header[start..<start + HeaderSlot.Layout.size])
            if let slot = HeaderSlot(bytes, fileID: fileID), slot.generation >= newest?.generation ?? 0 { newest = slot }
        }
        return newest
    }
}
