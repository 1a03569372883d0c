import Foundation
import Testing

@testable import Heartwood

/// The table of parsed formats.
@Suite struct FormatCacheTests {
    private func template(_ format: String) throws -> FormatTemplate {
        FormatTemplate(try PredicateParser.parse(format, arguments: [5]), argumentCount: 1)
    }

    @Test
    func `Each of the formats that fit is found with its own template, of any length; a format that was not kept is not found`() throws {
        let formats = FormatTable()
        var known: [(String, FormatTemplate)] = []
        for number in 0..<FormatTable.keptMax {
            // 26 formats of one length differ in the first letter alone; the others differ in length.
            let key = String(UnicodeScalar(UInt8(97 + number % 26))) + String(repeating: "k", count: number / 26 * 3), text = "\(key) == %@"
            let made = try template(text)
            #expect(formats.template(text) == nil, "\(text)")
            #expect(formats.keep(text, made))
            known.append((text, made))
        }
        for (text, made) in known { #expect(formats.template(text)?.read { $0 } === made, "\(text)") }
        for absent in ["", "a", "a == %", "a == %@ ", "A == %@", "unknown == %@"] { #expect(formats.template(absent) == nil, "\(absent)") }
        #expect(try !formats.keep("one == %@", template("one == %@")), "there is room for \(FormatTable.keptMax)")
        #expect(formats.template("one == %@") == nil)
    }

    @Test
    func `Formats that Swift takes for equal are kept apart by their bytes`() throws {
        let formats = FormatTable(), texts = ["k == \"\u{E9}\" OR k == %@", "k == \"e\u{301}\" OR k == %@"]
        #expect(texts[0] == texts[1])
        let made = try texts.map(template)
        #expect(formats.keep(texts[0], made[0]))
        #expect(formats.template(texts[1]) == nil)
        #expect(formats.keep(texts[1], made[1]))
        for (text, made) in zip(texts, made) { #expect(formats.template(text)?.read { $0 } === made) }
    }

    @Test
    func `A text of Foundation's is found too`() throws {
        let formats = FormatTable(), made = try template("name == %@")
        #expect(formats.keep("name == %@", made))
        let text = NSString(string: "name ").appending("== %@")
        #expect(formats.template(text)?.read { $0 } === made)
    }

    /// More formats than are kept for good, from several threads.
    @Test
    func `Any number of formats, used on several threads at once, give each its own tree`() async {
        let formats = FormatCache()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<1500).allSatisfy { number in
                        let key = "number\(number % 700)", format = "\(key) > %d"
                        formats.note(format, 1) { try PredicateParser.parse(format, arguments: $0) }
                        // Another thread may just have made room.
                        guard let tree = formats.tree(format, number) else { return true }
                        return PredicatePrinter.format(tree.node) == "\(key) > \(number)"
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(formats.tree("number0 > %d", 5) != nil, "the first formats stay")
    }
}
