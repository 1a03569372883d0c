import Foundation

/// The coordinator's handling of a custom store's metadata.
extension NSPersistentStore {
    /// Compares the version hashes, if the store has any.
    /// - Throws: 134100 if they belong to another model.
    package final func checkVersion(_ model: NSManagedObjectModel) throws {
        let metadata: [String: Any] = metadata ?? [:]
        guard metadata[NSStoreModelVersionHashesKey] != nil, !ignoresVersion,
            !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
        else { return }
        throw RecordLogMetadata.mismatch(path: url?.path ?? type, model: model, configuration: configuration, metadata: metadata)
    }

    /// Adds the missing metadata, and adopts the identifier in them.
    package final func completeMetadata(_ model: NSManagedObjectModel, newIdentifier: @autoclosure () -> String) {
        var metadata: [String: Any] = metadata ?? [:]
        let identifier = metadata[NSStoreUUIDKey] as? String ?? newIdentifier()
        metadata[NSStoreUUIDKey] = identifier
        metadata[NSStoreTypeKey] = metadata[NSStoreTypeKey] ?? type
        if metadata[NSStoreModelVersionHashesKey] == nil {
            RecordLogMetadata.setVersion(of: model, configuration: configuration, in: &metadata)
        }
        self.metadata = metadata
        noteMetadataKept()
        self.identifier = identifier
    }
}
