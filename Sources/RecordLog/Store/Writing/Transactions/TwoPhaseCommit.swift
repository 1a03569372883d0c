import Synchronization

/// One transaction in each of several stores, committed in all of them or in none. Spec: FORMAT.md, "Saves over several stores".
///
/// One store decides; the others prepare. It may be none of these files (`OutsideDecision`): then all of them prepare. Crash points, in order:
/// - before the deciding commit is on the disk: a prepared frame asks the coordinator's store, which has no decision. No store has committed;
/// - after it, before the others are completed: the next process that opens or writes one of them asks and learns the decision. Until then
///   readers show it as committed. All stores have committed;
/// - after that: each store has the whole commit in its own file and asks no other.
///
/// Invariants:
/// 1. All stores are locked, in the order of their identities, from before the first is prepared until the last is completed.
/// 2. The decision is written once every other store's frames are durable. Nothing is published or acknowledged before the others' commit
///    frames are durable.
/// 3. A failure before the decision is begun is taken back in all stores. A failure after it poisons every handle of the group.
///
/// Files that do not outlive the process take no part in this: they commit last, when nothing can fail any more.
struct TwoPhaseCommit {
    final class Part {
        let store: LockedStore
        let transaction: Transaction
        fileprivate var frame = FramePointer.none
        fileprivate var footer: CommitFooter?

        init(_ store: LockedStore) {
            self.store = store
            transaction = store.makeTransaction()
        }

        fileprivate var isLasting: Bool { store.fileSystem.outlivesProcess }
    }

    /// In lock order.
    private let parts: [Part]
    private let author: [UInt8]
    private let authorText: String?

    /// - Parameter stores: caught up with the newest commit.
    init(_ stores: [LockedStore], author: String?) {
        parts = stores.map(Part.init)
        authorText = author
        self.author = Array((author ?? "").utf8)
    }

    /// - Parameters:
    ///   - outside: decides in place of one of the stores.
    ///   - body: gets the transactions in the order of `stores`.
    func run(of stores: [LogStore], outside: OutsideDecision?, _ body: ([Transaction]) throws -> Void) throws {
        defer { for part in parts { part.store.writer.buffer.trim() } }
        do {
            try body(stores.compactMap { store in parts.first { $0.store.store === store }?.transaction })
            for part in parts { try part.store.checkWhole(part.transaction) }
            let changed = parts.filter(\.transaction.hasChanges), lasting = changed.filter(\.isLasting)
            let group = try outside == nil && lasting.count > 1 ? Group(lasting) : nil
            for part in changed { try part.transaction.finish() }
            if let outside {
                try commit(lasting, outside)
            } else if let group {
                try commit(group)
            } else {
                for part in lasting { try part.store.commit(part.transaction, author: authorText) }
            }
            for part in changed where !part.isLasting { try part.store.commit(part.transaction, author: authorText) }
            for part in parts where !part.transaction.hasChanges { part.store.abandon(part.transaction.appender) }
        } catch {
            for part in parts { part.store.takeBack(part.transaction) }
            throw error
        }
        for part in parts where part.transaction.hasChanges {
            part.store.checkpointIfDue()
            part.store.announceCompactionIfDue()
        }
    }

    /// The stores of one save: the coordinator and those it decides about.
    private struct Group {
        let id: StoredUUID
        let coordinator: Part
        let others: [Part]

        /// Writes the decision into the coordinator's transaction.
        init(_ parts: [Part]) throws(StoreError) {
            // The store with the strongest durability; of several, the first in order.
            let coordinator = parts.first { $0.store.options.durability == .full }
                ?? parts.first { $0.store.options.durability == .relaxed } ?? parts[0]
            self.coordinator = coordinator
            others = parts.filter { $0 !== coordinator }
            id = StoredUUID(words: (coordinator.store.fileSystem.random(), coordinator.store.fileSystem.random()))
            var decisions = try CommitDecisions(coordinator.transaction.base) ?? CommitDecisions()
            decisions.decide(id, others.map { $0.store.store.storeID }, settled: coordinator.store.writer.settledGroup)
            try coordinator.transaction.setSystemRow(CommitDecisions.row, decisions.encoded())
        }
    }

    private func commit(_ group: Group) throws(StoreError) {
        let coordinator = group.coordinator, others = group.others
        let path = try coordinator.store.fileSystem.resolved(coordinator.store.path)
        guard path.utf8.count <= PreparedRecord.pathLengthMax else {
            throw StoreError(
                .invalidArgument, path: coordinator.store.path,
                "the path has \(path.utf8.count) bytes, more than the other stores of a save can keep",
                remedy: "Use paths of at most \(PreparedRecord.pathLengthMax) bytes for stores that are saved together.")
        }
        for part in others {
            let record = PreparedRecord(
                group: group.id, coordinator: coordinator.store.store.storeID, decision: coordinator.transaction.base.sequence + 1,
                relativePath: FilePath.relative(from: try part.store.fileSystem.resolved(part.store.path), to: path), path: path)
            part.footer = try part.store.prepare(part.transaction, record, author: author)
        }
        try coordinator.store.announceUnresolved()
        do throws(StoreError) {
            coordinator.frame = try coordinator.store.append(coordinator.transaction, author: authorText)
            if coordinator.store.options.durability == .full { try coordinator.store.syncFile() }
        } catch {
            // Without room nothing was decided. After another failure only the next opening of the stores finds out.
            if coordinator.store.writer.poison != nil { poison(others, error) }
            throw error
        }
        try complete(others, with: [coordinator])
        coordinator.store.writer.settledGroup = group.id
    }

    /// Writes the commit frames that prepared stores lack, and publishes them, and then the stores that need none.
    private func complete(_ prepared: [Part], with whole: [Part] = []) throws(StoreError) {
        do throws(StoreError) {
            for part in prepared { part.frame = try part.store.complete(part.transaction, part.footer, author: author) }
            for part in prepared + whole { try part.store.publish(part.transaction, part.frame) }
        } catch {
            poison(prepared + whole, error)
            // Uncertain, since the commit is decided and may have been saved.
            throw error.asUncertain
        }
    }

    private func commit(_ parts: [Part], _ outside: OutsideDecision) throws {
        for part in parts { part.footer = try part.store.prepare(part.transaction, outside.record(part.store.path), author: author) }
        switch outside.decide() {
        case .committed: try complete(parts)
        case .refused(let error): throw error
        case .unknown(let error):
            for part in parts { part.store.writer.poison = part.store.writer.poison ?? outside.unknown(part.store.path) }
            throw error
        }
    }

    private func poison(_ parts: [Part], _ error: StoreError) {
        for part in parts { part.store.writer.poison = part.store.writer.poison ?? error }
    }
}

extension LogStore {
    /// Runs `body` with a transaction in each of several stores. Commits the changes in all stores or in none, even after a crash.
    ///
    /// After a crash each store settles its own part when it is opened or written to next. A prepared store must then find the store that
    /// decides (`StoreError.Code.undecided`). Once this returns, no store depends on another file. With relaxed durability a crash of the
    /// machine may take the newest commits of one store and not of another.
    ///
    /// Waits for other writers. `body` must not write to the stores by other means, and the stores must be different files.
    /// - Parameters:
    ///   - author: at most 1000 bytes of UTF-8, stored with each commit.
    ///   - body: gets the transactions in the order of the stores.
    /// - Throws: the error of `body`, and nothing is changed then; as `write(author:_:)` does. A failure to write that may have decided the
    ///   commit poisons every handle of the group.
    /// - Complexity: three syncs for two stores with full durability; for a single store as `write(author:_:)`.
    public static func write(to stores: [LogStore], author: String? = nil, _ body: ([Transaction]) throws -> Void) throws {
        guard let first = stores.first else { return try body([]) }
        guard stores.count > 1 else { return try first.perform(author: author) { try body([$0]) } }
        try write(to: stores, author: author, outside: nil, body)
    }

    /// As `write(to:author:_:)`, for a commit about which another store decides that is no record log.
    /// - Parameter outside: decides once every store is prepared; nil where one of the stores decides.
    /// - Throws: as well the error of the decision. Where its outcome is unknown, every handle is poisoned: the next opening asks.
    package static func write(
        to stores: [LogStore], author: String? = nil, outside: OutsideDecision?, _ body: ([Transaction]) throws -> Void
    ) throws {
        for store in stores { try store.check(author: author) }
        let ordered = stores.sorted { a, b in
            a.storeID == b.storeID ? a.path < b.path : a.storeID < b.storeID
        }
        defer {
            for store in stores {
                store.throttle()
                store.startCompactingIfDue()
            }
        }
        try lock(ordered[...], []) { try TwoPhaseCommit($0, author: author).run(of: stores, outside: outside, body) }
    }

    private static func lock(_ stores: ArraySlice<LogStore>, _ held: [LockedStore], _ body: ([LockedStore]) throws -> Void) throws {
        guard let store = stores.first else { return try body(held) }
        var failure: (any Error)?
        try store.withWriteLock { locked in
            do {
                try locked.beginWriting(holding: held)
                defer { locked.writer.file.storage.unlock() }
                try lock(stores.dropFirst(), held + [locked], body)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

/// One store's part.
extension LockedStore {
    /// Writes a commit without its commit frame, and makes it durable.
    fileprivate func prepare(_ transaction: Transaction, _ record: PreparedRecord, author: [UInt8]) throws(StoreError) -> CommitFooter {
        let appender = transaction.appender
        let footer = footer(of: transaction, authorLength: author.count)
        _ = try appender.appendPrepared(record, footer, author: author)
        try write(appender)
        try reserve(from: appender.position)
        try announceUnresolved()
        if options.durability == .full { try syncFile() }
        return footer
    }

    /// Reserves space for the commit frame, so that a full disk cannot stop it.
    private func reserve(from start: UInt64) throws(StoreError) {
        let end = start + FrameAppender.completionSizeMax
        guard writer.zeroedEnd < end else { return }
        do throws(StoreError) {
            let zeroes = [UInt8](repeating: 0, count: Int(end - max(writer.zeroedEnd, start)))
            try FileCreation.write(zeroes[...], to: writer.file.storage, at: end - UInt64(zeroes.count))
        } catch {
            try failed(error, canGoOn: error.code == .noSpace)
        }
        writer.zeroedEnd = end
    }

    /// Makes readers that go by the superblock look at the log behind it.
    fileprivate func announceUnresolved() throws(StoreError) {
        var superblock = writer.superblock
        superblock.isUnresolved = true
        try writeSuperblock(superblock)
    }

    /// Writes the frame that a prepared commit lacks, and makes it durable.
    fileprivate func complete(_ transaction: Transaction, _ footer: CommitFooter?, author: [UInt8]) throws(StoreError) -> FramePointer {
        guard let footer else { preconditionFailure("a commit is prepared before it is completed") }
        let frame = try transaction.appender.appendFooter(footer, author: author)
        try write(transaction.appender)
        if options.durability == .full { try syncFile() }
        return frame
    }

    /// Takes back a transaction's writes, unless it may have been decided: the handle is poisoned then.
    fileprivate func takeBack(_ transaction: Transaction) {
        abandon(transaction.appender)
        guard writer.poison == nil, writer.superblock.isUnresolved else { return }
        var superblock = writer.superblock
        superblock.isUnresolved = false
        // A failure poisons the handle. Readers then look behind the superblock and find nothing.
        try? writeSuperblock(superblock)
    }
}
