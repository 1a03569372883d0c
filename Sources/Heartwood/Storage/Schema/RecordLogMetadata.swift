import Foundation
internal import FileReading
import RecordLog

/// What a record log keeps about itself for the stack, in the system table.
enum RecordLogMetadata {
    /// In the metadata of a store one of whose migration's stages was not ended: the checksum of the version that the stage leads to.
    static let unfinishedStage = "HeartwoodUnfinishedMigrationStage"

    static func initial(
        identifier: (UInt64, UInt64), type: String, model: NSManagedObjectModel, configuration: String?
    ) -> [String: Any] {
        var metadata: [String: Any] = [NSStoreUUIDKey: UUID(storedBytes: identifier).uuidString, NSStoreTypeKey: type]
        setVersion(of: model, configuration: configuration, in: &metadata)
        return metadata
    }

    static func setVersion(of model: NSManagedObjectModel, configuration: String?, in metadata: inout [String: Any]) {
        metadata[NSStoreModelVersionHashesKey] = hashes(of: model, configuration: configuration)
        metadata[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers.compactMap { $0 as? String }.sorted()
    }

    /// Writes metadata that say which version the store has, and the version itself.
    static func write(
        _ metadata: [String: Any], _ model: NSManagedObjectModel, configuration: String?, in transaction: Transaction
    ) throws {
        try transaction.setSystemValue(RecordLogSystemRow.metadata, try encode(metadata))
        try transaction.setSystemValue(RecordLogSystemRow.model, try model.archivedBytes())
        try transaction.setSystemValue(RecordLogSystemRow.modelChecksum, Array(checksum(of: model, configuration: configuration).utf8))
    }

    /// The `checksum(of:configuration:)` of the version that a store has; nil before it has one.
    static func checksum(in snapshot: Snapshot) throws -> String? {
        try snapshot.systemValue(RecordLogSystemRow.modelChecksum).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The configuration that a store was made under, or migrated under; nil where that was none.
    static func configuration(in snapshot: Snapshot) throws -> String? {
        // A checksum has no colon; a name may have one.
        guard let stored = try checksum(in: snapshot), let colon = stored.lastIndex(of: ":"), colon > stored.startIndex else { return nil }
        return String(stored[..<colon])
    }

    static func hashes(of model: NSManagedObjectModel, configuration: String?) -> [String: Data] {
        let names = configuration.flatMap { model.entities(forConfigurationName: $0) }?.compactMap(\.name)
        let all = model.entityVersionHashesByName
        guard let names else { return all }
        return all.filter { names.contains($0.key) }
    }

    /// One string that is equal exactly where the version hashes are.
    static func checksum(of model: NSManagedObjectModel, configuration: String?) -> String {
        "\(configuration ?? ""):\(model.versionChecksum)"
    }

    /// The `versionChecksum` of the model whose hashes a store's metadata have; nil where they have none.
    static func versionChecksum(_ metadata: [String: Any]) -> String? {
        (metadata[NSStoreModelVersionHashesKey] as? [String: Data]).map(NSManagedObjectModel.checksum(of:))
    }

    /// New metadata of a client, with what is the store's own as it was, and what a staged migration has noted.
    static func keepingOwn(_ old: [String: Any], in new: [String: Any]) -> [String: Any] {
        var merged = new
        for key in storesOwn + [unfinishedStage] { merged[key] = old[key] }
        return merged
    }

    /// The metadata of a store that takes another's place: that one's, but for type and version.
    static func ofSuccessor(_ own: [String: Any], to old: [String: Any]) -> [String: Any] {
        var merged = old
        for key in storesOwn where key != NSStoreUUIDKey { merged[key] = own[key] }
        FormerVersions.note(old, in: &merged)
        return merged
    }

    static func encode(_ metadata: [String: Any]) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0))
    }

    static func read(_ snapshot: Snapshot) throws -> [String: Any] { try StoredMetadata(snapshot).values() }

    /// - Throws: where the bytes are no binary property list, or one that Foundation is not to be handed: the file may come from anywhere.
    static func decode(_ data: Data) throws -> [String: Any] {
        do {
            try BinaryPropertyList(Array(data)).checkShape()
        } catch {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The store's metadata cannot be read: the property list \(error.reason), at byte \(error.offset) of it.")
        }
        return try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any] ?? [:]
    }

    /// What clients do not set.
    static let storesOwn = [
        NSStoreUUIDKey, NSStoreTypeKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, FormerVersions.key,
    ]

    /// Names the entities that differ.
    static func mismatch(path: String, model: NSManagedObjectModel, configuration: String?, metadata: [String: Any]) -> NSError {
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let wanted = hashes(of: model, configuration: configuration)
        let differences = [
            (NSChangedEntitiesErrorKey, "changed", wanted.filter { stored[$0.key] != nil && stored[$0.key] != $0.value }.keys.sorted()),
            (NSAddedEntitiesErrorKey, "only in the model", wanted.keys.filter { stored[$0] == nil }.sorted()),
            (NSRemovedEntitiesErrorKey, "only in the store", stored.keys.filter { wanted[$0] == nil }.sorted()),
        ].filter { !$0.2.isEmpty }
        var info: [String: Any] = ["metadata": metadata, NSFilePathErrorKey: path]
        for (key, _, names) in differences { info[key] = names }
        let text = differences.map { "\($0.1): \($0.2.joined(separator: ", "))" }.joined(separator: "; ")
        let part = configuration.map { " (its configuration \"\($0)\")" } ?? ""
        return CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            "The model used to open the store at \(path)\(part) is not the one it was made with (\(text)). Open it with that model; "
                + "NSManagedObjectModel.mergedModel(from:forStoreMetadata:) finds it among the versions in a bundle. Or have the store migrated "
                + "to this one: with the options NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption.",
            info)
    }
}
