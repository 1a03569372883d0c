/// Reads CREATE TABLE, as far as a reader of rows needs it: columns, keys, defaults, options. It steps over the rest.
/// Source: SQLite, "CREATE TABLE", and the grammar in parse.y.
struct TableParser {
    private var parser: SQLParser
    private var table = TableDefinition()
    private let encoding: DatabaseHeader.TextEncoding
    /// The positions of DEFAULT's tokens by column: the column's type decides about the value.
    private var defaults: [Int: Range<Int>] = [:]
    private var primaryKey: (columns: [KeyColumn], isDescendingColumn: Bool)?

    /// SQLite's own limit for a statement's columns.
    static let columnsMax = 32767
    /// In bytes. The tokens of a statement take some fifty times its size.
    static let statementMax = 1 << 20

    /// - Returns: nil if the statement cannot be read.
    static func parse(_ sql: String, encoding: DatabaseHeader.TextEncoding) -> TableDefinition? {
        guard sql.utf8.count <= statementMax else { return nil }
        var parser = TableParser(parser: SQLParser(sql), encoding: encoding)
        return parser.statement() ? parser.finished() : nil
    }

    private init(parser: SQLParser, encoding: DatabaseHeader.TextEncoding) {
        self.parser = parser
        self.encoding = encoding
    }

    private mutating func statement() -> Bool {
        guard parser.skip(word: "CREATE") else { return false }
        while let token = parser.token, !token.isSymbol("(") { parser.at += 1 }
        guard parser.skip(symbol: "(") else { return false }
        repeat {
            guard item() else { return false }
        } while parser.skip(symbol: ",")
        guard parser.skip(symbol: ")"), !table.columns.isEmpty else { return false }
        options()
        return true
    }

    private mutating func options() {
        while let token = parser.token {
            if token.isWord("WITHOUT"), parser.isWord("ROWID", ahead: 1) { table.hasRowids = false }
            if token.isWord("STRICT") { table.isStrict = true }
            parser.at += 1
        }
    }

    /// A column, or the constraints behind the columns.
    private mutating func item() -> Bool {
        let isConstraint = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains { parser.isWord($0) }
        if !isConstraint {
            guard table.columns.count < Self.columnsMax, let name = parser.name() else { return false }
            table.columns.append(TableDefinition.Column(name: name))
            type()
        }
        return constraints()
    }

    private var last: Int { table.columns.count - 1 }

    // MARK: Columns

    private static let constraintWords: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "AS", "FOREIGN", "DEFERRABLE", "ON",
    ]

    /// Any words up to the first constraint are the type.
    private mutating func type() {
        let start = parser.at
        while let token = parser.token, token.isName, !endsType(token) { parser.at += 1 }
        guard parser.at > start else { return }
        if parser.isSymbol("(") { _ = parser.parenthesized() }
        let bytes = parser.tokens[start].range.lowerBound..<parser.tokens[parser.at - 1].range.upperBound
        table.columns[last].declaredType = String(decoding: parser.sql[bytes], as: UTF8.self)
    }

    private func endsType(_ token: SQLToken) -> Bool {
        guard token.kind == .word else { return false }
        return Self.constraintWords.contains(token.text.uppercased()) || (token.isWord("GENERATED") && parser.isWord("ALWAYS", ahead: 1))
    }

    // MARK: Constraints

    /// Reads constraints up to the comma or parenthesis that ends the item.
    private mutating func constraints() -> Bool {
        while let token = parser.token, !token.isSymbol(","), !token.isSymbol(")") {
            if token.isSymbol("(") {
                guard parser.parenthesized() != nil else { return false }
                continue
            }
            parser.at += 1
            guard token.kind != .word || constraint(token.text.uppercased()) else { return false }
        }
        return true
    }

    /// - Parameter word: the one before the position.
    private mutating func constraint(_ word: String) -> Bool {
        switch word {
        case "CONSTRAINT", "MATCH": return parser.name() != nil
        case "PRIMARY": return parser.skip(word: "KEY") && key(isPrimary: true)
        case "UNIQUE": return key(isPrimary: false)
        case "FOREIGN": return parser.skip(word: "KEY") && parser.parenthesized() != nil
        case "REFERENCES": return parser.name() != nil
        case "COLLATE": return collation()
        case "DEFAULT": return defaultValue()
        case "AS": return generated()
        case "NOT": return parser.skip(word: "NULL") || parser.skip(word: "DEFERRABLE")
        case "ON": return action()
        default: return true
        }
    }

    /// A conflict clause, or the action of a foreign key: these have words that begin a constraint elsewhere.
    private mutating func action() -> Bool {
        guard parser.name() != nil else { return false }
        if parser.isWord("SET") || parser.isWord("NO") { parser.at += 1 }
        return parser.name() != nil
    }

    private mutating func collation() -> Bool {
        guard let name = parser.name() else { return false }
        if !table.columns.isEmpty { table.columns[last].collation = name }
        return true
    }

    /// The columns in parentheses, or the column that the constraint belongs to.
    private mutating func key(isPrimary: Bool) -> Bool {
        var columns: [KeyColumn], isDescendingColumn = false
        if parser.isSymbol("(") {
            guard let list = parser.keyColumns() else { return false }
            columns = list
        } else {
            guard !table.columns.isEmpty else { return false }
            isDescendingColumn = isPrimary && parser.skip(word: "DESC")
            columns = [KeyColumn(name: table.columns[last].name, collation: "", isDescending: isDescendingColumn)]
        }
        if isPrimary { primaryKey = (columns, isDescendingColumn) }
        table.keys.append(TableDefinition.Key(columns: columns, isPrimary: isPrimary))
        return true
    }

    private mutating func generated() -> Bool {
        guard !table.columns.isEmpty, parser.parenthesized() != nil else { return false }
        table.columns[last].storage = parser.skip(word: "STORED") ? .stored : .virtual
        return true
    }

    private mutating func defaultValue() -> Bool {
        guard !table.columns.isEmpty else { return false }
        if parser.isSymbol("(") {
            guard let range = parser.parenthesized() else { return false }
            defaults[last] = range
            return true
        }
        let start = parser.at
        while parser.isSymbol("-") || parser.isSymbol("+") { parser.at += 1 }
        guard parser.token != nil else { return false }
        parser.at += 1
        defaults[last] = start..<parser.at
        return true
    }

    // MARK: The end

    private mutating func finished() -> TableDefinition? {
        for (column, range) in defaults {
            let literal = DefaultLiteral(tokens: parser.tokens[range], encoding: encoding)
            table.columns[column].missing = literal.value(table.affinity(table.columns[column]))
        }
        let indexes = table.indexesByName
        for key in table.keys.indices {
            table.keys[key].columns = table.keys[key].columns.map { table.completed($0, indexes) }
        }
        findRowidColumn()
        guard table.hasRowids || primaryKey != nil else { return nil }
        removeRepeatedKeys()
        return table
    }

    /// Source: SQLite, "Rowid Tables", and "CREATE TABLE", 5. INTEGER PRIMARY KEY DESC at a column is an ordinary key, by an old fault.
    private mutating func findRowidColumn() {
        guard let primaryKey, primaryKey.columns.count == 1, !primaryKey.isDescendingColumn, let name = primaryKey.columns[0].name,
            let column = table.index(ofColumn: name), table.columns[column].declaredType.uppercased() == "INTEGER",
            let position = table.keys.firstIndex(where: \.isPrimary)
        else { return }
        let key = table.keys.remove(at: position)
        if table.hasRowids {
            table.rowidColumn = column
        } else {
            // SQLite makes this index last.
            table.keys.append(key)
        }
    }

    /// SQLite makes no second index for the same columns and collations.
    private mutating func removeRepeatedKeys() {
        var seen: Set<String> = []
        table.keys = table.keys.filter { key in
            // No folded name has this separator.
            let text = key.columns.reduce(into: "") { $0 += "\(SQLName.folded($1.name ?? ""))\u{100}\(SQLName.folded($1.collation))\u{100}" }
            return seen.insert(text).inserted || key.isPrimary
        }
    }
}
