import Foundation
import Heartwood
import HeartwoodFileReading
import HeartwoodTestSupport
import Testing

@testable import HeartwoodTool

/// The text of an attribute's value gives the same value again, bit by bit, in JSON and in CSV.
@Suite struct ExactValueTests {
    private static func attribute(_ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = "value"
        attribute.attributeType = type
        return attribute
    }

    /// Converts the value to a line of JSON and a line of CSV, and back.
    private func back(_ value: Any, _ type: NSAttributeType) throws -> (json: Any?, csv: Any?) {
        let attribute = Self.attribute(type), written = AttributeText.json(value)
        let line = JSONValue.object(["value": written]).line
        guard case .object(let members) = try line.withUnsafeBytes({ try JSONText.value($0) }), let member = members.first
        else { return (nil, nil) }
        return (try AttributeText.value(member.value, for: attribute), try AttributeText.value(.text(AttributeText.text(written)), for: attribute))
    }

    private func isSame(_ a: Any?, _ b: Any) -> Bool {
        switch (a, b) {
        case (let a as Double, let b as Double): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        case (let a as Float, let b as Float): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        case (let a as Date, let b as Date): a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
        // NaN equals nothing.
        case (let a as NSDecimalNumber, let b as NSDecimalNumber) where b.decimalValue.isNaN: a.decimalValue.isNaN
        case (let a as String, let b as String): Array(a.unicodeScalars) == Array(b.unicodeScalars)
        case (let a as NSObject, let b as NSObject): a == b
        default: false
        }
    }

    private func expectBack(_ value: Any, _ type: NSAttributeType, _ seed: UInt64 = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (json, csv) = try back(value, type)
        #expect(
            isSame(json, value) && isSame(csv, value), "seed \(seed): \(value), \(AttributeText.json(value)), \(json ?? "nil"), \(csv ?? "nil")",
            sourceLocation: sourceLocation)
    }

    @Test
    func `Numbers and dates of random bits come back with all their bits`() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("random bits: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<3000 {
            let bits = random.next()
            let number = Double(bitPattern: bits), small = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
            try expectBack(number, .doubleAttributeType, seed)
            try expectBack(small, .floatAttributeType, seed)
            try expectBack(Int64(bitPattern: bits), .integer64AttributeType, seed)
            try expectBack(Int32(truncatingIfNeeded: bits), .integer32AttributeType, seed)
            try expectBack(Int16(truncatingIfNeeded: bits), .integer16AttributeType, seed)
            // Dates of recent years, of all years, and of any number that is a date.
            let near = Double.random(in: -1e9...2e9, using: &random), far = Double.random(in: -7e11...7e11, using: &random)
            for seconds in [near, far, near * 1e-9, round % 10 == 0 && number.isFinite ? number : near] {
                try expectBack(Date(timeIntervalSinceReferenceDate: seconds), .dateAttributeType, seed)
            }
            guard round % 4 == 0 else { continue }
            let digits = (0..<38).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
            let decimal = Decimal(
                sign: bits & 1 == 0 ? .plus : .minus, exponent: Int.random(in: -120...120, using: &random), significand: try #require(Decimal(string: digits)))
            try expectBack(NSDecimalNumber(decimal: decimal), .decimalAttributeType, seed)
        }
    }

    @Test
    func `Extreme numbers come back: infinities, the smallest, negative zero, 38 digits`() throws {
        for number in [
            0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
            9_007_199_254_740_992, 0.1, 1e22, 1e23, Double.leastNormalMagnitude.nextDown, 1 / 3,
        ] { try expectBack(number, .doubleAttributeType) }
        for number in [0, -0.0, Float.infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 16_777_216, 0.1] {
            try expectBack(number, .floatAttributeType)
        }
        for number in [Int64.min, .min + 1, .max, .max - 1, 9_007_199_254_740_993, -9_007_199_254_740_993, 0] {
            try expectBack(number, .integer64AttributeType)
        }
        for text in [
            "12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "99999999999999999999999999999999999999e90",
            "340282366920938463463374607431768211455", "0.1", "9007199254740993", "NaN", "0", "1e-128", "1e127",
        ] {
            try expectBack(
                text == "NaN" ? .notANumber : NSDecimalNumber(decimal: try #require(DecimalDigits(text)?.decimal)), .decimalAttributeType)
        }
        for seconds in [
            0, 1e-300, -1e-300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -978_307_200, -978_307_200.5, 252_423_993_600, -63_114_076_800.5,
            4e11 + 1 / 16_384, 0.1, 1e15 + 0.5,
        ] { try expectBack(Date(timeIntervalSinceReferenceDate: seconds), .dateAttributeType) }
    }

    /// A JSON number without quotes, which Foundation's reader converts through a decimal.
    @Test
    func `A number in a line of JSON is read as it is written`() throws {
        func value(_ text: String, _ type: NSAttributeType) throws -> Any? {
            try AttributeText.value(try Array(text.utf8).withUnsafeBytes { try JSONText.value($0) }, for: Self.attribute(type))
        }
        #expect(try value("9007199254740993", .integer64AttributeType) as? Int64 == 9_007_199_254_740_993)
        #expect(try value("-9223372036854775808", .integer64AttributeType) as? Int64 == .min)
        #expect(try value("90071992547409930e-1", .integer64AttributeType) as? Int64 == 9_007_199_254_740_993)
        #expect(try value("1.0", .integer16AttributeType) as? Int16 == 1)
        #expect(try (value("12345678901234567890.123456789012345678", .decimalAttributeType) as? NSDecimalNumber)?.stringValue == "12345678901234567890.123456789012345678")
        #expect(try value("2.2250738585072011e-308", .doubleAttributeType) as? Double == Double.leastNormalMagnitude.nextDown)
        #expect(try (value("-0", .doubleAttributeType) as? Double)?.sign == .minus)
        #expect(try value("1700000000.123", .dateAttributeType) as? Date == Date(timeIntervalSinceReferenceDate: 721_692_800.123))
        for (text, type) in [
            ("9223372036854775808", NSAttributeType.integer64AttributeType), ("32768", .integer16AttributeType), ("1.5", .integer32AttributeType),
            ("1e300", .floatAttributeType),
            ("1e400", .doubleAttributeType), ("2", .booleanAttributeType), ("1e999999999999999999999", .integer64AttributeType),
            ("1e99999999999", .decimalAttributeType),
        ] { #expect(throws: ToolError.self, "\(text)") { try value(text, type) } }
    }

    @Test
    func `Texts come back character by character`() throws {
        for text in Self.texts { try expectBack(text, .stringAttributeType) }
    }

    static let texts = [
        "", " ", "  a  ", "\u{FEFF}", "\u{FEFF}a", "a\u{FEFF}b", "a\u{FEFF}", "\u{FEFF}\u{FEFF}", "\"", "\"\"", "a\"b", "\\", "\\n", "\n", "\r",
        "\r\n", "a\rb", "a\n\rb",
        "\t", "\0", "a\0b", "\u{1}\u{1F}\u{7F}", "\u{85}", "\u{2028}\u{2029}", "\u{1F600}", "\u{10FFFF}", "\u{FFFF}\u{FFFE}", "e\u{301}", "\u{E9}",
        "\u{D7FF}\u{E000}",
        "null", "NULL", "nil", "true", "1", "-0", "1e5", "nan", "inf", "2024-01-02T03:04:05Z", "a,b", "a;b", ";", "a;b\\;c", ",", "#", "=1+1", "'",
        "/", "{}", "[]", "@id",
        "@data:AAAA", "@data:", "\u{301}\"", "\u{301},", "x-coredata://a/b/p1",
    ]

    // MARK: The reader

    @Test
    func `Invalid JSON and deep nesting are refused with the position`() {
        for (text, offset) in [
            ("", 0), ("{", 1), ("{\"a\"", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("[1,]", 3), ("[1 2]", 3), ("01", 1), ("1.", 2), ("1e", 2),
            ("-", 1), ("+1", 0), (".5", 0),
            ("nul", 0), ("\"\u{1}\"", 1), ("\"\\x\"", 1), ("\"\\u12\"", 5), ("\"\\ud800\"", 1), ("\"\\udc00\"", 1), ("\"\\ud800\\u0041\"", 1),
            ("\"a", 2), ("{} {}", 3), ("NaN", 0),
            ("{\"a\":1,\"a\":2}", 7), (String(repeating: "[", count: 1_000_000), 100), ("\u{FEFF}1", 0),
        ] {
            let fault = #expect(throws: JSONText.Fault.self, "\(text.prefix(20))") {
                try Array(text.utf8).withUnsafeBytes { try JSONText.value($0) }
            }
            #expect(fault?.offset == offset, "\(text.prefix(20)): \(String(describing: fault))")
        }
        let bytes: [UInt8] = [0x22, 0x61, 0xFF, 0x22]
        #expect(throws: JSONText.Fault.self) { try bytes.withUnsafeBytes { try JSONText.value($0) } }
    }

    @Test
    func `Valid JSON is read: space, escapes, pairs of surrogates, names by their characters`() throws {
        func text(_ json: String) throws -> String? {
            guard case .text(let text) = try Array(json.utf8).withUnsafeBytes({ try JSONText.value($0) }) else { return nil }
            return text
        }
        #expect(try text(#" "a\"\\\/\b\f\n\r\t\u0041\ud83d\uDE00\u0000\ufeff" "#) == "a\"\\/\u{8}\u{C}\n\r\tA\u{1F600}\0\u{FEFF}")
        guard case .object(let members) = try Array(
            "{\"e\u{301}\": [1, {\"b\":null}], \"\u{E9}\":\ttrue}".utf8).withUnsafeBytes({ try JSONText.value($0) }) else {
            Issue.record("this is an object")
            return
        }
        #expect(members.count == 2)
    }
}
