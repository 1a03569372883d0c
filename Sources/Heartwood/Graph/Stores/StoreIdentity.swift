import Foundation

/// What the coordinator does about the metadata of a store of somebody's own.
extension NSPersistentStore {
    /// Compares the version hashes, where the store states them.
    /// - Throws: 134100 where they are of another model.
    final func checkVersion(_ model: NSManagedObjectModel) throws {
        let metadata: [String: Any] = metadata ?? [:]
        guard metadata[NSStoreModelVersionHashesKey] != nil, !ignoresVersion,
            !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
        else { return }
        throw RecordLogMetadata.mismatch(path: url?.path ?? type, model: model, configuration: configuration, metadata: metadata)
    }

    /// Adds what the metadata lack, and takes the identity from them.
    final func completeMetadata(_ model: NSManagedObjectModel, newIdentifier: @autoclosure () -> String) {
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
