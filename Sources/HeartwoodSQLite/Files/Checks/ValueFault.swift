import Foundation
import Heartwood
internal import HeartwoodFileReading
internal import HeartwoodSQLiteFile

/// Finds values that are not of their attribute's type. Facts, "types".
enum ValueFault {
    /// Takes the row, the column, the value's type in the file, which is not null, and whether texts are in UTF-8.
    /// - Returns: nil if the value is as it should be; else a description of it.
    typealias Check = @Sendable (borrowing SQLiteRow, Int, SQLiteValue.Kind, Bool) throws -> String?

    static func name(_ kind: SQLiteValue.Kind) -> String {
        switch kind {
        case .null: "nothing"
        case .integer: "an integer"
        case .real: "a real number"
        case .text: "text"
        case .blob: "data"
        }
    }

    // MARK: Checks

    static func integer(_ range: ClosedRange<Int64>, _ message: String) -> Check {
        { row, column, kind, _ in
            guard let value = try row.integer(column) else { return "\(name(kind)) where an integer belongs" }
            return range.contains(value) ? nil : "\(value), which is \(message)"
        }
    }

    static let number: Check = { _, _, kind, _ in kind == .integer || kind == .real ? nil : "\(name(kind)) where a number belongs" }

    static let decimal: Check = { row, column, kind, _ in
        guard kind != .integer, kind != .real else { return nil }
        let text = try row.string(column)
        return text.flatMap { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) } == nil ? "\(name(kind)) where a number belongs" : nil
    }

    static let characters: Check = { row, column, kind, isUTF8 in
        guard let bytes = try row.text(column) else { return "\(name(kind)) where text belongs" }
        if isUTF8, let fault = UTF8Fault(in: bytes) { return "text that is no UTF-8, from byte \(fault.offset) on" }
        if !isUTF8, bytes.count % 2 != 0 { return "text of an odd number of bytes in UTF-16" }
        return nil
    }

    static let uri: Check = { row, column, kind, isUTF8 in
        if let fault = try characters(row, column, kind, isUTF8) { return fault }
        guard let text = try row.string(column), !text.isEmpty, URL(string: text) == nil else { return nil }
        return "text that is no URI"
    }

    static let data: Check = { _, _, kind, _ in kind == .blob ? nil : "\(name(kind)) where data belongs" }

    static let uuid: Check = { row, column, kind, _ in
        if let bytes = try row.blob(column) { return bytes.count == 16 ? nil : "\(bytes.count) bytes where the 16 of a UUID belong" }
        if let text = try row.string(column), UUID(uuidString: text) != nil { return nil }
        return "\(name(kind)) where a UUID belongs"
    }
}
