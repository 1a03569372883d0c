import HeartwoodSwiftText

/// The identifiers and punctuation of a Swift source. Comments, numbers and the texts of literals are left out; interpolations stay.
struct SwiftTokens {
    struct Token {
        let text: String
        let line: Int
        /// Whether a dot comes just before.
        let isMember: Bool
    }

    private(set) var list: [Token] = []

    init(_ source: [UInt8]) {
        add(source, from: 1)
    }

    private mutating func add(_ bytes: [UInt8], from firstLine: Int) {
        var lexer = SwiftLexer(bytes)
        while let token = lexer.next() {
            let line = token.line + firstLine - 1
            switch token.kind {
            case .word: add(bytes, token.range, line)
            case .quotedWord: add(bytes, token.start + 1..<token.end - 1, line)
            case .attribute, .directive:
                add(bytes, token.start..<token.start + 1, line)
                add(bytes, token.start + 1..<token.end, line)
            case .string:
                for code in lexer.interpolations { add(Array(bytes[code.range]), from: code.line + firstLine - 1) }
            case .pattern: break
            case .sign: for index in token.range { add(bytes, index..<index + 1, line) }
            }
        }
    }

    private mutating func add(_ bytes: [UInt8], _ range: Range<Int>, _ line: Int) {
        guard let first = bytes[range].first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return }
        let dot = UInt8(ascii: ".")
        var before = range.lowerBound - 1
        if before >= 0, bytes[before] == UInt8(ascii: "`") { before -= 1 }
        // A range's two dots lead to no member.
        let isMember = before >= 0 && bytes[before] == dot && (before == 0 || bytes[before - 1] != dot)
        list.append(Token(text: String(decoding: bytes[range], as: UTF8.self), line: line, isMember: isMember))
    }
}
