/// Splits Swift text into words and signs, without comments and without the contents of strings and regular expressions.
struct SwiftTokens {
    struct Token {
        let text: String
        let line: Int
        /// Whether the token is the first in its line.
        let startsLine: Bool
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var startsLine = true
    private var tokens: [Token] = []

    static func of(_ text: String) -> [Token] {
        var lexer = SwiftTokens(bytes: Array(text.utf8))
        lexer.run()
        return lexer.tokens
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func peek(_ offset: Int = 0) -> UInt8 { position + offset < bytes.count ? bytes[position + offset] : 0 }

    private func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func advance() {
        if peek() == UInt8(ascii: "\n") { line += 1; startsLine = true }
        position += 1
    }

    private mutating func run() {
        while position < bytes.count {
            let byte = peek()
            switch (byte, peek(1)) {
            case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\r"), _), (UInt8(ascii: "\n"), _): advance()
            case (UInt8(ascii: "/"), UInt8(ascii: "/")): while position < bytes.count, peek() != UInt8(ascii: "\n") { advance() }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")): skipComment()
            case (UInt8(ascii: "\""), _): skipString(hashes: 0)
            case (UInt8(ascii: "#"), _) where isRawString: skipRawString()
            case (UInt8(ascii: "#"), _) where rawPatternEnd != nil: skip(to: rawPatternEnd)
            case (UInt8(ascii: "/"), _) where patternEnd != nil: skip(to: patternEnd)
            case (UInt8(ascii: "`"), _): position += 1
            default: takeToken()
            }
        }
    }

    private mutating func takeToken() {
        let start = position
        position += 1
        if isWord(bytes[start]) || bytes[start] == UInt8(ascii: "@") || bytes[start] == UInt8(ascii: "#") {
            while isWord(peek()) { position += 1 }
        }
        tokens.append(Token(text: String(decoding: bytes[start..<position], as: UTF8.self), line: line, startsLine: startsLine))
        startsLine = false
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if peek() == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                depth += 1
                position += 2
            } else if peek() == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                depth -= 1
                position += 2
            } else {
                advance()
            }
        } while depth > 0 && position < bytes.count
    }

    private var isRawString: Bool {
        var end = position
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"")
    }

    private mutating func skipRawString() {
        var hashes = 0
        while peek() == UInt8(ascii: "#") { hashes += 1; position += 1 }
        skipString(hashes: hashes)
    }

    // MARK: Regular expressions

    private mutating func skip(to end: Int?) {
        while position < end ?? bytes.count { advance() }
        startsLine = false
    }

    /// The end of a `#/…/#` literal that starts here. It may span lines only where a line break follows its first slash.
    private var rawPatternEnd: Int? {
        let hashes = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
        var index = position + hashes
        guard index < bytes.count, bytes[index] == UInt8(ascii: "/") else { return nil }
        index += 1
        let isLong = index < bytes.count && bytes[index] == UInt8(ascii: "\n")
        while index < bytes.count, isLong || bytes[index] != UInt8(ascii: "\n") {
            if bytes[index] == UInt8(ascii: "/"), hasHashes(hashes, at: index + 1 - position) { return index + 1 + hashes }
            index += 1
        }
        return nil
    }

    /// The end of a `/…/` literal that starts here; nil where the slash is a division.
    private var patternEnd: Int? {
        if let last = tokens.last?.text, let sign = last.utf8.last {
            let leads: Set<String> = ["return", "case", "in", "if", "while", "where", "try", "await", "else", "throw"]
            guard isWord(sign) ? leads.contains(last) : !")]}>?!".utf8.contains(sign) else { return nil }
        }
        var index = position + 1
        guard index < bytes.count, !" \t/".utf8.contains(bytes[index]) else { return nil }
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            if bytes[index] == UInt8(ascii: "/") { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private func hasHashes(_ count: Int, at offset: Int) -> Bool { (0..<count).allSatisfy { peek(offset + $0) == UInt8(ascii: "#") } }

    private mutating func skipString(hashes: Int) {
        let quote = UInt8(ascii: "\"")
        let isLong = peek(1) == quote && peek(2) == quote
        position += isLong ? 3 : 1
        while position < bytes.count {
            if peek() == UInt8(ascii: "\\"), hasHashes(hashes, at: 1) {
                position += 1 + hashes
                if peek() == UInt8(ascii: "(") { skipInterpolation() } else { advance() }
            } else if peek() == quote, !isLong || peek(1) == quote && peek(2) == quote, hasHashes(hashes, at: isLong ? 3 : 1) {
                position += (isLong ? 3 : 1) + hashes
                return
            } else if !isLong, peek() == UInt8(ascii: "\n") {
                return
            } else {
                advance()
            }
        }
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            switch peek() {
            case UInt8(ascii: "("): depth += 1; position += 1
            case UInt8(ascii: ")"): depth -= 1; position += 1
            case UInt8(ascii: "\""): skipString(hashes: 0)
            default: advance()
            }
        } while depth > 0 && position < bytes.count
    }
}
