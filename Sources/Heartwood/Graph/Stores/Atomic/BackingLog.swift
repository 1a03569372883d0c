import Foundation
import RecordLog

/// A store that keeps the rows of its objects in a record log in memory, so that fetches, indexes, uniqueness and conflicts work as in every record
/// log. The store itself reads and writes its persistent form.
package protocol BackedStore: NSPersistentStore {
    func begin(_ transaction: Transaction, _ batch: SaveBatch) throws
    /// - Throws: an error that makes the save fail.
    func finish(_ transaction: Transaction, _ batch: SaveBatch?, hasWritten: Bool) throws
}

/// The record log in memory of another store, its host, which owns the objects of its rows. For a host that puts no rows into it, it provides
/// layouts.
package final class BackingLog: InMemoryStore, @unchecked Sendable {
    // Unchecked: `host` and `saves` are set before the log is loaded, and never changed.
    private weak var host: NSPersistentStore?
    /// The host, if it puts its rows here.
    private weak var saves: (any BackedStore)?

    /// - Parameter saves: the host, if it puts its rows into the log.
    package static func make(for host: NSPersistentStore, saves: (any BackedStore)? = nil) -> BackingLog {
        let log = BackingLog(
            persistentStoreCoordinator: nil, configurationName: host.configuration, at: host.url ?? NSPersistentStore.nowhere)
        log.host = host
        log.saves = saves
        return log
    }

    package override var type: String { host?.type ?? super.type }
    override var owner: NSPersistentStore { host ?? self }

    override func begin(_ transaction: Transaction, _ batch: SaveBatch) throws {
        try saves?.begin(transaction, batch)
    }

    override func finish(_ transaction: Transaction, _ batch: SaveBatch?, hasWritten: Bool) throws {
        try saves?.finish(transaction, batch, hasWritten: hasWritten)
    }

    /// Changes rows outside a save, in one commit.
    /// - Parameter isOpening: whether an error keeps the store from being opened.
    func fill(isOpening: Bool, _ body: (Transaction, RecordLogSchema) throws -> Void) throws {
        let loaded = try loaded()
        do {
            try loaded.log.write { transaction in
                try body(transaction, loaded.schema)
                commits.note(base: transaction.base.sequence, isFollowed: true)
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error, opening: isOpening)
        }
    }
}
