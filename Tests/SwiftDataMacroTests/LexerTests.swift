import HeartwoodSwiftText
import Testing

@Suite struct LexerTests {
    private func tokens(_ source: String) -> [String] {
        let text = SwiftText(source)
        return text.tokens.map { text.string($0.range) }
    }

    @Test
    func `Comments are spaces, and nest`() {
        #expect(tokens("a // b\nc /* d /* e */ f */ g") == ["a", "c", "g"])
        #expect(tokens("a /* b") == ["a"])
        let text = SwiftText("a /* \n */ b\nc")
        #expect(text.tokens.map(\.line) == [1, 2, 3])
        #expect(text.tokens.map(\.startsLine) == [true, true, true])
    }

    @Test(arguments: [
        #""a\"b""#, #""a\(f("}", 1) + "\(2)")b""#, ##"#"a"b\"#"##, ##"#"a\#("c")"#"##, "\"\"\"\n a \"b\" \"\"c\n \"\"\"", ##""\(#"a"b"#)""##, #""""#,
    ])
    func `A string is one token`(_ source: String) {
        #expect(tokens("x " + source + " y") == ["x", source, "y"])
        #expect(SwiftText("x " + source).tokens.last?.kind == .string)
    }

    @Test
    func `A slash opens a regular expression where an operand is expected`() {
        #expect(tokens("x = /a}b\\/c/ }") == ["x", "=", "/a}b\\/c/", "}"])
        #expect(tokens("x = a / b / c") == ["x", "=", "a", "/", "b", "/", "c"])
        #expect(tokens("x = #/a}b/c/# }") == ["x", "=", "#/a}b/c/#", "}"])
        #expect(tokens("f(1)/2/g") == ["f", "(", "1", ")", "/", "2", "/", "g"])
        #expect(tokens("return /}/") == ["return", "/}/"])
    }

    @Test
    func `Names in backticks are no keywords`() {
        let text = SwiftText("`class` class `two words`")
        #expect(text.tokens.map(\.kind) == [.quotedWord, .word, .quotedWord])
        #expect(text.word(0) == "" && text.word(1) == "class")
        #expect(tokens("`a\nb") == ["`", "a", "b"])
    }

    @Test(arguments: ["", "\"", "\"\"\"", "#\"", "\"\\(", "\"\\(\"\\(", "/*", "`", "#", "##", "@", "#/", "#/\n", "\\", "\u{0}", "/", "\"\\", "(", "}", "{(}"])
    func `Text that ends too early is read to its end`(_ source: String) {
        let text = SwiftText(source)
        #expect(text.tokens.allSatisfy { $0.start < $0.end && $0.end <= source.utf8.count })
        for index in 0..<text.count { #expect(text.afterClosing(index) > index && text.afterClosing(index) <= text.count) }
    }

    @Test
    func `A brace closes what is open inside of it`() {
        let text = SwiftText("{ ( [ } a")
        #expect((0..<text.count).map(text.afterClosing) == [4, 3, 3, 4, 5])
    }

    @Test
    func `Bytes that are no UTF-8 are words`() {
        let text = SwiftText(bytes: [0xFF, 0xC0, 0x20, 0x61])
        #expect(text.tokens.map(\.kind) == [.word, .word])
    }
}
