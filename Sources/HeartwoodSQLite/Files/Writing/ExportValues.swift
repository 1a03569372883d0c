import Foundation
import Heartwood
internal import HeartwoodSQLiteBuilder
import RecordLog

/// Writes the values of a record log's rows into the records of an SQLite file.
final class ExportValues {
    private let snapshot: Snapshot
    /// Bytes that are put together.
    private var buffer: [UInt8] = []

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// - Parameter access: of a column that is not null.
    func write(_ form: ExportForm, _ row: UnsafeRowView, _ access: ColumnAccess, to record: inout SQLiteRecordWriter) throws {
        switch form {
        case .integer: record.integer(row.int64(access))
        case .number: Self.write(row.double(access), to: &record)
        case .decimalNumber: Self.write(row.decimal(access).nearestDouble, to: &record)
        case .text: record.text(row.bytes(access))
        case .bytes: record.blob(row.bytes(access))
        case .uuid: withUnsafeBytes(of: row.uuid(access)) { record.blob($0) }
        case .taggedBytes: writeTagged(row.bytes(access), to: &record)
        case .value, .taggedValue: try writeValue(row, access, isTagged: form == .taggedValue, to: &record)
        case .decimalText: record.text(NSDecimalNumber(decimal: Decimal(row.decimal(access))).stringValue)
        case .uuidText: record.text(UUID(storedBytes: row.uuid(access)).uuidString)
        case .dateText: record.text(ExportDate.text(row.double(access)))
        }
    }

    /// SQLite has no real that is no number. The builder makes integers of whole reals where the column's type says so.
    private static func write(_ number: Double, to record: inout SQLiteRecordWriter) { number.isNaN ? record.null() : record.real(number) }

    private func writeTagged(_ bytes: UnsafeRawBufferPointer, to record: inout SQLiteRecordWriter) {
        buffer.removeAll(keepingCapacity: true)
        buffer.append(ExternalValue.inlineTag)
        buffer.append(contentsOf: bytes)
        buffer.withUnsafeBytes { record.blob($0) }
    }

    private func writeValue(_ row: UnsafeRowView, _ access: ColumnAccess, isTagged: Bool, to record: inout SQLiteRecordWriter) throws {
        guard let value = try snapshot.value(access, of: row) else { return record.null() }
        // A damaged row may state any length.
        try value.verify()
        buffer.removeAll(keepingCapacity: true)
        if isTagged { buffer.append(ExternalValue.inlineTag) }
        try value.forEachChunk { chunk in
            buffer.append(contentsOf: chunk)
            return true
        }
        buffer.withUnsafeBytes { record.blob($0) }
    }
}

extension StoredDecimal {
    /// Both factors are exact below these bounds, so one division or multiplication rounds once.
    private static let exactMantissaMax: UInt128 = 1 << 53, exactPowerMax = 22

    /// The nearest double; not a number for `NaN`.
    var nearestDouble: Double {
        guard !isNaN else { return .nan }
        let size = Int(exponent.magnitude)
        guard mantissa < Self.exactMantissaMax, size <= Self.exactPowerMax else { return parsedDouble }
        // Powers of ten up to 10^22 are exact.
        let power = (0..<size).reduce(1.0) { power, _ in power * 10 }
        let number = Double(mantissa), magnitude = exponent < 0 ? number / power : number * power
        return isNegative ? -magnitude : magnitude
    }

    private var parsedDouble: Double { Double("\(isNegative ? "-" : "")\(mantissa)e\(exponent)") ?? .nan }
}
