import Foundation
import HeartwoodFileReading
import Testing

@testable import Heartwood

/// XML files that would stop a parser, or exhaust its time and memory.
@Suite struct HostileModelTests {
    private func refusal(_ bytes: some Sequence<UInt8>, sourceLocation: SourceLocation = #_sourceLocation) -> String {
        let data = Data(bytes)
        let texts = [
            #expect(throws: (any Error).self, sourceLocation: sourceLocation) { try ModelFileParser(data: data, path: "contents").parse() },
            #expect(throws: (any Error).self, sourceLocation: sourceLocation) { try MappingFileParser(data: data, path: "contents").parse() },
        ].map { ($0 as NSError?)?.localizedDescription ?? "" }
        #expect(PropertyListLeaves.texts(data) == nil, sourceLocation: sourceLocation)
        return texts.joined(separator: "\n")
    }

    @Test
    func `A byte that is no UTF-8 is refused with its line and column, wherever it stands`() {
        for (before, after) in [
            ("<mod", "el/>"), ("<model ", "a='b'/>"), ("<model a='", "'/>"), ("<model>", "</model>"), ("<model><!--", "--></model>"),
            ("<model/>", ""), ("<?", "?><model/>"),
        ] {
            for bytes: [UInt8] in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xF8]] {
                let text = refusal(Array("\n\u{E4}".utf8) + before.utf8 + bytes + after.utf8)
                #expect(
                    text.contains("contents:2:\(before.count + 2): is not in UTF-8") && text.contains("line 2, column \(before.count + 2)"),
                    "\(text)")
            }
        }
        #expect(refusal(Array("<model>\0</model>".utf8)).contains("zero byte"))
    }

    @Test
    func `A file that says it is in another encoding is refused, however it says so`() {
        for declaration in [
            "<?xml version=\"1.0\" encoding=\"UTF-16\"?>", "<?xml version='1.0' encoding='latin1'?>",
            "\u{FEFF}<?xml version='1.0' encoding='EBCDIC-US' ?>",
            "<?xml version='1.0'\(String(repeating: " ", count: 300))encoding='UTF-7'?>", "<?xml version='encoding=utf-8' encoding='UTF-7'?>",
            "<?xml version='1.0'\(String(repeating: " ", count: 3000))encoding='UTF-8'?>", "<?xml encoding='UTF-8'?>",
        ] {
            let text = refusal("\(declaration)<model/>".utf8)
            #expect(text.contains("is not in UTF-8") || text.contains("declaration that cannot be read"), "\(declaration): \(text)")
        }
        for utf16 in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
            #expect(refusal("<model/>".data(using: utf16) ?? Data()).contains("is not in UTF-8"))
        }
    }

    @Test
    func `Entities, deep nesting, wide elements and long tags are refused before a parser sees them`() {
        #expect(refusal("<!DOCTYPE m [<!ENTITY a 'a'>]><model>&a;</model>".utf8).contains("declares XML entities"))
        let deep = String(repeating: "<a>", count: 20_000)
        #expect(refusal("<model>\(deep)".utf8).contains("nested more than"))
        #expect(refusal("<model>\(deep)\(String(repeating: "</a>", count: 20_000))</model>".utf8).contains("nested more than"))
        #expect(refusal("<plist><dict><key>a</key>\(String(repeating: "<array>", count: 20_000))".utf8).contains("nested more than"))
        let wide = (0..<2000).map { "a\($0)='' " }.joined()
        #expect(refusal("<model \(wide)/>".utf8).contains("more than 1000 attributes"))
        #expect(refusal("<model a='\(String(repeating: "b", count: 9 << 20))'/>".utf8).contains("more than 8 MiB"))
        // The content of comments and texts does not count.
        let plain = "<?xml version='1.0' encoding='us-ascii'?><model><!-- \(deep) --><![CDATA[\(deep)]]></model>"
        #expect((try? ModelFileParser(data: Data(plain.utf8), path: "contents").parse().entities.count) == 0)
    }

    /// Foundation's parser ended the process over them; a mutated model found this.
    @Test
    func `A processing instruction without data is refused, and one with data is passed over`() {
        for text in [
            "<model><?a?></model>", "<?a?><model/>", "<model/><?a ?>", "<?xml version='1.0'?><model><?a\n?></model>", "<model><? ?></model>",
            "<model><?a"]
        {
            #expect(refusal(text.utf8).contains("processing instruction without data"), "\(text)")
        }
        let plain = "<?xml version='1.0'?><?a b?><model><?c d='e'?></model>"
        #expect((try? ModelFileParser(data: Data(plain.utf8), path: "contents").parse().entities.count) == 0)
    }

    @Test
    func `A binary property list that is in itself, or nested without end, is refused`() throws {
        // An array with one object, which is itself.
        let cycle: [UInt8] = Array("bplist00".utf8) + [0xA1, 0x00, 0x08] + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
            + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
        let error = #expect(throws: (any Error).self) { try RecordLogMetadata.decode(Data(cycle)) } as? NSError
        #expect(error?.localizedDescription.contains("nested too deep") == true)
        var deep: Any = "text"
        for _ in 0..<100 { deep = [deep] }
        let nested = try PropertyListSerialization.data(fromPropertyList: ["a": deep, "b": "text"], format: .binary, options: 0)
        #expect(throws: (any Error).self) { try RecordLogMetadata.decode(nested) }
        #expect(PropertyListLeaves.texts(nested) == ["b": "text"])
        let good = try PropertyListSerialization.data(fromPropertyList: ["a": ["b": [1, 2]]], format: .binary, options: 0)
        #expect(try RecordLogMetadata.decode(good).keys.sorted() == ["a"])
    }

    @Test
    func `The texts of a property list are those of its outermost dictionary`() {
        let list = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE plist PUBLIC \"a\" \"b\"><plist version=\"1.0\"><dict><key>a&amp;</key>"
            + "<string>x &lt; y</string><key>n</key><integer>1</integer><string>stray</string><key>d</key><dict><key>z</key><string>no</string></dict></dict></plist>"
        #expect(PropertyListLeaves.texts(Data(list.utf8)) == ["a&": "x < y"])
        #expect(PropertyListLeaves.texts(Data("<plist><array/></plist>".utf8)) == nil && PropertyListLeaves.texts(Data("hello".utf8)) == nil)
        #expect(PropertyListLeaves.texts(Data("<plist><dict/></plist>".utf8)) == [:])
    }
}
