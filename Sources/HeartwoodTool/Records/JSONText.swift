import Foundation
import Heartwood
import HeartwoodFileReading

/// Reads JSON (RFC 8259). It keeps numbers as they are written and texts character by character; Foundation's reader converts a number to a double
/// through a decimal, and drops byte order marks.
struct JSONText {
    /// A fault in the text and its position.
    struct Fault: Error {
        let reason: String
        /// The offset in bytes.
        let offset: Int
    }

    /// Records need three levels.
    private static let depthMax = 100

    private let bytes: UnsafeRawBufferPointer
    private var at = 0

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// - Throws: `Fault`.
    static func value(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> RecordValue {
        if let fault = UTF8Fault(in: bytes) { throw Fault(reason: fault.text, offset: fault.offset) }
        var reader = JSONText(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.at == bytes.count else { throw reader.fault("something follows the value") }
        return value
    }

    // MARK: Parts

    private func fault(_ reason: String) -> Fault { Fault(reason: at < bytes.count ? reason : "it ends too early", offset: at) }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    /// Skips this character if it comes next.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[at...].starts(with: wanted) else { return false }
        at += wanted.count
        return true
    }

    private mutating func value(depth: Int) throws(Fault) -> RecordValue {
        guard depth < Self.depthMax else { throw fault("it is nested more than \(Self.depthMax) deep") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .list(try list(depth: depth))
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t") where word("true"): return .bool(true)
        case UInt8(ascii: "f") where word("false"): return .bool(false)
        case UInt8(ascii: "n") where word("null"): return .null
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
        default: throw fault("no value begins like this")
        }
    }

    private mutating func object(depth: Int) throws(Fault) -> [NamedValue] {
        at += 1
        var members: [NamedValue] = []
        var names: Set<ExactText> = []
        skipSpace()
        if skip("}") { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault("a name in quotes is missing") }
            let start = at
            let name = try text()
            guard names.insert(ExactText(name)).inserted else {
                throw Fault(reason: "the name \"\(DisplayWidth.printable(String(name.prefix(60))))\" comes twice", offset: start)
            }
            skipSpace()
            guard skip(":") else { throw fault("a colon is missing") }
            members.append(NamedValue(name: name, value: try value(depth: depth + 1)))
            skipSpace()
            if skip("}") { return members }
            guard skip(",") else { throw fault("a comma or the object's end is missing") }
        }
    }

    private mutating func list(depth: Int) throws(Fault) -> [RecordValue] {
        at += 1
        var members: [RecordValue] = []
        skipSpace()
        if skip("]") { return members }
        while true {
            members.append(try value(depth: depth + 1))
            skipSpace()
            if skip("]") { return members }
            guard skip(",") else { throw fault("a comma or the list's end is missing") }
        }
    }

    private mutating func number() throws(Fault) -> JSONNumber {
        let start = at
        _ = skip("-")
        // No zero may stand before another digit.
        if !skip("0") { guard skipDigits() else { throw fault("a digit is missing") } }
        if skip(".") { guard skipDigits() else { throw fault("a digit is missing") } }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            guard skipDigits() else { throw fault("a digit is missing") }
        }
        return JSONNumber(text: String(decoding: bytes[start..<at], as: UTF8.self))
    }

    private mutating func skipDigits() -> Bool {
        let start = at
        while let byte = next, (0x30...0x39).contains(byte) { at += 1 }
        return at > start
    }

    // MARK: Texts

    private mutating func text() throws(Fault) -> String {
        at += 1
        var start = at
        var result = ""
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                result += String(decoding: bytes[start..<at], as: UTF8.self)
                at += 1
                return result
            case UInt8(ascii: "\\"):
                result += String(decoding: bytes[start..<at], as: UTF8.self)
                result.unicodeScalars.append(try escaped())
                start = at
            case ..<0x20: throw fault("a control character stands in a text; it is written \\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))")
            default: at += 1
            }
        }
        throw fault("")
    }

    private mutating func escaped() throws(Fault) -> Unicode.Scalar {
        let start = at
        at += 1
        guard let letter = next else { throw fault("") }
        at += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw Fault(reason: "this character cannot follow a backslash", offset: start)
        }
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        // A high surrogate; the low one must follow.
        guard unit < 0xDC00, word("\\u"), case let low = try hexadecimal(), (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw Fault(reason: "half a surrogate pair is not a character", offset: start) }
        return scalar
    }

    private mutating func hexadecimal() throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw fault("a hexadecimal digit is missing") }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        return value
    }
}

/// A number in its written form.
struct JSONNumber {
    let text: String

    var digits: DecimalDigits? { DecimalDigits(text) }
}
