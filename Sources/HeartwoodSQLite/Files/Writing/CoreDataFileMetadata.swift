import Foundation
import Heartwood

/// The metadata and the model cache of a new file in Core Data's layout.
struct CoreDataFileMetadata {
    let identifier: String
    /// The property list of `Z_METADATA`.
    let values: [String: Any]
    /// `Z_MODELCACHE.Z_CONTENT`, if it is known.
    let cache: [UInt8]?

    /// Facts, "Z_METADATA": the highest version of Core Data's whose stores have no key that only Core Data can compute.
    static let frameworkVersion = 866
    static let frameworkVersionKey = "NSPersistenceFrameworkVersion"
    private static let hashesVersionKey = "NSStoreModelVersionHashesVersion", digestKey = "NSStoreModelVersionHashesDigest"
    private static let autoVacuumKey = "_NSAutoVacuumLevel"

    /// The key of the model that Heartwood wrote, in the form of a record log, for a file without a cache.
    static let modelKey = "HeartwoodModel"

    /// The keys that state a version of the model.
    static let versionKeys = [
        NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, hashesVersionKey, digestKey, StoreModelVersion.checksumKey,
    ]

    /// The keys that tell of Core Data's file, and are not the app's.
    static let coreDatasOwn = Set(versionKeys + [frameworkVersionKey, "NSPersistenceMaximumFrameworkVersion", autoVacuumKey, modelKey])

    /// - Parameters:
    ///   - old: the metadata of the store that is written.
    ///   - version: the keys that state the model's version; empty if only Heartwood's hashes are known.
    ///   - model: the file keeps it, if it has no cache.
    init(identifier: String, old: [String: Any], identifiers: [String], version: CoreDataVersion?, model: NSManagedObjectModel) throws {
        self.identifier = identifier
        cache = version?.cache
        // The app's own keys, and those that Core Data wrote before a conversion.
        var values = old.filter { !RecordLogMetadata.storesOwn.contains($0.key) && $0.key != RecordLogMetadata.unfinishedStage }
        for key in Self.versionKeys { values[key] = nil }
        values[NSStoreTypeKey] = CoreDataContents.storeType
        values[NSStoreModelVersionIdentifiersKey] = identifiers
        values[Self.frameworkVersionKey] = values[Self.frameworkVersionKey] ?? Self.frameworkVersion
        // A new file has no pointer maps, so SQLite moves no pages in it.
        values[Self.autoVacuumKey] = nil
        values[Self.modelKey] = cache == nil ? Data(try model.archivedBytes()) : nil
        if let version {
            values[Self.hashesVersionKey] = 3
            values.merge(version.values) { $1 }
        }
        self.values = values
    }

    /// `Z_METADATA` and `Z_MODELCACHE`.
    func tables() throws -> [ExportPlan.Bookkeeping] {
        let list = try RecordLogMetadata.encode(values)
        return [
            ExportPlan.Bookkeeping(
                name: "Z_METADATA", statement: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
                columnCount: 3, hasKey: true, rows: [ExportPlan.Record(rowid: 1, values: [.text(identifier), .bytes(list)])]),
            ExportPlan.Bookkeeping(
                name: "Z_MODELCACHE", statement: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)", columnCount: 1, hasKey: false,
                rows: cache.map { [ExportPlan.Record(rowid: 1, values: [.bytes($0)])] } ?? []),
        ]
    }
}
