/// Finds a past commit in a log, and the checkpoint from which a replay reaches it soonest.
///
/// Checkpoints stay in the log, and each manifest names the one before it, so the way back costs one small frame for each.
struct PastCommitSearch {
    typealias Start = (snapshot: Snapshot, position: UInt64, hasCheckpoint: Bool)

    let file: LogFile
    let superblock: Superblock?
    /// The end of the log's last whole commit.
    let limit: UInt64
    let options: StoreOptions
    let counters: Counters

    /// - Returns: the commit's number, which the log may lack if it is higher than all others, and the state to replay from.
    /// - Throws: `noSuchCommit` if the log begins behind the commit; `corrupt`.
    func run(_ past: PastCommit) throws(StoreError) -> (sequence: UInt64, start: Start) {
        let oldest = try Self.oldest(of: file)
        let sequence: UInt64
        switch past {
        case .number(let number): sequence = number
        case .time(let time): sequence = try last(notAfter: time, oldest: oldest)
        }
        guard let oldest, sequence >= oldest else {
            throw StoreError.noSuchCommit(file.path, "the log has no commit \(sequence)", oldest: oldest, newest: superblock?.sequence)
        }
        return (sequence, try start(of: sequence))
    }

    /// The number of the file's first commit; nil if it has none.
    static func oldest(of file: LogFile) throws(StoreError) -> UInt64? {
        let reader = TailReader(file)
        var offset = FileFormat.dataStart
        while let frame = try reader.frame(at: offset, limit: file.readableEnd) {
            switch frame.header.kind {
            case .rows, .valueChunk, .valueList, .prepared, .commit: return frame.header.sequence
            case .pad, .batch, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint: offset = frame.end
            }
        }
        return nil
    }

    /// The newest checkpoint that is not behind the commit, or the empty state before the file's first commit.
    private func start(of sequence: UInt64) throws(StoreError) -> Start {
        var chain = chain()
        while let (pointer, manifest) = try chain.next() {
            guard manifest.sequence <= sequence,
                let loaded = try? CheckpointReader(file: file, counters: counters).load(pointer, size: limit)
            else { continue }
            return (loaded.snapshot, loaded.end, true)
        }
        return (Snapshot.empty(file, counters), FileFormat.dataStart, false)
    }

    /// The last commit at or before a time. Looks through the commits between two checkpoints, the newest ones first.
    private func last(notAfter time: Int64, oldest: UInt64?) throws(StoreError) -> UInt64 {
        var chain = chain()
        var newest = superblock?.sequence ?? 0, isNewest = true
        while true {
            let manifest = try chain.next()?.manifest
            var scan = CommitScan(
                file, after: LogPosition(behind: manifest), limit: limit, publishedEnd: superblock?.end, wholeEnd: superblock?.durableEnd ?? 0)
            var found: UInt64?
            while isNewest || scan.sequence < newest, let footer = try scan.next() {
                if footer.timestamp <= time { found = footer.sequence }
            }
            guard scan.sequence >= newest || options.acceptsDamage else {
                throw StoreError.corrupt(file.path, at: scan.end, "the log ends before commit \(newest)")
            }
            if let found { return found }
            guard let manifest, manifest.sequence > 0 else {
                throw StoreError.noSuchCommit(
                    file.path, "no commit of the log is at or before that time", oldest: oldest, newest: superblock?.sequence)
            }
            (newest, isNewest) = (manifest.sequence, false)
        }
    }

    private func chain() -> CheckpointChain {
        CheckpointChain(file, from: options.rebuildsIndexes ? .none : superblock?.checkpoint ?? .none, limit: limit)
    }
}

extension StoreError {
    /// - Parameters:
    ///   - oldest: the number of the log's first commit; nil if it has none.
    ///   - newest: the number of its last commit.
    static func noSuchCommit(_ path: String, _ message: String, oldest: UInt64?, newest: UInt64?) -> StoreError {
        let range = oldest.map { "It has commits \($0) to \(max($0, newest ?? 0))" } ?? "It has no commit that can be read"
        return StoreError(
            .noSuchCommit, path: path, message,
            remedy: range + ", which `heartwood log` lists. A backup may have others: `heartwood restore` with --commit or --at.")
    }
}
