/// The words of an SQL statement. Any bytes give tokens: the schema of a file is untrusted.
struct SQLToken: Equatable {
    enum Kind {
        /// A word without quotes: a keyword or a name.
        case word
        /// A name in quotes of any kind, without them.
        case quotedName
        /// A text in single quotes, without them; where SQLite accepts it, also a name.
        case string
        case blob
        case number
        /// One byte of anything else.
        case symbol
    }

    let kind: Kind
    let text: String
    /// In bytes of the statement.
    let range: Range<Int>

    func isWord(_ word: String) -> Bool { kind == .word && text.uppercased() == word }
    func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
    /// Whether the token can name a table or a column.
    var isName: Bool { kind == .word || kind == .quotedName || kind == .string }
}

struct SQLTokens {
    private let bytes: [UInt8]
    private var at = 0

    static func list(_ sql: [UInt8]) -> [SQLToken] {
        var tokens = SQLTokens(bytes: sql)
        var list: [SQLToken] = []
        while let token = tokens.next() { list.append(token) }
        return list
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func byte(_ distance: Int = 0) -> UInt8? { at + distance < bytes.count ? bytes[at + distance] : nil }

    private mutating func next() -> SQLToken? {
        skipSpace()
        guard let first = byte() else { return nil }
        let start = at
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "`"): return quoted(until: first, .quotedName)
        case UInt8(ascii: "["): return bracketed()
        case UInt8(ascii: "'"): return quoted(until: first, .string)
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            guard byte(1) == UInt8(ascii: "'") else { break }
            at += 1
            return quoted(until: UInt8(ascii: "'"), .blob)
        default: break
        }
        if Self.isDigit(first) || (first == UInt8(ascii: ".") && byte(1).map(Self.isDigit) ?? false) { return number() }
        if Self.isWord(first) {
            while let byte = byte(), Self.isWord(byte) { at += 1 }
            return token(.word, start..<at, start)
        }
        at += 1
        return token(.symbol, start..<at, start)
    }

    private func token(_ kind: SQLToken.Kind, _ text: Range<Int>, _ start: Int) -> SQLToken {
        SQLToken(kind: kind, text: String(decoding: bytes[text], as: UTF8.self), range: start..<at)
    }

    private mutating func skipSpace() {
        while let first = byte() {
            if first == 0x20 || (9...13).contains(first) {
                at += 1
            } else if first == UInt8(ascii: "-"), byte(1) == UInt8(ascii: "-") {
                while let byte = byte(), byte != UInt8(ascii: "\n") { at += 1 }
            } else if first == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
                at += 2
                while let byte = byte(), byte != UInt8(ascii: "*") || self.byte(1) != UInt8(ascii: "/") { at += 1 }
                at = min(at + 2, bytes.count)
            } else {
                return
            }
        }
    }

    /// A doubled quote stands for one.
    private mutating func quoted(until quote: UInt8, _ kind: SQLToken.Kind) -> SQLToken {
        let start = at
        var text: [UInt8] = []
        at += 1
        while let byte = byte() {
            at += 1
            if byte == quote {
                guard self.byte() == quote else { break }
                at += 1
            }
            text.append(byte)
        }
        return SQLToken(kind: kind, text: String(decoding: text, as: UTF8.self), range: start..<at)
    }

    private mutating func bracketed() -> SQLToken {
        let start = at
        while let byte = byte(), byte != UInt8(ascii: "]") { at += 1 }
        let end = at
        at = min(at + 1, bytes.count)
        return token(.quotedName, start + 1..<end, start)
    }

    /// In 0x1E+1 the sign is no part of the number.
    private mutating func number() -> SQLToken {
        let start = at
        var mayHaveSign = byte(1).map { $0 | 0x20 } != UInt8(ascii: "x"), last: UInt8 = 0
        while let byte = byte() {
            let isSign = mayHaveSign && last | 0x20 == UInt8(ascii: "e") && (byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
            guard isSign || Self.isWord(byte) || byte == UInt8(ascii: ".") else { break }
            if isSign { mayHaveSign = false }
            last = byte
            at += 1
        }
        return token(.number, start..<at, start)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}
