import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

extension PostgreSQLStore {
    package func save(_ batch: SaveBatch) throws {
        try checkIsNoHandler()
        let loaded = try open(), own = try batch.view(of: self) as? PostgreSQLView
        nonisolated(unsafe) let metadata = hasSetMetadata ? metadata : nil
        do {
            var save: PostgreSQLSave?
            let lost = try transact(loaded) { connection, trace in
                var attempt = PostgreSQLSave(
                    batch, loaded, connection, view(loaded, connection, own?.copies ?? RowCopies()), own?.copies, isAgain: save != nil)
                defer { save = attempt }
                try attempt.run(trace) { last in
                    guard let metadata else { return }
                    var parameters = PostgreSQLParameters()
                    try parameters.addBytes(Data(try RecordLogMetadata.encode(metadata)))
                    last.add(Self.metadataStatement(loaded.location), parameters)
                }
            }
            if let save {
                save.finish()
                noteRecorded(lost ?? save.recordedNumber)
            }
        } catch {
            // A merge policy compares with the newest rows.
            noteChange()
            throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
        }
        if metadata != nil { noteMetadataKept() }
        let isNewest = own?.isNewest ?? false, known = noteChange()
        if isNewest { own?.follow(known) }
        noteCommit()
    }

    /// A view of what a transaction reads.
    func view(_ loaded: Loaded, _ connection: PostgreSQLConnection, _ copies: RowCopies) -> PostgreSQLView {
        PostgreSQLView(self, loaded.layout, copies, changes: 0) { try connection.execute($0, $1) }
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
