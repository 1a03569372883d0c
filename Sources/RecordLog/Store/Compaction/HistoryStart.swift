/// Finds the state before a history window, which becomes the first commit of the compacted file.
struct HistoryStart {
    let window: HistoryWindow
    let newest: Snapshot
    /// The file's newest checkpoint.
    let checkpoint: FramePointer
    let options: StoreOptions

    /// - Returns: a snapshot without indexes. Its sequence is 0 if the window begins with the file's first commit. It is `newest` itself if
    ///   there is no window.
    /// - Complexity: O(log) for a time, O(log from the last checkpoint before the window) for a number of commits.
    func find() throws(StoreError) -> Snapshot {
        let last = try sequence()
        guard last < newest.sequence else { return newest }
        let start = try checkpointedState(notAfter: last) ?? Snapshot.empty(newest.file, newest.counters)
        let replay = Replay(file: newest.file, from: start, at: start.end, options: options)
        try replay.run(limit: newest.end, publishedEnd: newest.end, wholeEnd: newest.end, through: last)
        let found = replay.snapshotAsIs(counters: newest.counters)
        guard found.sequence == last || found.sequence == 0 else {
            throw StoreError.corrupt(newest.file.path, at: found.end, "the log ends before its newest commit")
        }
        return found
    }

    /// The number of the last commit before the window.
    private func sequence() throws(StoreError) -> UInt64 {
        switch window {
        case .none: return newest.sequence
        case .commits(let count): return newest.sequence - min(newest.sequence, UInt64(max(0, count)))
        case .since(let time):
            var scan = CommitScan(from: Snapshot.empty(newest.file, newest.counters), to: newest)
            var last: UInt64 = 0
            while let footer = try scan.next() {
                if footer.timestamp < time { last = footer.sequence }
            }
            return last
        }
    }

    /// The state of the newest checkpoint at or before commit `last`, without its indexes, so that none is read or updated.
    private func checkpointedState(notAfter last: UInt64) throws(StoreError) -> Snapshot? {
        guard !options.rebuildsIndexes else { return nil }
        var pointer = checkpoint
        // A checkpoint names only an earlier one, so this ends.
        while !pointer.isNone {
            guard let frame = try newest.file.frame(at: pointer.offset, limit: .max), frame.header.kind == .checkpoint,
                frame.header.checksum == pointer.checksum, let manifest = Manifest(frame.payload),
                manifest.previousCheckpoint.isNone || manifest.previousCheckpoint.offset < pointer.offset
            else { return nil }
            if manifest.sequence <= last {
                guard let loaded = try? CheckpointReader(file: newest.file, counters: newest.counters).load(pointer, size: .max)
                else { return nil }
                return loaded.snapshot.withoutIndexes()
            }
            pointer = manifest.previousCheckpoint
        }
        return nil
    }
}

extension Snapshot {
    fileprivate func withoutIndexes() -> Snapshot {
        Snapshot(
            sequence: sequence, catalog: catalog, file: file, end: end, commitChecksum: commitChecksum, tables: tables, indexes: [],
            counters: counters)
    }
}
