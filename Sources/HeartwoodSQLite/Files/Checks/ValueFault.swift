import Foundation
import Heartwood
internal import HeartwoodFileReading
internal import HeartwoodSQLiteFile

/// Finds values that are not of their attribute's type. Facts, "types".
enum ValueFault {
    /// - Returns: nil if the value is as it should be; else a description of it.
    static func text(of row: borrowing SQLiteRow, _ column: Int, _ kind: PropertyKind, isUTF8: Bool) throws -> String? {
        let found = try row.kind(column)
        guard found != .null else { return nil }
        switch kind {
        case .bool: return try integer(row, column, found, 0...1, "no Boolean")
        case .int16: return try integer(row, column, found, Int64(Int16.min)...Int64(Int16.max), "beyond an Integer 16")
        case .int32: return try integer(row, column, found, Int64(Int32.min)...Int64(Int32.max), "beyond an Integer 32")
        case .int64: return try integer(row, column, found, .min...Int64.max, "no integer")
        case .float, .double, .date: return found == .integer || found == .real ? nil : "\(name(found)) where a number belongs"
        case .decimal: return try decimal(row, column, found)
        case .string, .uri: return try characters(row, column, found, kind, isUTF8)
        case .data, .externalData, .transformable: return found == .blob ? nil : "\(name(found)) where data belongs"
        case .uuid: return try uuid(row, column, found)
        case .toOne, .toMany, .objectID, .undefined: return nil
        }
    }

    static func name(_ kind: SQLiteValue.Kind) -> String {
        switch kind {
        case .null: "nothing"
        case .integer: "an integer"
        case .real: "a real number"
        case .text: "text"
        case .blob: "data"
        }
    }

    private static func integer(
        _ row: borrowing SQLiteRow, _ column: Int, _ kind: SQLiteValue.Kind, _ range: ClosedRange<Int64>, _ message: String
    ) throws -> String? {
        guard let value = try row.integer(column) else { return "\(name(kind)) where an integer belongs" }
        return range.contains(value) ? nil : "\(value), which is \(message)"
    }

    private static func decimal(_ row: borrowing SQLiteRow, _ column: Int, _ kind: SQLiteValue.Kind) throws -> String? {
        guard kind != .integer, kind != .real else { return nil }
        let text = try row.string(column)
        return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) } == nil ? "\(name(kind)) where a number belongs" : nil
    }

    private static func characters(
        _ row: borrowing SQLiteRow, _ column: Int, _ found: SQLiteValue.Kind, _ kind: PropertyKind, _ isUTF8: Bool
    ) throws -> String? {
        guard let bytes = try row.text(column) else { return "\(name(found)) where text belongs" }
        if isUTF8, let fault = UTF8Fault(in: bytes) { return "text that is no UTF-8, from byte \(fault.offset) on" }
        if !isUTF8, bytes.count % 2 != 0 { return "text of an odd number of bytes in UTF-16" }
        guard kind == .uri, !bytes.isEmpty, let text = try row.string(column), URL(string: text) == nil else { return nil }
        return "text that is no URI"
    }

    private static func uuid(_ row: borrowing SQLiteRow, _ column: Int, _ kind: SQLiteValue.Kind) throws -> String? {
        if let bytes = try row.blob(column) { return bytes.count == 16 ? nil : "\(bytes.count) bytes where the 16 of a UUID belong" }
        if let text = try row.string(column), UUID(uuidString: text) != nil { return nil }
        return "\(name(kind)) where a UUID belongs"
    }
}
