import Foundation
import RecordLog

extension RecordLogMigration {
    /// See `NSPersistentStore.migrateInPlace`.
    static func run(
        at url: URL, options: [AnyHashable: Any]?, configuration: String?, to model: NSManagedObjectModel, _ comparison: ModelComparison,
        _ dropping: DroppingRule
    ) throws -> Bool {
        comparison.source.makeImmutable()
        model.makeImmutable()
        let hashes = RecordLogMetadata.hashes(of: model, configuration: configuration)
        struct NotInPlace: Error {}
        var dropped: DroppedObjects?
        do {
            try RecordLogFiles.with(url, options, isReadOnly: false) { log in
                try log.write { transaction in
                    var metadata = try RecordLogMetadata.read(transaction.base)
                    // Another process has migrated it meanwhile.
                    if metadata[NSStoreModelVersionHashesKey] as? [String: Data] == hashes { return }
                    let isOfSource = try RecordLogMetadata.checksum(in: transaction.base)
                        == RecordLogMetadata.checksum(of: comparison.source, configuration: configuration)
                        || comparison.source.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
                    guard isOfSource else {
                        throw RecordLogMetadata.mismatch(
                            path: log.path, model: comparison.source, configuration: configuration, metadata: metadata)
                    }
                    let leftOut = DroppedObjects(comparison) { entity in
                        transaction.base.catalog.table(named: entity.name ?? "").map { transaction.base.rowCount($0.id) } ?? 0
                    }
                    try dropping.check(leftOut, url)
                    guard try RecordLogMigration(transaction, comparison, configuration: configuration).run() else { throw NotInPlace() }
                    let former = metadata
                    RecordLogMetadata.setVersion(of: model, configuration: configuration, in: &metadata)
                    FormerVersions.note(former, in: &metadata)
                    try RecordLogMetadata.write(metadata, model, configuration: configuration, in: transaction)
                    dropped = leftOut
                }
            }
        } catch is NotInPlace {
            return false
        }
        dropping.tell(dropped, url)
        return true
    }
}
