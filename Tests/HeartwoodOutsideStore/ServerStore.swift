import Foundation
import Heartwood
import RecordLog
import Synchronization

/// A store whose rows are in a database of `TableServer`. The module Heartwood knows nothing of it: it uses what is public, and the seam of stores.
///
/// The store reads one state of the database until it follows: a fetch, or a save, learns of the commits of other clients. Each context keeps copies
/// of the rows that it has read, in the form in which the stack reads rows.
package final class ServerStore: NSPersistentStore, GraphStore, FileStore, @unchecked Sendable {
    // Unchecked: `database` and `binding` are set while the store is loaded, `turn` guards `state`.

    package static let storeType = "Server"

    private(set) var database: Database?
    private(set) var binding: ServerBinding?
    private let turn = NSLock()
    /// The newest state that the store knows.
    private var state = DatabaseState()
    /// The number of its commit; nothing is newest once the store is closed.
    private let known = Atomic<UInt64>(.max)
    private let commits = SeenCommits()

    override package var type: String { Self.storeType }
    package static var isOneFile: Bool { false }
    package var batchStore: (any BatchStore)? { self }
    package var historyStore: (any HistoryStore)? { self }
    package var slotCount: Int { binding?.schema.tables.count ?? 0 }
    package var traitsOfRows: StoreTraits { [.tellsOfCommits, .rereadsRows, .keepsStates] }

    // MARK: Opening

    package func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        guard let url else { throw CoreDataError.make(NSPersistentStoreOpenError, "A database of the server has a URL; add the store with one.") }
        slotBase = UInt64(firstSlot) << 48
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        guard !entities.contains(where: { $0.properties.contains { $0 is NSDerivedAttributeDescription } }) else {
            throw StoreAbility.derivation.missing(in: self)
        }
        let schema = try RecordLogSchema.drafted(entities, for: self, firstSlot: firstSlot, path: url.path)
        guard let database = isReadOnly ? TableServer.database(at: url) : TableServer.madeDatabase(at: url) else { throw Self.missing(url) }
        if let metadata = database.newest.metadata { self.metadata = metadata }
        try checkVersion(model)
        completeMetadata(model, newIdentifier: UUID().uuidString)
        nonisolated(unsafe) let initial = metadata
        var made: ServerBinding?
        take(try database.write { state in
            let isNew = state.metadata == nil, tables = state.tables.count
            if isNew { state.metadata = initial }
            made = ServerBinding(schema, slotBase: slotBase, in: &state)
            let hadHistory = state.keepsHistory
            state.keepsHistory = keepsHistory(state)
            return isNew || state.tables.count > tables || state.keepsHistory != hadHistory
        })
        (self.database, binding) = (database, made)
        commits.begin(at: newest.sequence)
        if postsRemoteChanges { database.listen(self) { [weak self] in try? self?.follow() } }
        return schema.tables.compactMap { $0?.runtime }
    }

    package func unload() throws { known.store(.max, ordering: .releasing) }

    private static func missing(_ url: URL) -> NSError {
        CoreDataError.make(CocoaError.Code.fileReadNoSuchFile.rawValue, "The server has no database at \(url.absoluteString).", [NSURLErrorKey: url])
    }

    // MARK: Reading

    private var newest: DatabaseState { turn.withLock { state } }

    func isNewest(_ sequence: UInt64) -> Bool { known.load(ordering: .acquiring) == sequence }

    private func take(_ new: DatabaseState) {
        turn.withLock {
            guard new.sequence >= state.sequence else { return }
            state = new
            known.store(new.sequence, ordering: .releasing)
        }
    }

    private func open() throws -> (database: Database, binding: ServerBinding) {
        guard let database, let binding, known.load(ordering: .acquiring) != .max else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
        }
        return (database, binding)
    }

    func knownState() throws -> (ServerBinding, DatabaseState) { (try open().binding, newest) }

    package func newestView() throws -> any StoreView { ServerView(self, try open().binding, newest, RowCopies()) }

    package func newestView(for context: NSManagedObjectContext) throws -> any StoreView {
        let copies = (context.knownView(of: self) as? ServerView)?.copies ?? RowCopies()
        return ServerView(self, try open().binding, newest, copies)
    }

    package func follow() throws {
        guard let database, !isNewest(.max) else { return }
        take(database.newest)
        if commits.takeForeign(upTo: newest.sequence) { announceRemoteChange() }
    }

    // MARK: Writing

    package func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        let (database, binding) = try open()
        return try objects.map { _, runtime in
            let table = try binding.schema.table(of: runtime, slotBase: slotBase)
            return ObjectKey(slot: runtime.slot, row: try database.reserve(binding.table(of: table).index))
        }
    }

    package func save(_ batch: SaveBatch) throws {
        let known = newest, binding = try open().binding, own = try batch.view(of: self) as? ServerView
        var written: [ServerReference] = []
        nonisolated(unsafe) let metadata = hasSetMetadata ? metadata : nil
        do {
            batch.isCommitted = try write { state in
                let base = state
                var save = ServerSave(batch, binding, state)
                try save.run()
                state = save.state
                state.record(save.changes, batch.origin, since: base, binding)
                written = save.changes.list.map(\.row)
                if let metadata { state.metadata = metadata }
                return save.hasWritten || metadata != nil
            }
        } catch var conflicts as VersionConflicts {
            conflicts.known = ServerView(self, binding, known, RowCopies())
            throw conflicts
        }
        if metadata != nil { noteMetadataKept() }
        if let own { ServerView(self, binding, newest, own.copies).keepRows(written) }
    }

    /// Runs a transaction, and reports its commit. The store then knows the state on which the transaction ran, also if it throws: a merge policy
    /// compares with that.
    /// - Returns: whether there is a commit.
    @discardableResult
    func write(_ body: (inout DatabaseState) throws -> Bool) throws -> Bool {
        var hasWritten = false
        let new = try open().database.write { state in
            let base = state.sequence
            take(state)
            hasWritten = try body(&state)
            commits.note(base: base, isFollowed: hasWritten)
            return hasWritten
        }
        take(new)
        if commits.takeForeign(upTo: new.sequence) {
            announceRemoteChange()
        } else if hasWritten {
            postRemoteChange()
        }
        return hasWritten
    }

    package func writeMetadata() throws {
        nonisolated(unsafe) let metadata = metadata
        try write { state in
            state.metadata = metadata
            return true
        }
    }

    // MARK: Databases of stores that are not loaded

    private static func database(at url: URL) throws -> Database {
        guard let database = TableServer.database(at: url) else { throw missing(url) }
        return database
    }

    override package class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard let metadata = try database(at: url).newest.metadata else { throw missing(url) }
        return metadata
    }

    override package class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        nonisolated(unsafe) let new = metadata ?? [:]
        _ = try database(at: url).write { state in
            state.metadata = RecordLogMetadata.keepingOwn(state.metadata ?? [:], in: new)
            return true
        }
    }

    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws { TableServer.drop(url) }

    package static func replace(at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?) throws {
        TableServer.copy(try database(at: source), to: url)
    }
}
