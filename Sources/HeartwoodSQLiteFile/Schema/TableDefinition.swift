/// A table as its CREATE TABLE statement defines it.
struct TableDefinition {
    struct Column {
        enum Storage {
            case stored
            /// Computed when it is read: records do not have it.
            case virtual
        }

        /// The value that a row has which is older than the column.
        enum Default: Equatable {
            case literal(SQLiteValue)
            /// Only SQLite can compute it.
            case expression
        }

        let name: String
        /// As written; empty if there is none.
        var declaredType = ""
        var collation = "BINARY"
        var storage = Storage.stored
        var missing = Default.literal(.null)
    }

    /// The columns of a PRIMARY KEY or UNIQUE clause, each of which has an index.
    struct Key {
        var columns: [KeyColumn]
        let isPrimary: Bool
    }

    var columns: [Column] = []
    /// In the order of the statement, which gives the automatic indexes their numbers. Without the key that is the rowid.
    var keys: [Key] = []
    /// The column that is another name of the rowid.
    var rowidColumn: Int?
    var hasRowids = true
    var isStrict = false

    func index(ofColumn name: String) -> Int? { columns.firstIndex { SQLName.equal($0.name, name) } }

    /// By folded name. For many look-ups: a file may have thousands of columns and keys.
    var indexesByName: [String: Int] {
        Dictionary(columns.enumerated().map { (SQLName.folded($1.name), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A column of a key has the collation of its table's column, unless the key names one.
    func completed(_ key: [KeyColumn]) -> [KeyColumn] {
        let indexes = indexesByName
        return key.map { completed($0, indexes) }
    }

    func completed(_ column: KeyColumn, _ indexes: [String: Int]) -> KeyColumn {
        guard column.collation.isEmpty else { return column }
        let own = column.name.flatMap { indexes[SQLName.folded($0)] }.map { columns[$0].collation }
        return KeyColumn(name: column.name, collation: own ?? "BINARY", isDescending: column.isDescending)
    }

    func affinity(_ column: Column) -> Affinity {
        isStrict && column.declaredType.uppercased() == "ANY" ? .blob : Affinity(declaredType: column.declaredType)
    }
}

enum SQLName {
    /// SQLite ignores the case of ASCII letters, and of no others.
    static func equal(_ left: String, _ right: String) -> Bool { left == right || folded(left) == folded(right) }

    /// A text for each name as SQLite compares it: by bytes, and without regard to the case of ASCII letters. Each byte is a scalar of its own,
    /// since Swift takes some texts of different bytes for equal, and no two texts below U+0100.
    static func folded(_ name: String) -> String {
        var folded = String.UnicodeScalarView()
        for byte in name.utf8 { folded.append(Unicode.Scalar((0x41...0x5a).contains(byte) ? byte | 0x20 : byte)) }
        return String(folded)
    }
}

/// The kind of value that a column prefers. Source: SQLite, "Datatypes In SQLite", 3.1.
package enum Affinity: Sendable {
    case integer, text, blob, real, numeric

    init(declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ part: String) -> Bool { Self.contains(Array(type.utf8), Array(part.utf8)) }
        if has("INT") {
            self = .integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            self = .text
        } else if type.isEmpty || has("BLOB") {
            self = .blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            self = .real
        } else {
            self = .numeric
        }
    }

    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        text.count >= part.count && (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
    }
}
