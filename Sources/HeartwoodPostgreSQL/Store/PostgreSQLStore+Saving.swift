import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

extension PostgreSQLStore {
    /// The most times that a save runs because others were in its way.
    static let attemptsMax = 10

    package func save(_ batch: SaveBatch) throws {
        try checkIsNoHandler()
        let loaded = try open(), own = try batch.view(of: self) as? PostgreSQLView
        nonisolated(unsafe) let metadata = hasSetMetadata ? metadata : nil
        do {
            try repeating {
                try loaded.pool.withConnection { connection in
                    let view = view(loaded, connection, own?.copies ?? RowCopies())
                    var save = PostgreSQLSave(batch, loaded, connection, view, own?.copies)
                    try save.run { last in
                        guard let metadata else { return }
                        var parameters = PostgreSQLParameters()
                        try parameters.addBytes(Data(try RecordLogMetadata.encode(metadata)))
                        last.add(Self.metadataStatement(loaded.location), parameters)
                    }
                    noteRecorded(save.recordedNumber)
                }
            }
        } catch {
            // A merge policy compares with the newest rows.
            noteChange()
            throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
        }
        if metadata != nil { noteMetadataKept() }
        let isNewest = own?.isNewest ?? false, known = noteChange()
        if isNewest { own?.follow(known) }
        postRemoteChange()
    }

    /// A view of what a transaction reads.
    func view(_ loaded: Loaded, _ connection: PostgreSQLConnection, _ copies: RowCopies) -> PostgreSQLView {
        PostgreSQLView(self, loaded.layout, copies, changes: 0) { try connection.execute($0, $1) }
    }

    /// Runs a transaction again that another one was in the way of: after a serialization failure or a deadlock, and where another save took a
    /// unique value between the check and the write. The check then finds it.
    func repeating(_ attemptsMax: Int = attemptsMax, _ body: () throws -> Void) throws {
        var attempt = 1
        while true {
            do { return try body() } catch let error as PostgreSQLError where error.isTransient || error.isUniqueViolation {
                guard attempt < attemptsMax else { throw error }
                attempt += 1
            }
        }
    }

    package func reserveRows(for objects: [(object: NSManagedObject, runtime: EntityRuntime)]) throws -> [ObjectKey] {
        let loaded = try open(), layout = loaded.layout
        return try objects.map { _, runtime in
            let entity = layout.entity(of: try layout.schema.table(of: runtime, slotBase: slotBase))
            let numbers = try loaded.numbers.take(1, of: entity.family, layout, read)
            return ObjectKey(slot: runtime.slot, row: UInt64(numbers[0]))
        }
    }
}
