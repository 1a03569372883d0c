/// A position among a statement's tokens, with the steps that all readers of statements need.
struct SQLParser {
    let sql: [UInt8]
    let tokens: [SQLToken]
    var at = 0

    init(_ sql: String) {
        self.sql = Array(sql.utf8)
        tokens = SQLTokens.list(self.sql)
    }

    var token: SQLToken? { at < tokens.count ? tokens[at] : nil }

    func isWord(_ word: String, ahead: Int = 0) -> Bool { at + ahead < tokens.count && tokens[at + ahead].isWord(word) }
    func isSymbol(_ symbol: String) -> Bool { token?.isSymbol(symbol) ?? false }

    mutating func skip(word: String) -> Bool {
        guard isWord(word) else { return false }
        at += 1
        return true
    }

    mutating func skip(symbol: String) -> Bool {
        guard isSymbol(symbol) else { return false }
        at += 1
        return true
    }

    mutating func name() -> String? {
        guard let token, token.isName else { return nil }
        at += 1
        return token.text
    }

    /// Moves behind the parenthesis that closes the one at the position.
    /// - Returns: the tokens between them; nil if none opens or closes.
    mutating func parenthesized() -> Range<Int>? {
        guard skip(symbol: "(") else { return nil }
        let start = at
        var depth = 1
        while let token {
            at += 1
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            if depth == 0 { return start..<at - 1 }
        }
        return nil
    }

    /// The parts of a list, between commas that no parentheses enclose.
    func split(_ range: Range<Int>) -> [Range<Int>] {
        var parts: [Range<Int>] = [], start = range.lowerBound, depth = 0
        for index in range {
            if tokens[index].isSymbol("(") { depth += 1 }
            if tokens[index].isSymbol(")") { depth -= 1 }
            guard depth == 0, tokens[index].isSymbol(",") else { continue }
            parts.append(start..<index)
            start = index + 1
        }
        parts.append(start..<range.upperBound)
        return parts
    }

    /// The columns of an index: names or expressions, each with a collation and an order.
    mutating func keyColumns() -> [KeyColumn]? {
        guard let list = parenthesized(), !list.isEmpty else { return nil }
        return split(list).map(keyColumn)
    }

    /// - Returns: the empty collation if the statement names none.
    private func keyColumn(_ range: Range<Int>) -> KeyColumn {
        var range = range, isDescending = false, collation = ""
        if let last = range.last, tokens[last].isWord("ASC") || tokens[last].isWord("DESC") {
            isDescending = tokens[last].isWord("DESC")
            range.removeLast()
        }
        if range.count > 2, tokens[range.upperBound - 2].isWord("COLLATE") {
            collation = tokens[range.upperBound - 1].text
            range.removeLast(2)
        }
        let name = range.count == 1 && tokens[range.lowerBound].isName ? tokens[range.lowerBound].text : nil
        return KeyColumn(name: name, collation: collation, isDescending: isDescending)
    }
}

extension Range<Int> {
    fileprivate mutating func removeLast(_ count: Int = 1) { self = lowerBound..<upperBound - count }
}

/// An index as its CREATE INDEX statement defines it.
struct IndexDefinition {
    let columns: [KeyColumn]
    let isUnique: Bool
    let isPartial: Bool

    /// - Returns: nil if the statement cannot be read.
    init?(_ sql: String) {
        var parser = SQLParser(sql)
        guard parser.skip(word: "CREATE") else { return nil }
        isUnique = parser.skip(word: "UNIQUE")
        guard parser.skip(word: "INDEX") else { return nil }
        while let token = parser.token, !token.isSymbol("(") { parser.at += 1 }
        guard let columns = parser.keyColumns() else { return nil }
        self.columns = columns
        isPartial = parser.isWord("WHERE")
    }
}
