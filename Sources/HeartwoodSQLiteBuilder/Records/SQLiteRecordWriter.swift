/// Writes the values of one row, in the order of the table's columns. Columns at the end that get no value are NULL.
///
/// The column that stands for the rowid takes its turn like the others. Its value is not stored: SQLite reads the rowid in its place.
package struct SQLiteRecordWriter {
    private let record: RecordBuffer

    init(_ record: RecordBuffer) { self.record = record }

    package mutating func null() { record.addNull() }
    package mutating func integer(_ value: Int64) { record.addInteger(value) }
    /// A whole number becomes an integer if the column is for numbers, as SQLite stores it. NaN becomes NULL.
    package mutating func real(_ value: Double) { record.addReal(value) }
    /// - Parameter utf8: copied before the call returns.
    package mutating func text(_ utf8: UnsafeRawBufferPointer) { record.addBytes(utf8, isText: true) }

    package mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { record.addBytes(UnsafeRawBufferPointer($0), isText: true) }
    }

    /// - Parameter bytes: copied before the call returns.
    package mutating func blob(_ bytes: UnsafeRawBufferPointer) { record.addBytes(bytes, isText: false) }
}
