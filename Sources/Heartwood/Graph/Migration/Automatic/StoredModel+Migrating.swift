import Foundation

extension StoredModel {
    /// Brings a store to a version of its model.
    /// - Parameters:
    ///   - configuration: the store's, which the model has to have; nil where it has none.
    ///   - mapping: nil: what can be inferred.
    package static func migrate(_ url: URL, to model: NSManagedObjectModel, configuration: String?, by mapping: NSMappingModel?) throws {
        try StoreMigrator(MigrationEnd(url: url, type: NSRecordLogStoreType, options: nil, configuration: configuration))
            .migrate(to: model, by: mapping, isAutomatic: false, infers: true)
    }
}
