/// The value of a DEFAULT clause that is a literal, as SQLite gives it to rows that are older than the column.
struct DefaultLiteral {
    let tokens: ArraySlice<SQLToken>
    let encoding: DatabaseHeader.TextEncoding

    func value(_ affinity: Affinity) -> TableDefinition.Column.Default {
        guard let value = literal().flatMap({ converted($0, affinity) }) else { return .expression }
        return .literal(value)
    }

    /// - Returns: nil if it is no literal.
    private func literal() -> SQLiteValue? {
        var tokens = tokens, isNegative = false
        while let first = tokens.first, let last = tokens.last, tokens.count > 1 {
            if first.isSymbol("("), last.isSymbol(")") {
                tokens = tokens.dropFirst().dropLast()
            } else if first.isSymbol("-") || first.isSymbol("+") {
                isNegative = isNegative != first.isSymbol("-")
                tokens = tokens.dropFirst()
            } else {
                return nil
            }
        }
        guard let token = tokens.first else { return nil }
        if token.kind == .number { return Self.number(token.text, isNegative) }
        return isNegative ? nil : other(token)
    }

    private func other(_ token: SQLToken) -> SQLiteValue? {
        switch token.kind {
        case .string, .quotedName: return .text(encoding.bytes(token.text))
        case .blob: return Self.blob(token.text)
        case .word:
            switch token.text.uppercased() {
            case "NULL": return .null
            case "TRUE": return .integer(1)
            case "FALSE": return .integer(0)
            case "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP": return nil
            default: return .text(encoding.bytes(token.text))
            }
        case .number, .symbol: return nil
        }
    }

    private static func number(_ text: String, _ isNegative: Bool) -> SQLiteValue? {
        let text = text.filter { $0 != "_" }
        if text.lowercased().hasPrefix("0x") {
            guard let bits = UInt64(text.dropFirst(2), radix: 16) else { return nil }
            let value = Int64(bitPattern: bits)
            return .integer(isNegative ? 0 &- value : value)
        }
        if let value = Int64((isNegative ? "-" : "") + text) { return .integer(value) }
        return decimal(text).map { .real(isNegative ? -$0 : $0) }
    }

    /// Swift also reads words and hexadecimal digits, which SQLite does not.
    private static func decimal(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || [0x2b, 0x2d, 0x2e, 0x45, 0x65].contains($0) }) else { return nil }
        return Double(text.hasPrefix(".") ? "0" + text : text.hasSuffix(".") ? text + "0" : text)
    }

    private static func blob(_ digits: String) -> SQLiteValue? {
        let digits = Array(digits.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return .blob(bytes)
    }

    /// Source: SQLite, "Datatypes In SQLite", 3.
    private func converted(_ value: SQLiteValue, _ affinity: Affinity) -> SQLiteValue? {
        switch (affinity, value) {
        case (.text, .integer(let number)): return .text(encoding.bytes(String(number)))
        case (.text, .real): return nil
        case (.real, .integer(let number)): return .real(Double(number))
        case (.integer, .real(let number)), (.numeric, .real(let number)):
            return Int64(exactly: number).map { .integer($0) } ?? value
        case (.integer, .text(let bytes)), (.numeric, .text(let bytes)), (.real, .text(let bytes)):
            return numeric(bytes, affinity) ?? value
        default: return value
        }
    }

    private func numeric(_ bytes: [UInt8], _ affinity: Affinity) -> SQLiteValue? {
        var text = bytes.withUnsafeBytes(encoding.string)[...]
        let spaces: Set<Character> = [" ", "\t", "\n", "\r", "\u{b}", "\u{c}"]
        while let first = text.first, spaces.contains(first) { text.removeFirst() }
        while let last = text.last, spaces.contains(last) { text.removeLast() }
        let isNegative = text.hasPrefix("-")
        if isNegative || text.hasPrefix("+") { text.removeFirst() }
        guard let first = text.utf8.first, (0x30...0x39).contains(first) || first == 0x2e, !text.contains("_"),
            !text.lowercased().hasPrefix("0x"), let value = Self.number(String(text), isNegative)
        else { return nil }
        return converted(value, affinity)
    }
}
