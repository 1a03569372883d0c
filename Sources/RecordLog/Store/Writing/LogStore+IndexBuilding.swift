import Synchronization

/// Builds indexes beside readers and writers.
///
/// Crash points: before its commit an index does not exist, and nothing of it is in the file; after it, it exists, and an opening makes its entries
/// of the rows until the checkpoint that the commit begins has them.
extension LogStore {
    /// The most log that the last round leaves to be read while writers wait, and the most rounds.
    private static let lastRoundBytes: UInt64 = 256 << 10, roundsMax = 8
    /// The most times that a build begins anew because a compaction has replaced the file.
    private static let attemptsMax = 5

    /// Creates an index with the entries of a table's rows. Commits wait only while the entries of the newest changes are added.
    /// - Parameters:
    ///   - isWanted: called in the transaction that creates the index; writes nothing. If it returns false, nothing is created.
    ///   - completing: called in it once the index is created; may write.
    /// - Returns: whether the index was created.
    /// - Throws: as `Transaction.defineIndex` and `write`, and the errors of `isWanted`; `closed` if the store is closed meanwhile.
    /// - Complexity: O(rows of the table).
    package func buildIndex(
        named name: String, on table: TableID, parts: [IndexPart], extractorName: String?, isWanted: (Transaction) throws -> Bool,
        completing: (Transaction) throws -> Void = { _ in }
    ) throws -> Bool {
        let definition = IndexDefinition(
            id: IndexID(rawValue: 0), table: table, name: name, parts: parts, extractorName: extractorName)
        for _ in 0..<Self.attemptsMax {
            var build = try IndexBuild(of: definition, in: self, over: try refresh())
            var rounds = 0
            while rounds < Self.roundsMax {
                let newest = try refresh()
                guard build.canFollow(to: newest), newest.end - build.base.end > Self.lastRoundBytes else { break }
                try build.follow(to: newest)
                rounds += 1
            }
            let isDone = try write { transaction -> Bool? in
                guard build.canFollow(to: transaction.base) else { return nil }
                guard try isWanted(transaction) else { return false }
                try build.follow(to: transaction.base)
                _ = try transaction.defineIndex(definition, with: build.runs)
                try completing(transaction)
                return true
            }
            if let isDone { return isDone }
        }
        return false
    }

    // MARK: Waiting for builds

    /// Says that a thread is about to build indexes, so that the store's closing and the end of the process wait for it a while: a process that is
    /// short would otherwise never get an index built. `endIndexBuilds` must follow.
    package func beginIndexBuilds() { indexBuilds.begin() }

    package func endIndexBuilds() { indexBuilds.finish() }

    /// Called by the thread that builds.
    package func noteIndexBuilder() { indexBuilder.store(SystemThread.current, ordering: .relaxed) }

    /// Waits a while for index builds, unless this thread is the one that builds.
    func awaitIndexBuilds() {
        guard !isForked, !indexBuilds.isFinished else { return }
        let own = SystemThread.current
        guard own == 0 || indexBuilder.load(ordering: .relaxed) != own else { return }
        indexBuilds.wait(atMost: Self.buildMilliseconds)
    }

    private static let buildMilliseconds = 10_000
}
