/// Changes a file's bytes as accidents and attackers do: flipped bits, bytes that no text has, pieces cut out, doubled or taken from another file,
/// values at the ends of their types, and markup that is nested, long or wide.
package struct FileMutator {
    package var random: SeededGenerator
    /// Pieces of other files for insertion.
    private let samples: [[UInt8]]

    private static let bytes: [UInt8] = [0x00, 0x01, 0x1F, 0x22, 0x26, 0x27, 0x3C, 0x3D, 0x3E, 0x7F, 0x80, 0xC0, 0xE2, 0xED, 0xF4, 0xFE, 0xFF]
    private static let values = [
        "", "0", "-0", "-1", "1", "65536", "99999999999999999999", "-9223372036854775808", "9223372036854775807", "1e400", "nan", "inf", "0x10",
        "YES", "NO", "A", "name", "\u{FEFF}", "\u{2028}", "&#0;", "&#xFFFF;", "&#xD800;", "&lt;", "a.b.c", "@count", "SELF", "(", "((((((((((",
        "Composite", "Transformable", "Undefined", "Binary",
    ]
    private static let words = [
        "<!ENTITY a 'b'>", "<!DOCTYPE m>", "<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>", "&a;", "]]>", "<![CDATA[", "<!--", "-->",
        "<?x?>",
        "<?xml version='1.0' encoding='UTF-16'?>", "<?xml version=\"1.0\" encoding=\"latin1\"?>", "xmlns:a=\"b\"", "a:b", "\u{FEFF}", "<model>",
        "</model>",
        "<entity name=\"A\">", "</entity>", "<dict>", "<array>", "<key>k</key>", "</plist>",
    ]

    package init(seed: UInt64, samples: [[UInt8]]) {
        random = SeededGenerator(seed: seed)
        self.samples = samples
    }

    /// The file with one to four changes.
    package mutating func mutated(_ file: [UInt8]) -> [UInt8] {
        var result = file
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&result) }
        return result
    }

    private mutating func offset(_ file: [UInt8]) -> Int { Int.random(in: 0...file.count, using: &random) }

    private mutating func range(_ file: [UInt8], most: Int) -> Range<Int> {
        let start = offset(file)
        return start..<min(file.count, start + Int.random(in: 0...most, using: &random))
    }

    private mutating func change(_ file: inout [UInt8]) {
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1:
            guard !file.isEmpty else { return }
            file[Int.random(in: 0..<file.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2, 3:
            guard !file.isEmpty, let byte = Self.bytes.randomElement(using: &random) else { return }
            file[Int.random(in: 0..<file.count, using: &random)] = byte
        case 4:
            guard let byte = Self.bytes.randomElement(using: &random) else { return }
            file.insert(byte, at: offset(file))
        case 5: file.removeSubrange(range(file, most: 60))
        case 6:
            let piece = Array(file[range(file, most: 400)])
            file.insert(contentsOf: piece, at: offset(file))
        case 7: file.removeSubrange(offset(file)...)
        case 8:
            guard let sample = samples.randomElement(using: &random) else { return }
            file.insert(contentsOf: sample[range(sample, most: 300)], at: offset(file))
        case 9...12: changeValue(&file)
        case 13: file.insert(contentsOf: Array((Self.words.randomElement(using: &random) ?? "").utf8), at: offset(file))
        case 14: insertMarkup(&file)
        default: file.reverse(range(file, most: 8))
        }
    }

    /// Replaces the text between two quotes.
    private mutating func changeValue(_ file: inout [UInt8]) {
        let start = offset(file)
        guard let open = file[start...].firstIndex(of: 0x22), let end = file[(open + 1)...].firstIndex(of: 0x22) else { return }
        file.replaceSubrange(open + 1..<end, with: Array((Self.values.randomElement(using: &random) ?? "").utf8))
    }

    private mutating func insertMarkup(_ file: inout [UInt8]) {
        let count = [3, 100, 300, 2000].randomElement(using: &random) ?? 3
        let text: String
        switch Int.random(in: 0..<5, using: &random) {
        case 0: text = String(repeating: "<a>", count: count)
        case 1: text = String(repeating: "<array>", count: count) + String(repeating: "</array>", count: count)
        case 2: text = "<a b=\"" + String(repeating: "c", count: count * 100) + "\"/>"
        case 3: text = "<a " + (0..<count).map { "b\($0)=\"\" " }.joined() + "/>"
        default: text = String(repeating: "(", count: count)
        }
        // Mostly at a position where an element may stand.
        let start = offset(file)
        let at = file[start...].firstIndex(of: 0x3C) ?? start
        file.insert(contentsOf: Array(text.utf8), at: at)
    }
}

extension Array where Element == UInt8 {
    fileprivate mutating func reverse(_ range: Range<Int>) { self[range].reverse() }
}
