import Foundation
import RecordLog

extension StoredModel {
    /// Migrates a store to a version of its model.
    /// - Parameters:
    ///   - configuration: the store's configuration, which the model must have; nil for none.
    ///   - mapping: nil for an inferred one.
    ///   - type: of the store.
    ///   - acceptsUnrelated: whether an inferred mapping may leave nothing of the store's objects, as
    ///     `NSMigratePersistentStoresToUnrelatedModelsOption`.
    package static func migrate(
        _ url: URL, to model: NSManagedObjectModel, configuration: String?, by mapping: NSMappingModel?, type: String = NSRecordLogStoreType,
        acceptsUnrelated: Bool
    ) throws {
        try migrate(url, to: model, configuration: configuration, by: mapping, type: type, acceptsUnrelated ? .isAsked : .refusesUnrelated)
    }

    package static func migrate(
        _ url: URL, to model: NSManagedObjectModel, configuration: String?, by mapping: NSMappingModel?, type: String = NSRecordLogStoreType,
        _ dropping: DroppingRule
    ) throws {
        try StoreMigrator(MigrationEnd(url: url, type: type, options: nil, configuration: configuration))
            .migrate(to: model, by: mapping, isAutomatic: false, infers: true, dropping: dropping)
    }

    /// Counts the objects that a migration would leave out.
    /// - Parameters:
    ///   - model: the new version.
    ///   - mapping: nil for an inferred one.
    package static func droppedObjects(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, by mapping: NSMappingModel?
    ) throws -> DroppedObjects {
        let source = try read(at: url)
        return try RecordLogFiles.with(url, nil, isReadOnly: true) { log in
            let snapshot = log.snapshot()
            func count(_ entity: NSEntityDescription) -> Int {
                snapshot.catalog.table(named: entity.name ?? "").map { snapshot.rowCount($0.id) } ?? 0
            }
            guard let mapping else {
                return DroppedObjects(ModelComparison(comparing: source, with: model, configuration: configuration), count: count)
            }
            return DroppedObjects(mapping, from: source, to: model, configuration: configuration, count: count)
        }
    }
}
