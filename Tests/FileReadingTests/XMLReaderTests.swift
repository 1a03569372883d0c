import Foundation
import Testing

@testable import HeartwoodFileReading

@Suite struct XMLReaderTests {
    private typealias Event = XMLReader.Event

    private func events(_ text: String, mayHaveType: Bool = false) throws -> (events: [Event], lines: [Int]) {
        var reader = try XMLReader(Array(text.utf8), kind: "files", mayHaveType: mayHaveType), events: [Event] = [], lines: [Int] = []
        while let event = try reader.next() {
            events.append(event)
            lines.append(reader.line)
        }
        return (events, lines)
    }

    @Test
    func `Elements, attributes, texts and CDATA come in their order, with their lines; comments and instructions are passed over`() throws {
        let found = try events("""
            \u{FEFF}<?xml version="1.0" encoding='utf-8'?>
            <!-- <x> --><?pi data?>
            <a:b c='>"'
               d = "&lt;&#65;&#x1F600;"><e/>f &amp; g<![CDATA[<&]]></a:b
            >
            <!-- end -->

            """)
        #expect(found.events == [
            .start("a:b", ["c": ">\"", "d": "<A\u{1F600}"]), .start("e", [:]), .end("e"), .text("f & g"), .text("<&"), .end("a:b"),
        ])
        #expect(found.lines == [4, 4, 4, 4, 4, 5])
    }

    @Test
    func `Each line's end is one line feed in a text and a space in an attribute, and a reference is what it says`() throws {
        let found = try events("<a b='1\r\n2\r3\n4\t5&#10;6&#13;'>x\r\r\ny&#13;\n</a>").events
        #expect(found == [.start("a", ["b": "1 2 3 4 5\n6\r"]), .text("x\n\ny\r\n"), .end("a")])
    }

    @Test
    func `A document type is passed over where it may stand, and declares nothing`() throws {
        let plain = "<!DOCTYPE a PUBLIC \"-//>\" 'b' [<!-- ]> --> <!ELEMENT a (#PCDATA)>] ><a/>"
        #expect(try events(plain, mayHaveType: true).events == [.start("a", [:]), .end("a")])
        for (text, mayHaveType) in [(plain, false), ("<!DOCTYPE a [\n<!ENTITY b 'c'>]><a>&b;</a>", true), ("<a>\n<!ENTITY b 'c'></a>", true)] {
            let fault = #expect(throws: XMLReader.Fault.self) { try events(text, mayHaveType: mayHaveType) }
            #expect(fault?.isMalformed == false && fault?.reason.contains("declares XML entities") == true)
        }
    }

    @Test(arguments: [
            "", " ", "text", "<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a/>text", "</a>", "<a", "<a b='", "<>", "<a b/>", "<a b=c/>",
            "<a b='1' b='2'/>", "<a b='1'c='2'/>", "<a b='<'/>", "<a>&b;</a>", "<a>&amp</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#+65;</a>",
            "<a>&#1114112;</a>", "<a>]]></a>", "<a>\u{1}</a>", "<a>\u{FFFF}</a>", "<1/>", "<a -b='c'/>", "<a\u{D7}/>", "<!-- a -- b --><a/>",
            "<![CDATA[a]]><a/>", "<a><![CDATA[b</a>", "<a><!-- b</a>", " <?xml version='1.0'?><a/>", "<a>\n<!DOCTYPE b></a>",
        ])
    func `What is no XML is told as such`(text: String) throws {
        let fault = #expect(throws: XMLReader.Fault.self) { try events(text, mayHaveType: true) }
        #expect(fault?.isMalformed == true)
    }

    @Test
    func `A fault has the line and column where it is`() {
        let fault = #expect(throws: XMLReader.Fault.self) { try events("<a>\n\u{E9}&b;</a>") }
        #expect(fault?.line == 2 && fault?.column == 2)
        let deep = String(repeating: "<a>\n", count: 300)
        let refused = #expect(throws: XMLReader.Fault.self) { try events(deep) }
        #expect(refused?.line == XMLReader.depthMax + 1 && refused?.column == 1 && refused?.isMalformed == false)
    }

    @Test
    func `A reader of elements ends where it is told to`() throws {
        var names: [String] = []
        try XMLReader.elements(of: Data("<a>\n<b c='d'/><e/>".utf8), kind: "files", while: { names.count < 2 }) { name, values, line in
            names.append("\(name) \(values) \(line)")
        } end: { _ in }
        #expect(names == ["a [:] 1", "b [\"c\": \"d\"] 2"])
    }
}
