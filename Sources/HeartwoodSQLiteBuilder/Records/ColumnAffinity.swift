/// The kind of values that a column prefers. Source: SQLite, "Datatypes In SQLite", 3.1.
enum ColumnAffinity: UInt8, Sendable {
    case blob, text, numeric, integer, real

    /// The affinities of the columns that a CREATE TABLE statement declares.
    static func list(_ statement: String) -> [ColumnAffinity] { ColumnList(statement).affinities }

    init(type: String) {
        let type = type.uppercased()
        func has(_ parts: String...) -> Bool { parts.contains { part in type.contains(part) } }
        if has("INT") {
            self = .integer
        } else if has("CHAR", "CLOB", "TEXT") {
            self = .text
        } else if type.isEmpty || has("BLOB") {
            self = .blob
        } else {
            self = has("REAL", "FLOA", "DOUB") ? .real : .numeric
        }
    }
}

/// The column definitions of a CREATE TABLE statement that the builder's caller wrote. It has no comments.
private struct ColumnList {
    private(set) var affinities: [ColumnAffinity] = []
    private let bytes: [UInt8]
    private var at = 0
    private var depth = 0
    /// The words of the definition so far.
    private var words: [(text: String, isQuoted: Bool)] = []

    private static let tableConstraints: Set = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
    private static let columnConstraints: Set = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS",
    ]

    init(_ statement: String) {
        bytes = Array(statement.utf8)
        while at < bytes.count {
            step()
            if depth < 0 { break }
        }
    }

    private mutating func step() {
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "("):
            depth += 1
            if depth == 1 { words = [] }
        case UInt8(ascii: ")"):
            if depth == 1 { endDefinition() }
            // No definition follows.
            depth = depth == 1 ? -1 : depth - 1
        case UInt8(ascii: ","):
            if depth == 1 { endDefinition() }
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): readQuoted(until: byte)
        case UInt8(ascii: "["): readQuoted(until: UInt8(ascii: "]"))
        default:
            if Self.isWord(byte) { readWord() }
        }
    }

    private mutating func endDefinition() {
        defer { words = [] }
        guard let name = words.first else { return }
        if !name.isQuoted, Self.tableConstraints.contains(name.text.uppercased()) { return }
        let type = words.dropFirst().prefix { $0.isQuoted || !Self.columnConstraints.contains($0.text.uppercased()) }
        affinities.append(ColumnAffinity(type: type.map(\.text).joined(separator: " ")))
    }

    /// A doubled quote stands for one.
    private mutating func readQuoted(until quote: UInt8) {
        var text: [UInt8] = []
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == quote {
                guard at < bytes.count, bytes[at] == quote, quote != UInt8(ascii: "]") else { break }
                at += 1
            }
            text.append(byte)
        }
        add(text[...], isQuoted: true)
    }

    private mutating func readWord() {
        let start = at - 1
        while at < bytes.count, Self.isWord(bytes[at]) { at += 1 }
        add(bytes[start..<at], isQuoted: false)
    }

    private mutating func add(_ text: ArraySlice<UInt8>, isQuoted: Bool) {
        guard depth == 1 else { return }
        words.append((String(decoding: text, as: UTF8.self), isQuoted))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        let isLetter = (0x61...0x7a).contains(byte | 0x20) || byte >= 0x80
        return isLetter || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
    }
}
