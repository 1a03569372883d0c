import Foundation
import RecordLog
import Synchronization

/// The default store: a record log in one file.
package class RecordLogStore: NSPersistentStore, GraphStore, FileStore, @unchecked Sendable {
    // Unchecked: see `state`.

    package struct Loaded {
        package let log: LogStore
        package var schema: RecordLogSchema
        var view: RecordLogView
        var metadata: StoredMetadata
        /// The store's version when it was loaded, and the newest catalog known to have that version.
        let version: String?
        var catalog: Catalog
    }

    private struct State: @unchecked Sendable {
        var loaded: Loaded?
        /// Metadata that were set and not saved yet.
        var pendingMetadata: [String: Any]?
        /// The error that ended the building of indexes.
        var indexBuildError: (any Error)?
    }

    private let state = Mutex(State())
    final let commits = SeenCommits()
    /// Whether a thread watches the file.
    final let isWatched = Atomic<Bool>(false)
    final let history = HistoryTracking()
    /// Entered while indexes are built in the background.
    final let indexing = DispatchGroup()

    package override var type: String { NSRecordLogStoreType }
    package override var isReadOnly: Bool {
        get { super.isReadOnly || showsPast }
        set { super.isReadOnly = newValue }
    }
    private final var name = StoreIdentifier("")
    package override final var nameOfObjects: StoreIdentifier { name }
    package override var identifier: String! {
        get { name.text }
        set { name = StoreIdentifier(newValue ?? "") }
    }
    /// Compares with the file's identifier first, which needs no metadata: the store's is usually the same.
    override func isNamed(_ host: String) -> Bool {
        log.map { $0.storeID.uuidString.lowercased() } == host.lowercased() || super.isNamed(host)
    }
    override final package var seam: any GraphStore { self }
    override final var rows: RecordLogStore? { self }
    /// Whether the log is in memory instead of a file.
    package var isInMemory: Bool { false }
    /// The store that owns the objects of the rows.
    var owner: NSPersistentStore { self }

    /// Called in a save's transaction before anything is written.
    func begin(_ transaction: Transaction, _ batch: SaveBatch) throws {}

    /// Called after everything is written, before the commit. If it throws, nothing is saved.
    /// - Parameter batch: nil if the transaction is not a save.
    func finish(_ transaction: Transaction, _ batch: SaveBatch?, hasWritten: Bool) throws {}

    /// The path and options that open the log.
    func location() throws -> (path: String, options: StoreOptions) {
        let path = try filePath()
        var options = commonOptions
        options.compaction = compactionPolicy
        options.asOf = try PastCommit(self.options, of: url)
        options.makeExtractor = SpecifiedKeys.make
        options.usesMemoryMapping = flag(NSRecordLogMemoryMappingOption) ?? true
        if let bytes = number(NSRecordLogIndexMemoryOption) {
            options.indexMemory = Int(exactly: max(0, bytes).rounded()) ?? .max
        }
        return (path, options)
    }

    /// nil: the store is compacted only on request.
    private var compactionPolicy: CompactionPolicy? {
        guard flag(NSRecordLogAutomaticCompactionOption) ?? true else { return nil }
        var policy = CompactionPolicy()
        if let ratio = number(NSRecordLogCompactionDeadRatioOption) { policy.deadRatio = ratio }
        if let bytes = number(NSRecordLogCompactionMinimumBytesOption) {
            policy.minimumBytes = UInt64(exactly: max(0, bytes).rounded()) ?? .max
        }
        return policy
    }

    // MARK: Loading

    package func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        let (path, options) = try location()
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        // Before a file is created.
        let derivations = try DerivationReader(entities: entities).read()
        let isNew = url.map { !FileManager.default.fileExists(atPath: $0.path) } ?? true
        do {
            let log = try LogStore.open(path: path, options: options)
            do {
                return try load(log: log, model: model, entities, derivations, firstSlot: firstSlot)
            } catch {
                try? log.close()
                throw error
            }
        } catch {
            // The new file is no store, so it is removed.
            if isNew, !isReadOnly { try? LogStore.remove(path: path, options: options) }
            throw RecordLogErrors.wrapIfOfEngine(error, opening: true)
        }
    }

    private func load(
        log: LogStore, model: NSManagedObjectModel, _ entities: [NSEntityDescription], _ derivations: [ObjectIdentifier: [Derivation]],
        firstSlot: UInt16
    ) throws -> [EntityRuntime] {
        var snapshot = log.snapshot()
        if try snapshot.unsafeSystemValue(RecordLogSystemRow.modelChecksum) == nil {
            guard !isReadOnly else {
                throw CoreDataError.make(
                    NSPersistentStoreOpenError,
                    showsPast
                        ? "The store at \(log.path) has no model as of its commit \(snapshot.sequence); take a later commit."
                        : "The store at \(log.path) is empty and was opened read-only; open it for writing once.")
            }
            try log.write { transaction in
                guard try transaction.base.unsafeSystemValue(RecordLogSystemRow.modelChecksum) == nil else { return }
                try RecordLogSchemaWriter(transaction: transaction, entities: entities).write()
                try beginHistory(in: transaction)
                let metadata = RecordLogMetadata.initial(
                    identifier: log.storeID, type: type, model: model, configuration: configuration)
                try RecordLogMetadata.write(metadata, model, configuration: configuration, in: transaction)
            }
        }
        snapshot = log.snapshot()
        let stored = try RecordLogMetadata.checksum(in: snapshot)
        let metadata = try StoredMetadata(snapshot)
        let isOther = try stored != RecordLogMetadata.checksum(of: model, configuration: configuration)
            && !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata.values())
        guard !isOther || ignoresVersion else {
            throw RecordLogMetadata.mismatch(
                path: log.path, model: model, configuration: configuration, metadata: try metadata.values(),
                remedy: showsPast ? RecordLogMetadata.pastRemedy : nil)
        }
        try prepareHistory(log)
        snapshot = log.snapshot()
        slotBase = UInt64(firstSlot) << 48
        name = StoreIdentifier(in: metadata)
        let plans = IndexPlans(entities)
        let schema = try RecordLogSchemaReader(
            catalog: snapshot.catalog, entities: entities, derivations: derivations, plans: plans, store: owner, firstSlot: firstSlot,
            demandsAll: isOther
        ).read()
        if !isOther { try derivePending(log, schema) }
        snapshot = log.snapshot()
        state.withLock {
            $0.loaded = Loaded(
                log: log, schema: schema, view: RecordLogView(of: log, schema: schema, slotBase: slotBase),
                metadata: metadata, version: stored, catalog: snapshot.catalog)
        }
        commits.begin(at: snapshot.sequence)
        // A store that was opened with another version keeps its own.
        if !isOther { bringIndexesUpToDate(plans, model) }
        watchIfNeeded()
        return schema.tables.compactMap { $0?.runtime }
    }

    package var slotCount: Int { state.withLock { $0.loaded?.schema.tables.count ?? 0 } }

    package func unload() throws {
        let loaded = state.withLock { state in
            defer { state.loaded = nil }
            return state.loaded
        }
        do {
            try loaded?.log.close()
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }

    deinit {
        try? state.withLock { $0.loaded }?.log.close()
    }

    // MARK: Reading

    package final func loaded() throws -> Loaded {
        guard let loaded = state.withLock({ $0.loaded }) else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "The store was removed from its coordinator.")
        }
        return loaded
    }

    /// The engine's handle, for features of record logs (compaction, statistics).
    var log: LogStore? { state.withLock { $0.loaded?.log } }

    package final func newestView() throws -> any StoreView { try newestLogView() }

    package final func newestLogView() throws -> RecordLogView {
        let view: RecordLogView? = try state.withLock { state in
            guard let loaded = state.loaded else { return nil }
            if loaded.view.isNewest { return loaded.view }
            let made = RecordLogView(of: loaded.log, schema: loaded.schema, slotBase: slotBase)
            try checkVersion(of: made.snapshot, loaded)
            state.loaded?.catalog = made.snapshot.catalog
            state.loaded?.view = made
            return made
        }
        guard let view else { return try loaded().view }
        return view
    }

    /// - Throws: 134100 if the store was migrated to another version of its model since it was loaded: its tables differ now.
    final func checkVersion(of snapshot: Snapshot, _ loaded: Loaded) throws { try Self.checkVersion(of: snapshot, loaded) }

    static func checkVersion(of snapshot: Snapshot, _ loaded: Loaded) throws {
        guard try snapshot.catalog !== loaded.catalog && RecordLogMetadata.checksum(in: snapshot) != loaded.version else { return }
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            "The store at \(loaded.log.path) was brought to another version of its model since it was added. Remove it, and add it with that "
                + "version.", [NSFilePathErrorKey: loaded.log.path])
    }

    /// Replaces the schema, if the store is loaded.
    final func replaceSchema(_ change: (RecordLogSchema) -> RecordLogSchema) {
        state.withLock { state in
            guard let loaded = state.loaded else { return }
            let schema = change(loaded.schema)
            state.loaded?.schema = schema
            state.loaded?.view = RecordLogView(of: loaded.log, schema: schema, slotBase: slotBase)
        }
    }

    /// The error that ended the building of indexes in the background.
    final var indexBuildError: (any Error)? {
        get { state.withLock { $0.indexBuildError } }
        set { state.withLock { $0.indexBuildError = newValue } }
    }

    // MARK: Writing

    package func save(_ batch: SaveBatch) throws { try Self.save(together: [(self, batch)]) {} }

    package func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        try reserve(objects.map(\.runtime))
    }

    package func follow() throws {
        guard let log else { return }
        let newest: Snapshot
        do throws(StoreError) {
            newest = try log.follow()
        } catch {
            guard error.code == .corrupt, !log.acceptsDamage else { return }
            throw RecordLogErrors.wrap(error, opening: true)
        }
        reportCommits(upTo: newest.sequence)
    }

    final func hasNoCommits(beyond view: RecordLogView) -> Bool { view.isUpToDate && commits.isReported(at: view.snapshot.sequence) }

    package override var metadata: [String: Any]! {
        get { state.withLock { $0.pendingMetadata ?? (try? $0.loaded?.metadata.values()) ?? [:] } }
        set {
            nonisolated(unsafe) let new = newValue ?? [:]
            state.withLock { state in
                if let known = try? state.loaded?.metadata.values() { state.pendingMetadata = RecordLogMetadata.keepingOwn(known, in: new) }
            }
        }
    }

    /// The metadata that the next save writes.
    final var pendingMetadata: [String: Any]? { state.withLock { $0.pendingMetadata } }

    /// Adopts metadata that were written.
    final func note(_ metadata: [String: Any]) {
        nonisolated(unsafe) let new = metadata
        state.withLock { state in
            state.loaded?.metadata = StoredMetadata(new)
            state.pendingMetadata = nil
        }
    }

    /// Adopts metadata that others have written.
    final func rereadMetadata() throws {
        note(try RecordLogMetadata.read(loaded().log.snapshot()))
    }

    package func setMetadata(_ metadata: [String: Any]) throws {
        try write(RecordLogMetadata.keepingOwn(try loaded().metadata.values(), in: metadata))
    }

    package func takeOver(_ metadata: [String: Any]) throws {
        try write(RecordLogMetadata.ofSuccessor(try loaded().metadata.values(), to: metadata))
    }

    package var hasNewMetadata: Bool { pendingMetadata != nil }

    package func writeMetadata() throws { if let pendingMetadata { try write(pendingMetadata) } }

    private func write(_ merged: [String: Any]) throws {
        let loaded = try loaded()
        let bytes = try RecordLogMetadata.encode(merged)
        do {
            try loaded.log.write {
                try checkVersion(of: $0.base, loaded)
                try $0.setSystemValue(RecordLogSystemRow.metadata, bytes)
                try finish($0, nil, hasWritten: true)
                commits.note(base: $0.base.sequence, isFollowed: true)
            }
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        }
        note(merged)
    }

    // MARK: Files

    package class var keepsCommits: Bool { true }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { try metadata(at: url, options: nil) }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try setMetadata(metadata, at: url, options: nil)
    }

    package class func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try RecordLogFiles.metadata(at: url, options)
    }

    package class func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try RecordLogFiles.setMetadata(metadata, at: url, options)
    }

    package final func checkDestruction(at url: URL, options: [AnyHashable: Any]?) throws {
        try RecordLogFiles.checkDestruction(at: url, options, by: loaded().log)
    }

    package class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try RecordLogFiles.destroy(at: url, options, leavesEmptyFile: false)
    }

    package class func empty(at url: URL, options: [AnyHashable: Any]?) throws {
        try RecordLogFiles.destroy(at: url, options, leavesEmptyFile: true)
    }

    package class func replace(
        at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws {
        try RecordLogFiles.replace(at: url, options, with: source, sourceOptions)
    }

    package class func migrateInPlace(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison,
        _ dropping: DroppingRule
    ) throws -> Bool {
        try RecordLogMigration.run(at: url, options: options, configuration: configuration, to: model, comparison, dropping)
    }

    package class func storedModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try RecordLogFiles.model(at: url, options)
    }

    package class func exchange(at url: URL, options: [AnyHashable: Any]?, _ body: () throws -> URL?) throws {
        try RecordLogFiles.exchange(at: url, options, body)
    }

    package func relocate(to url: URL) throws { try relocateLog(to: url) }

    /// Switches to another log with the same layouts, for reads and writes from now on.
    final func exchangeLog(for log: LogStore, metadata: StoredMetadata) {
        state.withLock { state in
            guard let loaded = state.loaded else { return }
            state.loaded = Loaded(
                log: log, schema: loaded.schema, view: RecordLogView(of: log, schema: loaded.schema, slotBase: slotBase),
                metadata: metadata, version: loaded.version, catalog: log.snapshot().catalog)
        }
    }
}

/// A record log in memory: the same engine over memory instead of a file.
package class InMemoryStore: RecordLogStore, @unchecked Sendable {
    private let memory = MemoryFileSystem()

    package override var type: String { NSInMemoryStoreType }
    override package class var keepsCommits: Bool { false }
    override package final var isInMemory: Bool { true }

    override func location() throws -> (path: String, options: StoreOptions) {
        var options = StoreOptions()
        options.durability = .none
        options.fileSystem = memory
        // A file in memory becomes longer at no cost.
        options.zeroAheadBytes = 0
        options.makeExtractor = SpecifiedKeys.make
        return (url?.path ?? "memory", options)
    }

    override package func relocate(to url: URL) throws { setURL(url) }
}
