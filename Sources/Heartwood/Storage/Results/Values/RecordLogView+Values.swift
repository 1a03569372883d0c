import Foundation
import RecordLog

extension RecordLogView {
    package func valueReader(_ table: ValueTable, _ runtimes: [EntityRuntime]) throws -> ValueBatchReader? {
        ValueBatchReader(table, try runtimes.map { try schema.table(of: $0, slotBase: slotBase) }, self, slotBase: slotBase)
    }

    /// Reads values of rows by their references.
    func read(_ references: ArraySlice<RowReference>, _ reader: ValueBatchReader, into sink: any ValueSink) throws {
        try reading {
            try references.withUnsafeBufferPointer { references in
                try snapshot.rows(references) { _, row in if let row { _ = try reader.append(row, to: sink) } }
            }
            _ = try reader.flush(to: sink)
        }
    }

    private func reading(_ body: () throws -> Void) throws {
        do { try body() } catch let fault as ColumnFault {
            throw fault.error(fault.reference.flatMap(id))
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        } catch let fault as PredicateFault {
            throw CoreDataError.unsupported("The fetch's expressions cannot be evaluated: \(fault.reason)")
        }
    }

    func id(_ reference: RowReference) -> NSManagedObjectID? {
        if case .objectID(let id) = identity(of: reference) { return id }
        return nil
    }
}
