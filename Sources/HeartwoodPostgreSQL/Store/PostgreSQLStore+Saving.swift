import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

extension PostgreSQLStore {
    package func save(_ batch: SaveBatch) throws {
        try saving(batch) { run in try transact(run.loaded) { try run.attempt($0, $1, isRepeatable: true) } }
    }

    /// Runs a save, and tells everybody of it.
    /// - Parameters:
    ///   - isPart: whether another store runs the save again, so that its errors stay those of the client where that may help.
    ///   - body: runs it until it is committed. Where the server did not answer the commit it returns a number at or behind the transaction's.
    func saving(_ batch: SaveBatch, isPart: Bool = false, _ body: (SaveRun) throws -> Int64?) throws {
        try checkIsNoHandler()
        let loaded = try open(), metadata = hasSetMetadata ? metadata : nil
        let run = try SaveRun(self, loaded, batch, metadata: try metadata.map { Data(try RecordLogMetadata.encode($0)) })
        do {
            let lost = try body(run), recorded = run.finish()
            noteRecorded(lost ?? recorded)
        } catch {
            // A merge policy compares with the newest rows.
            noteChange()
            if isPart, (error as? PostgreSQLError)?.mayPass == true { throw error }
            throw StoreFault.wrap(error, NSPersistentStoreSaveError, loaded.location.shown)
        }
        if metadata != nil { noteMetadataKept() }
        let isNewest = run.own?.isNewest ?? false, known = noteChange()
        if isNewest { run.own?.follow(known) }
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
