import Foundation

extension XMLReader {
    /// The text up to the next tag; nil for white space outside of the root element.
    mutating func text() throws(Fault) -> String? {
        let start = at, end = offset(of: UInt8(ascii: "<")) ?? bytes.count
        guard isInElement else {
            while at < end, Self.isSpace(bytes[at]) { at += 1 }
            guard at == end else { throw fault("has text beside its root element") }
            return nil
        }
        // The white space between two tags is most of the texts.
        var space = start
        while space < end, Self.isSpace(bytes[space]), bytes[space] != 0x0D { space += 1 }
        let text = space == end ? plain(start..<end) : try value(start..<end, isAttribute: false)
        at = end
        return text
    }

    /// The value of a text or an attribute, with its references replaced.
    func value(_ range: Range<Int>, isAttribute: Bool) throws(Fault) -> String {
        if isPlain(range) { return plain(range) }
        var result = "", from = range.lowerBound, at = from
        while at < range.upperBound {
            switch bytes[at] {
            case UInt8(ascii: "&"):
                result += try string(from..<at)
                let (text, end) = try reference(at, in: range)
                result += text
                (from, at) = (end, end)
                continue
            case UInt8(ascii: "<") where isAttribute: throw fault("has a < in an attribute", at: at)
            case UInt8(ascii: "]") where !isAttribute && bytes[at..<range.upperBound].starts(with: "]]>".utf8):
                throw fault("has a ]]> in a text", at: at)
            case 0x09 where isAttribute, 0x0A where isAttribute, 0x0D where isAttribute:
                result += try string(from..<at) + " "
                // A carriage return and the line feed behind it are one line's end.
                if bytes[at] == 0x0D, at + 1 < range.upperBound, bytes[at + 1] == 0x0A { at += 1 }
                from = at + 1
            default: break
            }
            at += 1
        }
        return try result + string(from..<range.upperBound)
    }

    /// The text that a reference stands for, and the offset behind it.
    private func reference(_ start: Int, in range: Range<Int>) throws(Fault) -> (text: String, end: Int) {
        guard let end = bytes[start..<range.upperBound].prefix(16).firstIndex(of: UInt8(ascii: ";")) else {
            throw fault("has an unknown reference", at: start)
        }
        let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        if let text = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"][name] { return (text, end + 1) }
        let isHex = name.hasPrefix("#x"), digits = name.dropFirst(isHex ? 2 : 1)
        guard name.hasPrefix("#"), digits.first?.isHexDigit == true, let number = UInt32(digits, radix: isHex ? 16 : 10),
            let scalar = UnicodeScalar(number), takesAllCharacters || Self.isCharacter(scalar)
        else { throw fault("has an unknown reference", at: start) }
        return (String(Character(scalar)), end + 1)
    }

    /// Whether a range has no character that a text or an attribute could have to check or replace. Most ranges are so.
    private func isPlain(_ range: Range<Int>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var at = range.lowerBound
            // Eight bytes at a time, also for the sake of a build without optimisation.
            while at <= range.upperBound - 8 {
                guard Self.isPlain(bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)) else { return false }
                at += 8
            }
            var rest: UInt64 = 0x2020_2020_2020_2020
            for byte in bytes[at..<range.upperBound] { rest = rest << 8 | UInt64(byte) }
            return Self.isPlain(rest)
        }
    }

    /// Whether eight bytes are ASCII without controls, `&`, `<` and `]`.
    private static func isPlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101, tops: UInt64 = 0x8080_8080_8080_8080
        // A byte of zero borrows from its top bit. Source: S. E. Anderson, "Bit Twiddling Hacks", "Determine if a word has a zero byte".
        func zero(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let controls = (word &- 0x20 &* ones) & ~word
        let marks = zero(word ^ 0x26 &* ones) | zero(word ^ 0x3C &* ones) | zero(word ^ 0x5D &* ones)
        return (word | controls | marks) & tops == 0
    }

    private func plain(_ range: Range<Int>) -> String {
        bytes.withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    /// The characters of a range, with one line feed for each line's end.
    func string(_ range: Range<Int>) throws(Fault) -> String {
        if isPlain(range) { return plain(range) }
        var hasReturn = false, wrong: Int?
        bytes.withUnsafeBytes { bytes in
            for at in range {
                let byte = bytes[at]
                if byte < 0x20, byte != 0x09, byte != 0x0A {
                    if byte == 0x0D { hasReturn = true } else { wrong = wrong ?? at }
                } else if byte == 0xEF, bytes[at + 1] == 0xBF, bytes[at + 2] >= 0xBE {
                    // U+FFFE and U+FFFF.
                    wrong = wrong ?? at
                }
            }
        }
        if let wrong, !takesAllCharacters { throw fault("has a character that XML does not have", at: wrong) }
        guard hasReturn else { return plain(range) }
        var scalars = String.UnicodeScalarView(), previous: UnicodeScalar = "\n"
        for scalar in plain(range).unicodeScalars {
            if scalar != "\n" || previous != "\r" { scalars.append(scalar == "\r" ? "\n" : scalar) }
            previous = scalar
        }
        return String(scalars)
    }

    private static func isCharacter(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    // MARK: Names

    mutating func name() throws(Fault) -> String {
        let start = at
        while at < bytes.count, bytes[at] >= 0x80 || Self.isNameByte(bytes[at]) { at += 1 }
        let name = plain(start..<at)
        if isPlain(start..<at), at > start, Self.startsName(UnicodeScalar(bytes[start])) { return name }
        guard let first = name.unicodeScalars.first, Self.startsName(first), name.unicodeScalars.allSatisfy(Self.isInName) else {
            throw fault("has a tag or an attribute without a name", at: start)
        }
        return name
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Source: the productions 4 and 4a.
    private static func startsName(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0x3A, 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D,
            0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        default: false
        }
    }

    private static func isInName(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: startsName(scalar)
        }
    }
}
