import Foundation
import RecordLog

extension RecordLogView {
    package func valueReader(_ table: ValueTable, _ runtimes: [EntityRuntime]) throws -> ValueBatchReader? {
        ValueBatchReader(table, try runtimes.map { try schema.table(of: $0, slotBase: slotBase) }, self, slotBase: slotBase)
    }

    /// Reads values of rows by their references.
    func read(_ references: ArraySlice<RowReference>, _ reader: ValueBatchReader, into sink: any ValueSink) throws {
        try ColumnFault.reported({
            try references.withUnsafeBufferPointer { references in
                try snapshot.rows(references) { _, row in if let row { _ = try reader.append(row, to: sink) } }
            }
            _ = try reader.flush(to: sink)
        }, id)
    }

    func id(_ reference: RowReference) -> NSManagedObjectID? {
        if case .objectID(let id) = identity(of: reference) { return id }
        return nil
    }
}
