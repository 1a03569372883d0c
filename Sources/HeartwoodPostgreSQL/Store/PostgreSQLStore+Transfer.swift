import Foundation
import Heartwood
import RecordLog

extension PostgreSQLStore: TransferStore {
    /// Copies the rows of a record log, in a file or in memory. Between other stores, objects are copied.
    package func takeContents(of source: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator) throws -> MovedObjects? {
        guard source.ownLog != nil, let url else { return nil }
        let rows = try StoreTransfer(url).fill(source, coordinator, UUID().uuidString, true) { _, _ in }
        return .renumbered(rows.view) { [weak self] table, reference in
            guard let schema = try? self?.open().layout.schema, let own = schema.tables.first(where: { $0?.runtime.entity === table.runtime.entity }) ?? nil
            else { return nil }
            return RowReference(table: own.id, row: UInt64(rows.numbers.number(reference)))
        }
    }

    /// Copies the rows to a new record log in a file.
    package func giveContents(
        to target: NSPersistentStore, at url: URL, in coordinator: NSPersistentStoreCoordinator
    ) throws -> MovedObjects? {
        guard target.type == NSRecordLogStoreType, target.ownLog != nil, url.isFileURL, let own = self.url else { return nil }
        _ = try StoreTransfer(own).dump(to: url, identifier: UUID().uuidString)
        return .sameRows
    }
}
