import Foundation
import RecordLog

extension RecordLogStore {
    /// Whether a save of this store can be combined with another's. It cannot if a subclass saves in another format.
    final var savesTogether: Bool { Swift.type(of: self) == RecordLogStore.self || Swift.type(of: self) == InMemoryStore.self }

    /// Writes a batch, and changed metadata, to each store: to all of them or to none.
    /// - Parameters:
    ///   - joint: the save, if a store decides about it that is no record log.
    ///   - last: called after every batch was found to be without conflict, before the commit.
    static func save(
        together parts: [(store: RecordLogStore, batch: SaveBatch)], _ joint: JointSave? = nil, last: () throws -> Void
    ) throws {
        let loaded = try parts.map { try $0.store.loaded() }
        let known = loaded.map { $0.log.snapshot() }
        nonisolated(unsafe) let metadata = parts.map(\.store.pendingMetadata)
        var at: Int?, written: [Bool] = []
        func body(_ transactions: [Transaction]) throws {
            written = []
            for (index, (store, batch)) in parts.enumerated() {
                at = index
                try store.checkVersion(of: transactions[index].base, loaded[index])
                written.append(try store.write(batch, metadata[index], in: transactions[index], loaded[index].schema))
            }
            at = nil
            try last()
            for (index, part) in parts.enumerated() {
                part.store.commits.note(base: transactions[index].base.sequence, isFollowed: written[index])
            }
        }
        do {
            let logs = loaded.map(\.log), author = parts.first?.batch.origin.author
            if let joint {
                try LogStore.write(to: logs, author: author, outside: joint.decision, body)
            } else {
                try LogStore.write(to: logs, author: author, body)
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        } catch var conflicts as VersionConflicts {
            guard let at else { throw conflicts }
            conflicts.known = RecordLogView(
                snapshot: known[at], of: loaded[at].log, schema: loaded[at].schema, slotBase: parts[at].store.slotBase)
            throw conflicts
        }
        for (index, part) in parts.enumerated() {
            if let metadata = metadata[index] { part.store.note(metadata) }
            part.batch.isCommitted = written[index]
            part.store.reportCommits(upTo: loaded[index].log.snapshot().sequence, hasOwn: written[index])
        }
    }

    /// - Returns: whether there is anything to commit.
    private func write(
        _ batch: SaveBatch, _ metadata: [String: Any]?, in transaction: Transaction, _ schema: RecordLogSchema
    ) throws -> Bool {
        try begin(transaction, batch)
        var save = RecordLogSave(transaction: transaction, schema: schema, slotBase: slotBase, batch: batch) {
            self.flag(NSRecordLogOwnerVersionsOption) ?? false
        }
        try save.run()
        if save.hasWritten { try recordHistory(of: transaction, schema, batch.origin) }
        if let metadata { try transaction.setSystemValue(RecordLogSystemRow.metadata, try RecordLogMetadata.encode(metadata)) }
        let isWritten = save.hasWritten || metadata != nil
        try finish(transaction, batch, hasWritten: isWritten)
        return isWritten
    }
}

extension NSManagedObjectContext {
    /// Saves each store's batch. Record logs and joining stores commit together, all or none. Stores of other kinds, which cannot undo a write, save
    /// before that, but only after all of those were found to be without conflict.
    /// - Parameter done: receives the stores of other kinds that have saved, even if an error is thrown.
    final func save(_ batches: [(NSPersistentStore, SaveBatch)], done: inout [NSPersistentStore]) throws {
        let open = batches.filter { (store, batch) in !batch.isEmpty && !done.contains { $0 === store } }
        for (store, batch) in open {
            try store.seam.checkWritable()
            if store.names != nil { try givePermanentIDs(to: batch.inserted) }
            if !pending.checked.isEmpty { batch.checked = pending.checked.filter { $0.runtime.store === store && $0.isDisposable } }
        }
        if open.count == 1, let (store, batch) = open.first {
            try store.seam.save(batch)
            return adopt(batch.derived)
        }
        var logs: [(store: RecordLogStore, batch: SaveBatch)] = [], others: [(NSPersistentStore, SaveBatch)] = []
        var joining: [(store: any JoiningStore, batch: SaveBatch)] = []
        for (store, batch) in open {
            if let log = store.seam.joinedLog {
                logs.append((log, batch))
            } else if let store = store.seam.joiningStore {
                joining.append((store, batch))
            } else {
                others.append((store, batch))
            }
        }
        try Self.save(joining) { joint in
            try RecordLogStore.save(together: logs, joint) {
                for (store, batch) in others where !done.contains(where: { $0 === store }) {
                    try store.seam.save(batch)
                    done.append(store)
                }
            }
        }
        for (_, batch) in open { adopt(batch.derived) }
    }

    /// Saves the batches of joining stores up to their commits, and then runs `body`, which decides.
    private static func save(_ joining: [(store: any JoiningStore, batch: SaveBatch)], _ body: (JointSave?) throws -> Void) throws {
        let ordered = joining.sorted { $0.store.joiningOrder < $1.store.joiningOrder }
        guard let first = ordered.first else { return try body(nil) }
        for (store, _) in ordered.dropFirst() { try store.checkCanPrepare() }
        try first.store.decide(first.batch) { joint in
            try prepare(ordered.dropFirst(), joint) { try body(joint) }
        }
    }

    private static func prepare(
        _ rest: ArraySlice<(store: any JoiningStore, batch: SaveBatch)>, _ joint: JointSave, _ body: () throws -> Void
    ) throws {
        guard let (store, batch) = rest.first else { return try body() }
        try store.prepare(batch, joint) { try prepare(rest.dropFirst(), joint, body) }
    }
}
