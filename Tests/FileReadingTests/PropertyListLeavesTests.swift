import FileReading
import Foundation
import Testing

@Suite struct PropertyListLeavesTests {
    @Test("Texts and data are found by their keys, in XML and in binary lists", arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func leaves(format: PropertyListSerialization.PropertyListFormat) throws {
        let list: [String: Any] = [
            "name": "One", "empty": [String: Any](), "number": 3, "list": ["a", ["b": "c"]] as [Any],
            "hashes": ["One": ["A": Data([1, 2]), "B": Data()], "Two": [String: Data]()],
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
        #expect(PropertyListLeaves.read(data) == [
            ["name"]: .text("One"), ["hashes", "One", "A"]: .data(Data([1, 2])), ["hashes", "One", "B"]: .data(Data()),
        ])
    }

    @Test("Bytes that are no list with a dictionary give nothing")
    func whatIsNoList() {
        let nested = String(repeating: "<dict><key>a</key>", count: 9) + String(repeating: "</dict>", count: 9)
        for text in ["", " ", "bplist00", "<", "<plist/>", "<plist><string>a</string></plist>", "((((", "<plist><dict>", "<plist>\(nested)</plist>"] {
            #expect(PropertyListLeaves.read(Data(text.utf8)) == nil, "\(text)")
            if !text.hasPrefix("<plist><dict><key>") { #expect(PropertyListTexts.read(Data(text.utf8)) == nil, "\(text)") }
        }
    }
}
