import Foundation
internal import HeartwoodFileReading
import RecordLog

/// The stack's metadata in a record log's system table.
package enum RecordLogMetadata {
    /// The metadata key of an unfinished stage of a staged migration. Its value is the checksum of the version that the stage leads to.
    package static let unfinishedStage = "HeartwoodUnfinishedMigrationStage"
    /// The metadata key of statements about references that were guessed when the store was made of one without a model.
    package static let doubtsKey = "HeartwoodReferenceDoubts"

    static func initial(
        identifier: StoredUUID, type: String, model: NSManagedObjectModel, configuration: String?
    ) -> [String: Any] {
        var metadata: [String: Any] = [NSStoreUUIDKey: identifier.uuidString, NSStoreTypeKey: type]
        setVersion(of: model, configuration: configuration, in: &metadata)
        return metadata
    }

    package static func setVersion(of model: NSManagedObjectModel, configuration: String?, in metadata: inout [String: Any]) {
        metadata[NSStoreModelVersionHashesKey] = hashes(of: model, configuration: configuration)
        metadata[NSStoreModelVersionIdentifiersKey] = model.versionIdentifiers.compactMap { $0 as? String }.sorted()
    }

    /// Writes metadata with a store's version, and the model of that version.
    package static func write(
        _ metadata: [String: Any], _ model: NSManagedObjectModel, configuration: String?, in transaction: Transaction
    ) throws {
        try transaction.setSystemValue(RecordLogSystemRow.metadata, try encode(metadata))
        try transaction.setSystemValue(RecordLogSystemRow.model, try model.archivedBytes())
        try transaction.setSystemValue(RecordLogSystemRow.modelChecksum, Array(checksum(of: model, configuration: configuration).utf8))
    }

    /// Returns the `checksum(of:configuration:)` of a store's version; nil before it has one.
    static func checksum(in snapshot: Snapshot) throws -> String? {
        try snapshot.unsafeSystemValue(RecordLogSystemRow.modelChecksum).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the configuration with which a store was created or migrated; nil for none.
    static func configuration(in snapshot: Snapshot) throws -> String? {
        // A checksum contains no colon, but a configuration's name may.
        guard let stored = try checksum(in: snapshot), let colon = stored.lastIndex(of: ":"), colon > stored.startIndex else { return nil }
        return String(stored[..<colon])
    }

    package static func hashes(of model: NSManagedObjectModel, configuration: String?) -> [String: Data] {
        let names = configuration.flatMap { model.entities(forConfigurationName: $0) }?.compactMap(\.name)
        let all = model.entityVersionHashesByName
        guard let names else { return all }
        return all.filter { names.contains($0.key) }
    }

    /// Returns a string that is equal exactly where the version hashes are.
    static func checksum(of model: NSManagedObjectModel, configuration: String?) -> String {
        "\(configuration ?? ""):\(model.versionChecksum)"
    }

    /// Returns the `versionChecksum` for the version hashes in a store's metadata; nil where they are missing.
    static func versionChecksum(_ metadata: [String: Any]) -> String? {
        (metadata[NSStoreModelVersionHashesKey] as? [String: Data]).map(NSManagedObjectModel.checksum(of:))
    }

    /// Merges metadata from a client with the keys that belong to the store or to a staged migration.
    package static func keepingOwn(_ old: [String: Any], in new: [String: Any]) -> [String: Any] {
        var merged = new
        for key in storesOwn + [unfinishedStage, doubtsKey] { merged[key] = old[key] }
        return merged
    }

    /// Returns the metadata of a store that replaces another: the other's, except for type and version.
    static func ofSuccessor(_ own: [String: Any], to old: [String: Any]) -> [String: Any] {
        var merged = old
        for key in storesOwn where key != NSStoreUUIDKey { merged[key] = own[key] }
        FormerVersions.note(old, in: &merged)
        return merged
    }

    /// The doubts that a store's metadata keep.
    package static func doubts(in metadata: [String: Any]) -> [String] {
        (metadata[doubtsKey] as? [Any] ?? []).compactMap { $0 as? String }
    }

    package static func encode(_ metadata: [String: Any]) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0))
    }

    static func read(_ snapshot: Snapshot) throws -> [String: Any] { try StoredMetadata(snapshot).values() }

    /// - Throws: where the bytes are no binary property list, or have a shape that is not safe to pass to Foundation. The file may be from anyone.
    package static func decode(_ data: Data) throws -> [String: Any] {
        do {
            try BinaryPropertyList(Array(data)).checkShape()
        } catch {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "The store's metadata cannot be read: the property list \(error.reason), at byte \(error.offset) of it.")
        }
        return try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any] ?? [:]
    }

    /// The keys that clients cannot set.
    package static let storesOwn = [
        NSStoreUUIDKey, NSStoreTypeKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, FormerVersions.key,
        NSManagedObjectModel.comparableHashesKey,
    ]

    private static let migration = "Open it with that model; "
        + "NSManagedObjectModel.mergedModel(from:forStoreMetadata:) finds it among the versions in a bundle. Or have the store migrated to this "
        + "one: with the options NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption."

    /// The remedy for a model that does not fit a store's past.
    static let pastRemedy = "It is open as of a past commit, which no option migrates. Open it with the model of that time; "
        + "NSManagedObjectModel.mergedModel(from:forStoreMetadata:) finds it among the versions in a bundle, by the metadata of that commit."

    /// Returns an error that names the entities that differ.
    /// - Parameter remedy: what to do about it; nil for a store that can be migrated.
    package static func mismatch(
        path: String, model: NSManagedObjectModel, configuration: String?, metadata: [String: Any], remedy: String? = nil
    ) -> NSError {
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let wanted = hashes(of: model, configuration: configuration)
        let differences = [
            (NSChangedEntitiesErrorKey, "changed", wanted.filter { stored[$0.key] != nil && stored[$0.key] != $0.value }.keys.sorted()),
            (NSAddedEntitiesErrorKey, "only in the model", wanted.keys.filter { stored[$0] == nil }.sorted()),
            (NSRemovedEntitiesErrorKey, "only in the store", stored.keys.filter { wanted[$0] == nil }.sorted()),
        ].filter { !$0.2.isEmpty }
        var info: [String: Any] = ["metadata": metadata, NSFilePathErrorKey: path]
        for (key, _, names) in differences { info[key] = names }
        let remedy = remedy ?? migration
        info[NSLocalizedRecoverySuggestionErrorKey] = remedy
        let text = differences.map { "\($0.1): \($0.2.joined(separator: ", "))" }.joined(separator: "; ")
        let part = configuration.map { " (its configuration \"\($0)\")" } ?? ""
        return CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            "The model used to open the store at \(path)\(part) is not the one it was made with (\(text)). \(remedy)", info)
    }
}
