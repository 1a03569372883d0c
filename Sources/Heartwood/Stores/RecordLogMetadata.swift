import Foundation
import RecordLog

/// What a record log keeps about itself for the stack, in the system table.
enum RecordLogMetadata {
    static func initial(
        identifier: (UInt64, UInt64), type: String, model: NSManagedObjectModel, configuration: String?
    ) -> [String: Any] {
        [
            NSStoreUUIDKey: UUID(storedBytes: identifier).uuidString,
            NSStoreTypeKey: type,
            NSStoreModelVersionHashesKey: hashes(of: model, configuration: configuration),
            NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0 as? String }.sorted(),
        ]
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

    /// New metadata of a client, with what is the store's own as it was.
    static func keepingOwn(_ old: [String: Any], in new: [String: Any]) -> [String: Any] {
        var merged = new
        for key in [NSStoreUUIDKey, NSStoreTypeKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey] {
            merged[key] = old[key]
        }
        return merged
    }

    static func encode(_ metadata: [String: Any]) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0))
    }

    static func read(_ snapshot: Snapshot) throws -> [String: Any] {
        guard let bytes = try snapshot.systemValue(RecordLogSystemRow.metadata) else { return [:] }
        return try decode(Data(bytes))
    }

    static func decode(_ data: Data) throws -> [String: Any] {
        try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any] ?? [:]
    }

    /// Names the entities that differ.
    static func mismatch(path: String, model: NSManagedObjectModel, metadata: [String: Any]) -> NSError {
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let wanted = model.entityVersionHashesByName
        let changed = wanted.filter { stored[$0.key] != nil && stored[$0.key] != $0.value }.keys.sorted()
        let added = wanted.keys.filter { stored[$0] == nil }.sorted()
        let gone = stored.keys.filter { wanted[$0] == nil }.sorted()
        let differences = [("changed", changed), ("only in the model", added), ("only in the store", gone)]
            .filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
        return CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            "The model used to open the store at \(path) is not the one it was made with (\(differences)). "
                + "Open it with that model.",
            ["metadata": metadata, NSFilePathErrorKey: path])
    }
}
