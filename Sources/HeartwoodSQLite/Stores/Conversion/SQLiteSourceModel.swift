import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// The model with which the rows of an SQLite store are read, and the configuration of it whose entities the store has.
struct SQLiteSourceModel {
    let found: CoreDataStoreModel
    /// nil for all entities.
    let configuration: String?

    init(_ found: CoreDataStoreModel, configuration: String?) {
        (self.found, self.configuration) = (found, configuration)
    }

    /// For a store that is converted to the version of a model that it was made with.
    /// - Parameter given: a model's file; nil for the store's cache, or its tables.
    init(_ contents: CoreDataContents, _ file: SQLiteFile, given: URL? = nil) throws {
        found = try CoreDataStoreModel(contents, file, given: given)
        configuration = found.configuration
    }

    /// For a store that a program opens with its model. The store may be of another version of that: then it is its cache's, or one in the bundles.
    /// - Throws: 134130 if the version is not found.
    init(_ contents: CoreDataContents, _ file: SQLiteFile, for model: NSManagedObjectModel, configuration: String?) throws {
        let path = file.path
        let own = Self(CoreDataStoreModel(given: model), configuration: configuration)
        if own.isExact(contents, path) {
            self = own
        } else if contents.hasModel, let stored = try? Self(contents, file), [.cache, .written].contains(stored.found.origin) {
            self = stored
        } else if let bundled = Self.bundled(contents, path) {
            self = bundled
        } else if contents.cache == nil, own.isFitting(contents, path) {
            self = own
        } else {
            throw MigrationErrors.noSource(
                URL(fileURLWithPath: path), contents.metadata,
                "the version of the model that it was made with is not found. Put it into the resources, beside the newest one.")
        }
    }

    private static func bundled(_ contents: CoreDataContents, _ path: String) -> SQLiteSourceModel? {
        for url in ModelFinder.sorted(ModelFinder.versions(in: ModelFinder.directories), by: contents.hashes) {
            guard let model = try? NSManagedObjectModel.load(contentsOf: url) else { continue }
            let candidate = Self(CoreDataStoreModel(given: model), configuration: CoreDataStoreModel.configuration(of: model, in: contents))
            if candidate.isExact(contents, path) { return candidate }
        }
        return nil
    }

    // MARK: Fit

    private var entities: [NSEntityDescription] { found.model.entities(forConfigurationName: configuration) ?? found.model.entities }

    /// Whether the store's cache is this model, or the store's hashes are its hashes; if neither tells, whether its tables are the store's.
    private func isExact(_ contents: CoreDataContents, _ path: String) -> Bool {
        found.model.makeImmutable()
        let stored = SQLiteStore.storedHashes(found.model, entities, contents, path)
        guard entities.allSatisfy({ stored[$0.name ?? ""] == $0.versionHash }) else { return false }
        guard contents.cache == nil else { return true }
        return layout(contents, path)?.differences.isEmpty ?? false
    }

    private func isFitting(_ contents: CoreDataContents, _ path: String) -> Bool {
        let stored = SQLiteStore.storedHashes(found.model, entities, contents, path)
        return entities.allSatisfy { stored[$0.name ?? ""] == $0.versionHash } && layout(contents, path) != nil
    }

    private func layout(_ contents: CoreDataContents, _ path: String) -> CoreDataLayout? {
        try? CoreDataLayout(entities, contents.numbers, contents.schema, path: path)
    }
}
