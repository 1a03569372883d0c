import Foundation
import Heartwood
import RecordLog

/// The other end of rows that leave a file of Core Data's for a record log. It takes values that are stored outside of rows, and notes what cannot
/// come along.
final class CoreDataTransfer {
    /// The transaction that writes the rows; nil if they are only checked.
    var transaction: Transaction?
    /// Bytes of the values outside of rows.
    private(set) var valueBytes = 0
    /// References to rows that are not there.
    private(set) var dangling = StoreFindings()
    /// External data whose files are not there.
    private(set) var missingFiles = StoreFindings()
    /// Rows of no entity that has objects.
    private(set) var unnamed = StoreFindings()
    /// Values that their attribute's type cannot hold as they are.
    private(set) var changed = StoreFindings()

    private static let pieceSize = 1 << 20

    func noteDangling(_ owner: @autoclosure () -> String, _ destination: @autoclosure () -> String) {
        dangling.add("\(owner()): \(destination()) does not exist")
    }

    func noteMissing(_ owner: @autoclosure () -> String, _ name: String, of store: String) {
        missingFiles.add("\(owner()): \(ExternalValue.directory(of: store).appendingPathComponent(name).path) does not exist")
    }

    func noteUnnamed(_ row: Int64, of table: String, _ number: Int64) {
        unnamed.add("row \(row) of \(table): no entity with objects in this table has the number \(number)")
    }

    func noteChanged(_ owner: @autoclosure () -> String, _ change: @autoclosure () -> String) {
        changed.add("\(owner()): \(change())")
    }

    /// - Returns: nil if nothing is written.
    func value(_ bytes: UnsafeRawBufferPointer) throws -> LargeValue? {
        valueBytes += bytes.count
        return try transaction?.writeValue(bytes)
    }

    /// Copies a file of external data piece by piece.
    /// - Returns: nil if the file is not there, which is noted, or if nothing is written.
    func value(fileNamed name: String, of store: String, _ owner: @autoclosure () -> String) throws -> LargeValue? {
        guard ExternalValue.isThere(name, of: store) else {
            noteMissing(owner(), name, of: store)
            return nil
        }
        let file = try ExternalValue.open(name, of: store)
        defer { try? file.close() }
        guard let transaction else {
            valueBytes += Int(clamping: try file.seekToEnd())
            return nil
        }
        return try transaction.writeValue { writer in
            while let piece = try file.read(upToCount: Self.pieceSize), !piece.isEmpty {
                valueBytes += piece.count
                try piece.withUnsafeBytes { try writer.append($0) }
            }
        }
    }
}
