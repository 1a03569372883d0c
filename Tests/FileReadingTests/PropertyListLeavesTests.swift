import Foundation
import HeartwoodFileReading
import Testing

@Suite struct PropertyListLeavesTests {
    typealias Format = PropertyListSerialization.PropertyListFormat

    @Test(arguments: [Format.binary, .xml])
    func `Texts and data are found by their keys, in XML and in binary lists`(format: Format) throws {
        let list: [String: Any] = [
            "name": "One", "empty": [String: Any](), "number": 3, "list": ["a", ["b": "c"]] as [Any],
            "hashes": ["One": ["A": Data([1, 2]), "B": Data()], "Two": [String: Data]()],
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
        #expect(PropertyListLeaves.read(data) == [
            ["name"]: .text("One"), ["hashes", "One", "A"]: .data(Data([1, 2])), ["hashes", "One", "B"]: .data(Data()),
        ])
    }

    @Test
    func `Bytes that are no list with a dictionary give nothing`() {
        for text in ["", " ", "bplist00", "<", "<plist/>", "<plist><string>a</string></plist>", "((((", "<plist><dict>"] {
            #expect(PropertyListLeaves.read(Data(text.utf8)) == nil && PropertyListLeaves.texts(Data(text.utf8)) == nil, "\(text)")
        }
        // Nine levels are one too many.
        let nested = String(repeating: "<dict><key>a</key>", count: 9) + String(repeating: "</dict>", count: 9)
        #expect(PropertyListLeaves.read(Data("<plist>\(nested)</plist>".utf8)) == nil)
    }
}
