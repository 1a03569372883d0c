import Foundation
@testable import HeartwoodSwiftDataExpansions
import Testing

@Suite struct MessageTests {
    private func parse(_ json: String) -> Message? { Message(Array(json.utf8)) }

    @Test
    func `Members are found by their keys at any depth`() throws {
        let message = try #require(parse(#" {"x":{"a":[1,{"b":"}"}],"b\"":1},"a":{"b":" c","n":-12}, "z":null} "#))
        #expect(message["a"]?["b"]?.string == " c")
        #expect(message["a"]?["n"]?.integer == -12)
        #expect(message["z"] == nil && message["b"] == nil && message["a"]?["b"]?["c"] == nil && message["x"]?.string == nil)
    }

    @Test
    func `Escapes are resolved`() throws {
        let text = try #require(parse(#"{"a":"q\"\\\/\n\t\r\b\fé\u00e9\ud83d\ude00"}"#))["a"]?.string
        #expect(text == "q\"\\/\n\t\r\u{8}\u{C}éé😀")
        for broken in [#"\ud83d"#, #"\ude00"#, #"\ud83dx"#, #"\u12"#, #"\uZZZZ"#, #"\ud83d\u0041"#] {
            #expect(parse("{\"a\":\"\(broken)\"}")?["a"]?.string?.contains("\u{FFFD}") == true, "\(broken)")
        }
        #expect(Message([UInt8]("{\"a\":\"".utf8) + [0xFF, 0xC0] + "\"}".utf8)?["a"]?.string == "\u{FFFD}\u{FFFD}")
    }

    @Test(arguments: [
        "", " ", "{", "}", "[]", "1", "null", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":[}", "{\"a\":]}", "{\"a\":1}}", "{\"a\\\"}", "{\"a\":\"\\\"}", "x{}",
    ])
    func `A broken message is none`(_ json: String) {
        #expect(parse(json)?["a"] == nil)
    }

    @Test(arguments: ["{}", "{\"expandAttachedMacro\":1}", "{\"expandAttachedMacro\":{}}", "{\"expandFreestandingMacro\":[]}", "{\"unknown\":{}}",
        "{\"expandAttachedMacro\":{\"declSyntax\":{\"source\":\"class A {\",\"location\":{\"offset\":99999999999999999999}}}}", "{\"a\" 1}", "{1:2}", "{\"a\":}"])
    func `A message that the plugin does not know gets an answer`(_ json: String) {
        if let message = parse(json) { #expect(Message(Plugin.answer(to: message))?["expandMacroResult"] != nil) }
    }

    @Test
    func `A deeply nested message takes no stack`() {
        let depth = 1_000_000
        #expect(parse("{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + ",\"b\":\"c\"}")?["b"]?.string == "c")
    }

    @Test
    func `The plugin says which protocol it speaks`() throws {
        let answer = Plugin.answer(to: try #require(parse("{\"getCapability\":{\"capability\":{\"protocolVersion\":7}}}")))
        #expect(Message(answer)?["getCapabilityResult"]?["capability"]?["protocolVersion"]?.integer == 7)
    }

    // MARK: The channel

    private func read(_ bytes: [UInt8]) throws -> [[UInt8]] {
        let pipe = Pipe()
        let channel = MessageChannel(input: pipe.fileHandleForReading.fileDescriptor, output: -1)
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try pipe.fileHandleForWriting.close()
        // The channel has the number of the pipe's file alone, and the pipe closes the file with its last reference.
        return withExtendedLifetime(pipe) {
            var messages: [[UInt8]] = []
            while let message = channel.next() { messages.append(message) }
            return messages
        }
    }

    @Test
    func `Messages are read by their lengths`() throws {
        #expect(try read([2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0]) == [[1, 2], []])
    }

    @Test(arguments: [[], [1], [5, 0, 0, 0, 0, 0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0, 0, 0, 0x40, 0, 0, 0, 0, 1]] as [[UInt8]])
    func `A message that is cut off, or longer than any, ends the plugin`(_ bytes: [UInt8]) throws {
        #expect(try read(bytes) == [])
    }

    @Test
    func `An answer has its length before it`() throws {
        let pipe = Pipe()
        let channel = MessageChannel(input: -1, output: pipe.fileHandleForWriting.fileDescriptor)
        #expect(channel.send([7, 8]))
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd().map(Array.init) == [2, 0, 0, 0, 0, 0, 0, 0, 7, 8])
        #expect(!MessageChannel(input: -1, output: -1).send([1]), "a closed file is no trap")
    }
}
