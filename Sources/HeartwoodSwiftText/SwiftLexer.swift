/// Splits Swift text into tokens. It reads any bytes to their end: an unclosed comment or literal goes to the end of the text or of its line.
/// The cost is linear in the text, and nothing recurses.
package struct SwiftLexer {
    let bytes: [UInt8]
    var position = 0
    var line = 1
    private var startsLine = true
    private var followsSpace = false
    /// The last token's kind, and its last byte, tell a division from a regular expression.
    private(set) var last: SwiftToken?
    /// The code of the last string's interpolations, and the lines where it begins. Code of an interpolation inside of one has no entry of its own.
    package internal(set) var interpolations: [(range: Range<Int>, line: Int)] = []

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the next token; nil at the end.
    package mutating func next() -> SwiftToken? {
        skipSpace()
        guard position < bytes.count else { return nil }
        let (start, startLine) = (position, line)
        let kind = take()
        let token = SwiftToken(
            kind: kind, startsLine: startsLine, followsSpace: followsSpace, start: start, end: min(position, bytes.count), line: startLine)
        (startsLine, followsSpace, last) = (false, false, token)
        return token
    }

    func peek(_ offset: Int = 0) -> UInt8 { position + offset < bytes.count ? bytes[position + offset] : 0 }

    package static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...0xFF:
            return true
        default: return false
        }
    }

    /// Goes one byte on and counts lines.
    mutating func advance() {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                startsLine = true
                advance()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0: position += 1
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n"), bytes[position] != UInt8(ascii: "\r") { position += 1 }
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"): skipComment()
            default: return
            }
            followsSpace = true
        }
    }

    private mutating func skipComment() {
        let first = line
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
        if line != first { startsLine = true }
    }

    private mutating func take() -> SwiftToken.Kind {
        switch bytes[position] {
        case UInt8(ascii: "\""):
            skipString(hashes: 0)
            return .string
        case UInt8(ascii: "#"): return takeHash()
        case UInt8(ascii: "/"):
            guard let end = patternEnd else { break }
            position = end
            return .pattern
        case UInt8(ascii: "`"):
            guard let end = quotedWordEnd else { break }
            position = end
            return .quotedWord
        case UInt8(ascii: "@"):
            position += 1
            skipWord()
            return .attribute
        case let byte where Self.isWord(byte):
            skipWord()
            return .word
        default: break
        }
        position += 1
        return .sign
    }

    private mutating func skipWord() {
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
    }

    /// Takes a raw string, a regular expression in `#/…/#`, a directive, or the run of signs.
    private mutating func takeHash() -> SwiftToken.Kind {
        var hashes = 0
        while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
        switch peek(hashes) {
        case UInt8(ascii: "\""):
            position += hashes
            skipString(hashes: hashes)
            return .string
        case UInt8(ascii: "/"):
            guard skipRawPattern(hashes: hashes) else { break }
            return .pattern
        case let byte where hashes == 1 && Self.isWord(byte):
            position += 1
            skipWord()
            return .directive
        default: break
        }
        position += hashes
        return .sign
    }

    /// The end of a word in backticks that starts here; nil where its line has no second backtick.
    private var quotedWordEnd: Int? {
        var index = position + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n"), bytes[index] != UInt8(ascii: "\r") {
            if bytes[index] == UInt8(ascii: "`") { return index > position + 1 ? index + 1 : nil }
            index += 1
        }
        return nil
    }
}
