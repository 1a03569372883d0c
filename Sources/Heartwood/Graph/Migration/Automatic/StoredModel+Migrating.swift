import Foundation

extension StoredModel {
    /// Migrates a store to a version of its model.
    /// - Parameters:
    ///   - configuration: the store's configuration, which the model must have; nil for none.
    ///   - mapping: nil for an inferred one.
    package static func migrate(_ url: URL, to model: NSManagedObjectModel, configuration: String?, by mapping: NSMappingModel?) throws {
        try StoreMigrator(MigrationEnd(url: url, type: NSRecordLogStoreType, options: nil, configuration: configuration))
            .migrate(to: model, by: mapping, isAutomatic: false, infers: true)
    }
}
