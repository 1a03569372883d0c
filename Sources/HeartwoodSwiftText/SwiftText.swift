/// Swift text with its tokens, and for each bracket the one that closes it.
package struct SwiftText: Sendable {
    package let bytes: [UInt8]
    package let tokens: [SwiftToken]
    /// For an opening bracket the token that closes it: its partner, or the brace or the end that cuts it off. Otherwise the token itself.
    private let closings: [Int]

    package init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
        var lexer = SwiftLexer(bytes)
        var tokens: [SwiftToken] = []
        tokens.reserveCapacity(bytes.count / 5)
        while let token = lexer.next() { tokens.append(token) }
        self.tokens = tokens
        closings = Self.closings(of: tokens, in: bytes)
    }

    private static func closings(of tokens: [SwiftToken], in bytes: [UInt8]) -> [Int] {
        var closings = [Int](repeating: 0, count: tokens.count)
        var open: [(index: Int, closer: UInt8)] = []
        var braces = 0
        for index in 0..<tokens.count {
            closings[index] = index
            guard tokens[index].kind == .sign else { continue }
            let byte = bytes[tokens[index].start]
            switch byte {
            case UInt8(ascii: "("): open.append((index, UInt8(ascii: ")")))
            case UInt8(ascii: "["): open.append((index, UInt8(ascii: "]")))
            case UInt8(ascii: "{"):
                open.append((index, UInt8(ascii: "}")))
                braces += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"):
                if let last = open.last, last.closer == byte {
                    closings[last.index] = index
                    open.removeLast()
                }
            case UInt8(ascii: "}") where braces > 0:
                // A brace closes also what is open inside of it.
                while let last = open.popLast() {
                    closings[last.index] = index
                    if last.closer == byte { break }
                }
                braces -= 1
            default: break
            }
        }
        for (index, _) in open { closings[index] = tokens.count }
        return closings
    }

    // MARK: Tokens

    package var count: Int { tokens.count }

    package func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The token's text; empty at the end.
    package func text(_ index: Int) -> String { index < tokens.count ? string(tokens[index].range) : "" }

    /// The token's text where it is a word without backticks: only such a one is a keyword.
    package func word(_ index: Int) -> String { index < tokens.count && tokens[index].kind == .word ? string(tokens[index].range) : "" }

    package func isSign(_ index: Int, _ sign: Unicode.Scalar) -> Bool {
        index >= 0 && index < tokens.count && tokens[index].kind == .sign && UInt32(bytes[tokens[index].start]) == sign.value
    }

    /// The sign's byte; 0 for another token.
    package func sign(_ index: Int) -> UInt8 {
        index >= 0 && index < tokens.count && tokens[index].kind == .sign ? bytes[tokens[index].start] : 0
    }

    package func isName(_ index: Int) -> Bool {
        guard index < tokens.count else { return false }
        switch tokens[index].kind {
        case .quotedWord: return true
        case .word: return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[tokens[index].start])
        default: return false
        }
    }

    /// The index after the bracket that closes the one at an index; after any other token, the next.
    package func afterClosing(_ index: Int) -> Int {
        guard index < closings.count else { return tokens.count }
        let closing = closings[index]
        guard closing != index else { return index + 1 }
        guard closing < tokens.count else { return tokens.count }
        // A brace that cuts off a parenthesis belongs to an outer one.
        return sign(index) == UInt8(ascii: "{") || sign(closing) != UInt8(ascii: "}") ? closing + 1 : closing
    }

    /// The bytes between an opening bracket and the one that closes it, with their comments.
    package func inside(_ index: Int) -> Range<Int> {
        let closing = closings[index]
        return tokens[index].end..<(closing < tokens.count ? tokens[closing].start : bytes.count)
    }

    /// The closing bracket of an opening one; the count of tokens where the text ends before.
    package func closing(of index: Int) -> Int { closings[index] }

    /// The bytes of tokens, with the spaces and comments between them.
    package func range(_ range: Range<Int>) -> Range<Int> {
        guard range.lowerBound < tokens.count, !range.isEmpty else { return bytes.count..<bytes.count }
        return tokens[range.lowerBound].start..<tokens[range.upperBound - 1].end
    }
}
