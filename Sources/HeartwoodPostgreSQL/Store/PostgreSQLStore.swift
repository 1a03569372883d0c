import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog
import Synchronization

/// A store whose rows are in tables of a PostgreSQL database. Its URL is a connection string: `postgresql://host/database?schema=name`.
///
/// Each read sees the server's newest commit. A save is one transaction.
package final class PostgreSQLStore: NSPersistentStore, GraphStore, FileStore, @unchecked Sendable {
    // Unchecked: `loaded` is set while the store is loaded.

    /// The parts of a loaded store.
    struct Loaded: Sendable {
        let location: StoreLocation
        let pool: PostgreSQLPool
        /// The connections of reads. A save may read while it holds a connection, and would wait for itself if all came from one pool.
        let readers: PostgreSQLPool
        let layout: PostgreSQLLayout
        let keepsHistory: Bool
        let abilities: ServerAbilities
        let notices: CommitNotices
        let known = KnownCommits()
        let pinned = PinnedStates()
        let numbers = NumberBlocks()
        let selections = SelectionCache()
        let statements = ShapeCache<KeptStatement>()
    }

    private(set) var loaded: Loaded?
    /// The number of commits that this store knows of; nothing is newest once the store is closed.
    private let changes = Atomic<UInt64>(0)
    private static let closed = UInt64.max
    /// The newest transaction of this store's own in the history.
    let recorded = Atomic<Int64>(0)
    let handlers = InsertingThreads()
    let isWatched = Atomic(false)
    let watch = Mutex<CommitWatch?>(nil)
    /// The stores that decide, by their identities, whose places this store has noted.
    let notedPlaces = Mutex<[UUID: String]>([:])

    override package var type: String { NSPostgreSQLStoreType }
    package static var isOneFile: Bool { false }
    package var batchStore: (any BatchStore)? { self }
    package var historyStore: (any HistoryStore)? { self }
    package var transferStore: (any TransferStore)? { self }
    package var joiningStore: (any JoiningStore)? { self }
    package var slotCount: Int { loaded?.layout.schema.tables.count ?? 0 }
    package var traitsOfRows: StoreTraits { [.keepsStates, .explainsStatements] }

    // MARK: Opening

    package func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        let location = try StoreLocation(url)
        slotBase = UInt64(firstSlot) << 48
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        let schema = try RecordLogSchema.drafted(entities, for: self, firstSlot: firstSlot, path: location.shown, derives: true)
        var configuration = PostgreSQLConfiguration(location.connection)
        configuration.onStall = { [weak self] in self?.hindrance(of: $0) }
        let pool = PostgreSQLPool(configuration)
        do {
            loaded = try pool.withConnection { connection in
                let abilities = try ServerAbilities(connection)
                try abilities.check(version: connection.serverVersion, recordsHistory: recordsHistory, location)
                let (layout, stored) = try makeLayout(of: schema, model, connection, location)
                let keepsHistory = try settleHistory(stored, connection, location)
                if abilities.preparesTransactions, !isReadOnly { _ = try SavesInDoubt(location).settle(connection) }
                let readers = PostgreSQLPool(PostgreSQLConfiguration(location.connection))
                return Loaded(
                    location: location, pool: pool, readers: readers, layout: layout, keepsHistory: keepsHistory, abilities: abilities,
                    notices: CommitNotices(location, readers))
            }
        } catch {
            pool.close()
            throw StoreFault.wrap(error, NSPersistentStoreOpenError, location.shown)
        }
        if let identity = identifier.flatMap(UUID.init(uuidString:)) { OpenStores.add(location, identity) }
        watchIfNeeded()
        return schema.tables.compactMap { $0?.runtime }
    }

    private func makeLayout(
        of schema: RecordLogSchema, _ model: NSManagedObjectModel, _ connection: PostgreSQLConnection, _ location: StoreLocation
    ) throws -> (PostgreSQLLayout, StoredSchema) {
        var stored = try StoredSchema(connection, location)
        if !stored.hasStore {
            guard !isReadOnly else { throw StoreFault.missing(location) }
            try StoreCreation(location, connection).run { stored in
                completeMetadata(model, newIdentifier: UUID().uuidString)
                let layout = PostgreSQLLayout(schema, slotBase: slotBase, in: location.schema, numbers: Self.numbers(schema))
                return (layout, try StoreTables.values(metadata ?? [:], model))
            }
            stored = try StoredSchema(connection, location)
        }
        metadata = try stored.metadata()
        try checkVersion(model)
        completeMetadata(model, newIdentifier: UUID().uuidString)
        let layout = PostgreSQLLayout(schema, slotBase: slotBase, in: location.schema, numbers: stored.numbers, version: stored.version)
        try stored.check(layout, location)
        if stored.tables[StoreTables.crashMark] == nil, !isReadOnly { try addCrashMark(layout, connection, location) }
        return (layout, stored)
    }

    /// A store that was made before there were marks has no table for them.
    private func addCrashMark(_ layout: PostgreSQLLayout, _ connection: PostgreSQLConnection, _ location: StoreLocation) throws {
        var batch = try StoreCreation.beginning(location)
        for text in layout.crashMark.creation { batch.add(PostgreSQLStatement(text, isPrepared: false)) }
        try connection.commit(batch)
    }

    /// The numbers of a new store's entities, in the order of the stack's tables.
    static func numbers(_ schema: RecordLogSchema) -> [String: Int16] {
        let names = schema.tables.compactMap { $0?.runtime.entity.name }
        return Dictionary(names.enumerated().map { ($1, Int16(truncatingIfNeeded: $0 + 1)) }) { first, _ in first }
    }

    package func unload() throws {
        changes.store(Self.closed, ordering: .releasing)
        watch.withLock { $0 }?.stop()
        if let loaded, let identity = identifier.flatMap(UUID.init(uuidString:)) { OpenStores.remove(loaded.location, identity) }
        loaded?.pool.close()
        loaded?.readers.close()
        loaded?.pinned.end()
    }

    func open() throws -> Loaded {
        guard let loaded, changes.load(ordering: .acquiring) != Self.closed else { throw StoreFault.removed() }
        return loaded
    }

    // MARK: Reading

    func isUsable(since known: UInt64) -> Bool { changes.load(ordering: .acquiring) == known && known != Self.closed }

    /// Notes a commit, or that this store's knowledge is old. Views that were made before are not the newest any more.
    /// - Returns: the number of changes that the store then knows.
    @discardableResult
    func noteChange() -> UInt64 {
        var known = changes.load(ordering: .acquiring)
        while known != Self.closed {
            let (isDone, found) = changes.compareExchange(expected: known, desired: known + 1, ordering: .acquiringAndReleasing)
            if isDone { return known + 1 }
            known = found
        }
        return known
    }

    /// Runs a statement that reads. A connection that is lost is replaced once.
    func read(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) throws -> PostgreSQLResult {
        let loaded = try open()
        do {
            do {
                return try loaded.readers.withConnection { try $0.execute(statement, parameters) }
            } catch let error as PostgreSQLError where error.isConnectionLost {
                return try loaded.readers.withConnection { try $0.execute(statement, parameters) }
            }
        } catch {
            throw StoreFault.wrap(error, NSPersistentStoreOperationError, loaded.location.shown)
        }
    }

    func selection(_ entities: [BoundEntity], _ layout: PostgreSQLLayout) -> RowSelection {
        loaded?.selections.selection(entities, layout) ?? RowSelection(entities, layout, alias: "t")
    }

    /// The statements that are kept for queries; nil for another layout than the store's.
    func statements(of layout: PostgreSQLLayout) -> ShapeCache<KeptStatement>? {
        guard let loaded, loaded.layout === layout else { return nil }
        return loaded.statements
    }

    package func newestView() throws -> any StoreView {
        PostgreSQLView(self, try open().layout, RowCopies(), changes: changes.load(ordering: .acquiring))
    }

    package func newestView(for context: NSManagedObjectContext) throws -> any StoreView {
        let copies = (context.knownView(of: self) as? PostgreSQLView)?.copies ?? RowCopies()
        return PostgreSQLView(self, try open().layout, copies, changes: changes.load(ordering: .acquiring))
    }

    package func pinnedView() throws -> any StoreView {
        let loaded = try open(), state = try PinnedState(loaded.location, loaded.layout)
        loaded.pinned.add(state)
        return PostgreSQLView(self, loaded.layout, RowCopies(), changes: 0, isPinned: true) { try state.read($0, $1) }
    }

    // MARK: Metadata

    package func writeMetadata() throws {
        let loaded = try open()
        do {
            let statement = Self.metadataStatement(loaded.location), metadata = Data(try RecordLogMetadata.encode(metadata ?? [:]))
            var parameters = PostgreSQLParameters()
            try parameters.addBytes(metadata)
            _ = try loaded.pool.withConnection { try $0.execute(statement, parameters) }
        } catch {
            throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
        }
    }

    static func metadataStatement(_ location: StoreLocation) -> PostgreSQLStatement {
        PostgreSQLStatement(
            "UPDATE \(location.table(StoreTables.values)) SET value = $1 WHERE key = '\(StoreTables.Key.metadata)'")
    }
}
