import Foundation
import Heartwood
import RecordLog

/// Writes the objects of a store to a new SQLite file.
///
/// The file is made in a folder beside its path, and takes the path once it is complete. Crash points: before that nothing is at the path;
/// after it the complete file. `MigrationFolder` says what a crash leaves beside it.
package struct SQLiteStoreExport {
    package enum Layout {
        /// Core Data's own.
        /// - Parameter version: a compiled model, or a store of Core Data's with the same model, for the version hashes. nil: the coordinator's
        ///   model tells them, if it was read from such a file.
        case coreData(version: URL?)
        /// Ordinary tables for people who want SQL.
        case plain
    }

    package struct Summary {
        /// The number of objects by entity.
        package let counts: [(entity: String, count: Int)]
        /// The tables whose rows have other keys than before.
        package let renumbered: [String]
        /// Whether the file says which version of the model it has, as Core Data does.
        package let hasVersion: Bool
        package let hasModelCache: Bool
        /// The fetch indexes that the file lacks: those over expressions, of other kinds than binary, or with a condition that
        /// SQL does not say exactly.
        package let unwrittenIndexes: [String]
    }

    let store: NSPersistentStore
    let coordinator: NSPersistentStoreCoordinator
    let layout: Layout

    /// - Precondition: the store was added to a coordinator.
    package init(_ store: NSPersistentStore, _ layout: Layout) {
        guard let coordinator = store.persistentStoreCoordinator else { preconditionFailure("a store that is exported was added") }
        self.init(store, of: coordinator, layout)
    }

    init(_ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, _ layout: Layout) {
        self.store = store
        self.coordinator = coordinator
        self.layout = layout
    }

    /// Writes the newest commit, under the store's identifier.
    /// - Parameter progress: is called now and then with the objects that were written, and their number in all.
    /// - Throws: 134091 for a store whose rows are not in a record log; 134070 if something is at the URL; 134100 if no version in the given
    ///   model is the store's; 134030 and others if the file cannot be written. Nothing is at the URL then.
    @discardableResult
    package func write(to url: URL, progress: (Int, Int) -> Void = { _, _ in }) throws -> Summary {
        guard let log = store.logOfRows else { throw Self.noRows(store) }
        return try write(log, identifier: store.identifier ?? "", to: url, progress: progress).summary
    }

    private static func noRows(_ store: NSPersistentStore) -> NSError {
        CoreDataError.unsupported(
            "The store at \(store.url?.path ?? "?") has the type \(store.type), whose rows cannot be written as they are. Make a record log of it "
                + "with migratePersistentStore or `heartwood convert`, and export that.")
    }

    /// The rows of a store that was written, for the IDs of its objects in the new one.
    struct WrittenRows {
        let view: RecordLogView
        let keys: ExportKeys
    }

    func write(
        _ log: RecordLogStore, identifier: String, to url: URL, progress: (Int, Int) -> Void = { _, _ in }
    ) throws -> (summary: Summary, rows: WrittenRows) {
        let view = try log.newestLogView()
        try Self.checkFree(url)
        let folder = try MigrationFolder.claimed(besides: url.resolvingSymlinksInPath())
        defer { folder.abandon() }
        let model = coordinator.managedObjectModel, entities = model.entities(forConfigurationName: store.configuration) ?? model.entities
        let counts = view.schema.tables.compactMap { table in
            table.map { (entity: $0.runtime.entity.name ?? "", count: view.snapshot.rowCount($0.id)) }
        }
        let isPlain = if case .plain = layout { true } else { false }
        let (plan, version) = try makePlan(view, entities, model, identifier, path: url.path)
        let total = counts.reduce(0) { $0 + $1.count }
        try withoutActuallyEscaping(progress) { progress in
            var done = 0
            try SQLiteExport(snapshot: view.snapshot, plan: plan, path: folder.file.path) { count in
                done += count
                progress(done, total)
            }.write()
        }
        do {
            try LogStore.rename(folder.file.path, to: url.resolvingSymlinksInPath().path, replacing: false, like: store.regularFilePath)
        } catch {
            throw RecordLogErrors.wrap(error)
        }
        let summary = Summary(
            counts: counts.sorted { $0.entity < $1.entity }, renumbered: plan.keys.renumbered.sorted(), hasVersion: version != nil,
            hasModelCache: version?.cache != nil, unwrittenIndexes: isPlain ? [] : entities.flatMap(\.unwrittenIndexes).sorted())
        return (summary, WrittenRows(view: view, keys: plan.keys))
    }

    private func makePlan(
        _ view: RecordLogView, _ entities: [NSEntityDescription], _ model: NSManagedObjectModel, _ identifier: String, path: String
    ) throws -> (plan: ExportPlan, version: CoreDataVersion?) {
        guard case .coreData(let file) = layout else {
            return (try PlainExportPlan(entities, view.schema, view.snapshot, path: path).plan(), nil)
        }
        let version = try file.map { try CoreDataVersion(in: $0, of: entities) } ?? CoreDataVersion(entities, knownTo: model)
        let identifiers = model.versionIdentifiers.compactMap { $0 as? String }.sorted()
        let metadata = try CoreDataFileMetadata(
            identifier: identifier, old: store.metadata ?? [:], identifiers: identifiers, version: version, model: model)
        return (try CoreDataExportPlan(entities, view.schema, view.snapshot, like: version?.joins, path: path).plan(metadata), version)
    }

    /// SQLite would take a log or a journal beside the file for the new file's.
    static func checkFree(_ url: URL) throws {
        try StoreFiles.free(url)
        for end in ["-wal", "-journal"] {
            let path = url.path + end
            guard FileManager.default.fileExists(atPath: path) else { continue }
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "There is a file at \(path), which SQLite would read as a part of the new store. Remove it, or choose another name.",
                [NSFilePathErrorKey: path])
        }
    }
}
