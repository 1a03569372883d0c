import Foundation
import Heartwood
import Testing

@testable import HeartwoodTool

/// A text that is no value of an attribute's type is refused. None is taken for another value.
@Suite struct UnfitValueTests {
    /// The value of a text in CSV, and in JSON as a text; nil if it is refused.
    private func value(_ text: String, _ type: NSAttributeType) -> Any? {
        let attribute = NSAttributeDescription()
        attribute.name = "value"
        attribute.attributeType = type
        return try? AttributeText.value(.text(text), for: attribute) ?? nil
    }

    /// The value of a number in JSON; nil if it is refused.
    private func number(_ text: String, _ type: NSAttributeType) throws -> Any? {
        let attribute = NSAttributeDescription()
        attribute.name = "value"
        attribute.attributeType = type
        let value = try Array(text.utf8).withUnsafeBytes { try JSONText.value($0) }
        return try? AttributeText.value(value, for: attribute) ?? nil
    }

    private func padded(_ number: Int, _ width: Int = 2) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // MARK: Dates

    @Test(arguments: [1, 4, 99, 100, 400, 1582, 1583, 1900, 2000, 2023, 2024, 9999])
    func `Each day of a calendar is read as this day, and no other text is`(year: Int) {
        let lengths = [31, year % 400 == 0 || year % 4 == 0 && year % 100 != 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var last: Date?
        for month in 0...13 {
            for day in 0...33 {
                let text = "\(padded(year, 4))-\(padded(month))-\(padded(day))T00:00:00Z"
                let found = value(text, .dateAttributeType) as? Date
                let isDay = (1...12).contains(month) && (1...lengths[month - 1]).contains(day)
                #expect((found != nil) == isDay, "\(text)")
                guard let found else { continue }
                #expect(value(String(text.prefix(10)), .dateAttributeType) as? Date == found, "\(text)")
                // Foundation writes it.
                #expect(AttributeText.text(found) == text.dropLast() + ".000Z")
                if let last { #expect(found.timeIntervalSince(last) == 86400, "\(text)") }
                last = found
            }
        }
    }

    @Test
    func `Each time of a day is read as this time, and no other text is`() throws {
        let midnight = try #require(value("2024-02-29T00:00:00Z", .dateAttributeType) as? Date)
        for hour in [0, 1, 11, 12, 23, 24, 25, 99] {
            for minute in [0, 1, 30, 59, 60, 61, 99] {
                for second in [0, 1, 59, 60, 61, 99] {
                    let text = "2024-02-29T\(padded(hour)):\(padded(minute)):\(padded(second))Z"
                    let found = value(text, .dateAttributeType) as? Date
                    let wanted = hour < 24 && minute < 60 && second < 60 ? Double(hour * 3600 + minute * 60 + second) : nil
                    #expect(found?.timeIntervalSince(midnight) == wanted, "\(text)")
                }
            }
        }
    }

    @Test
    func `Each offset of a zone is subtracted, and no other text is taken for one`() throws {
        let utc = try #require(value("2024-02-29T12:00:00Z", .dateAttributeType) as? Date)
        for hours in [0, 1, 14, 23, 24, 99] {
            for minutes in [0, 1, 45, 59, 60, 99] {
                for (sign, factor) in [("+", 60.0), ("-", -60.0)] {
                    for colon in [":", ""] {
                        let text = "2024-02-29T12:00:00\(sign)\(padded(hours))\(colon)\(padded(minutes))"
                        let found = value(text, .dateAttributeType) as? Date
                        let wanted = hours < 24 && minutes < 60 ? factor * Double(hours * 60 + minutes) : nil
                        #expect(found.map { utc.timeIntervalSince($0) } == wanted, "\(text)")
                    }
                }
            }
        }
        #expect((value("2024-02-29T14:00:00+02", .dateAttributeType) as? Date) == utc)
    }

    @Test(arguments: [
        "", " ", "24-01-01T00:00:00Z", "024-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "-2024-01-01T00:00:00Z", "+2024-01-01T00:00:00Z",
        "12024-01-01T00:00:00Z", "2024-1-1T00:00:00Z", "2024-01", "2024-01-01T", "2024-01-01T00", "2024-01-01Z", "2024-01-01T00:00:00ZZ",
        "2024-01-01T00:00:00Z ", " 2024-01-01T00:00:00Z", "2024-01-01T0:00:00Z", "2024-01-01T00:00:0Z", "2024-01-01T00:00:00.Z",
        "2024-01-01  00:00:00Z", "2024-01-01T00:00.5Z", "2024-01-01T00:00:", "2024-01-01T00:00:00.", "2024-01-01T00:00:00.5.5Z", "2024-01-01T00:00:00.-5Z", "2024-01-01T00:00:00.5e3Z", "2024-01-01T00:00:00+1",
        "2024-01-01T00:00:00+01:", "2024-01-01T00:00:00+01:0", "2024-01-01T00:00:00+010", "2024-01-01T00:00:00+01:00:00",
        "2024-01-01T00:00:00+0100Z", "2024-01-01T00:00:00GMT", "2024/01/01T00:00:00Z", "20240101T000000Z", "2024-W01-1T00:00:00Z",
        "2024-001T00:00:00Z", "2024-01-01T00:00:00\u{FF3A}", "\u{0662}024-01-01T00:00:00Z", "2023-02-29T00:00:00+01:00", "2023-02-29T00:00:00.5Z",
        "now", "1e400", "-1e400", "1e-400", "0x10", "nan(0x1)", "1,5", "1_000", "1 000",
    ])
    func `A text of another form is no date`(text: String) {
        #expect(value(text, .dateAttributeType) == nil)
    }

    @Test
    func `Small letters, fractions of any length and seconds since 1970 are dates`() {
        let wanted = Date(timeIntervalSince1970: 1_709_164_800)
        for text in ["2024-02-29t00:00:00z", "2024-02-29T00:00:00.0Z", "1709164800", "1709164800.0", "1.7091648e9", "+1709164800"] {
            #expect(value(text, .dateAttributeType) as? Date == wanted, "\(text)")
        }
        let half = "2024-02-29T00:00:00.5" + String(repeating: "0", count: 100_000) + "Z"
        #expect((value(half, .dateAttributeType) as? Date)?.timeIntervalSince(wanted) == 0.5)
    }

    @Test(arguments: [
        "2024-02-29", "2024-02-29T00:00Z", "2024-02-29T00:00", "2024-02-29T00:00:00", "2024-02-29 00:00:00", "2024-02-29T00:00:00.0",
        "2024-02-29T01:00+01:00", "2024-02-28 23:30-0030",
    ])
    func `A day is its beginning, and a time needs neither seconds nor a zone`(text: String) {
        #expect(value(text, .dateAttributeType) as? Date == Date(timeIntervalSince1970: 1_709_164_800))
    }

    // MARK: Numbers

    @Test(
        arguments: [
        (NSAttributeType.integer16AttributeType, Int64(Int16.min), Int64(Int16.max)), (.integer32AttributeType, Int64(Int32.min), Int64(Int32.max)),
        (.integer64AttributeType, .min, .max),
    ])
    func `An integer fits in its type or is refused`(type: NSAttributeType, least: Int64, greatest: Int64) throws {
        for fitting in [least, least + 1, -1, 0, 1, greatest - 1, greatest] {
            #expect((value("\(fitting)", type) as? NSNumber)?.int64Value == fitting)
            #expect(try (number("\(fitting)", type) as? NSNumber)?.int64Value == fitting)
        }
        let above = "\(UInt64(bitPattern: greatest) + 1)", below = "\(Int128(least) - 1)"
        for text in [above, below, "99999999999999999999", "-99999999999999999999", "1.5", "1e-1", "1e19", "1e400"] {
            #expect(value(text, type) == nil, "\(text)")
            #expect(try number(text, type) == nil, "\(text)")
        }
        for text in ["", " 1", "1 ", "0x1", "1_0", "1,0", "one", "nan", "inf", "\u{0661}", "--1"] { #expect(value(text, type) == nil, "\(text)") }
    }

    @Test
    func `A number that becomes infinite or zero in its type is refused`() throws {
        for (text, isDouble, isFloat) in [
            ("1e308", true, false), ("1e309", false, false), ("-1e400", false, false), ("1e-323", true, false), ("1e-324", false, false),
            ("-1e-400", false, false), ("1e38", true, true), ("1e39", true, false), ("1e-45", true, true), ("1e-46", true, false),
            ("0", true, true), ("-0.0", true, true), ("0e999", true, true), ("0.1", true, true), ("16777217", true, true),
            ("1e99999999999999999999", false, false), ("1e-99999999999999999999", false, false),
        ] {
            #expect((value(text, .doubleAttributeType) != nil) == isDouble, "\(text)")
            #expect((value(text, .floatAttributeType) != nil) == isFloat, "\(text)")
            #expect(try (number(text, .doubleAttributeType) != nil) == isDouble, "\(text)")
            #expect(try (number(text, .floatAttributeType) != nil) == isFloat, "\(text)")
        }
        for text in ["inf", "-inf", "nan"] { #expect(value(text, .doubleAttributeType) != nil && value(text, .floatAttributeType) != nil) }
        for text in ["", " 1", "1 ", "0x10", "0x1p4", "-0x1p4", "0x1p-2000", "1,5", "1_0", "1e", "e1", ".", "nan(0x1)", "one"] {
            #expect(value(text, .doubleAttributeType) == nil && value(text, .floatAttributeType) == nil, "\(text)")
        }
    }

    @Test
    func `A decimal has all of its digits or is refused`() throws {
        let most = "340282366920938463463374607431768211455"
        for (text, written) in [
            (most, most), ("-" + most, "-" + most), (most + "0", most + "0"), ("0." + String(most.prefix(38)), "0." + String(most.prefix(38))),
            ("1e127", "1" + String(repeating: "0", count: 127)), ("1e-128", "0." + String(repeating: "0", count: 127) + "1"),
            ("0e-400", "0"), ("-0", "0"), ("1.500", "1.5"), ("1" + String(repeating: "0", count: 60), "1" + String(repeating: "0", count: 60)),
        ] {
            #expect((value(text, .decimalAttributeType) as? NSDecimalNumber)?.stringValue == written, "\(text)")
            #expect(try (number(text, .decimalAttributeType) as? NSDecimalNumber)?.stringValue == written, "\(text)")
        }
        for text in [
            "340282366920938463463374607431768211456", "12345678901234567890123456789012345678901", "0.12345678901234567890123456789012345678901",
            "1e128", "1e166", "1e-129", "1e-400", "1e400", "1e99999999999", "1e-99999999999", "4e165", most + "e127",
        ] {
            let isFitting = text == most + "e127"
            #expect((value(text, .decimalAttributeType) != nil) == isFitting, "\(text)")
            #expect(try (number(text, .decimalAttributeType) != nil) == isFitting, "\(text)")
        }
        for text in ["", "1,5", "0x10", "inf", "nan", "one", " 1", "1 "] { #expect(value(text, .decimalAttributeType) == nil, "\(text)") }
    }

    // MARK: Others

    @Test
    func `A truth value is one of six words`() throws {
        for (text, flag) in [("true", true), ("YES", true), ("1", true), ("false", false), ("No", false), ("0", false)] {
            #expect(value(text, .booleanAttributeType) as? Bool == flag)
        }
        for text in ["", "2", "-1", "00", "on", "t", "y", " true", "1.0", "null"] { #expect(value(text, .booleanAttributeType) == nil, "\(text)") }
        #expect(try number("1.0", .booleanAttributeType) as? Bool == true && number("2", .booleanAttributeType) == nil)
        #expect(try number("0.5", .booleanAttributeType) == nil && number("1e-400", .booleanAttributeType) == nil)
    }

    @Test
    func `A UUID has 32 digits with four hyphens`() {
        let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
        #expect((value(text, .UUIDAttributeType) as? UUID)?.uuidString == text)
        #expect((value(text.lowercased(), .UUIDAttributeType) as? UUID)?.uuidString == text)
        for wrong in [
            "", String(text.dropLast()), text + "0", text + " ", " " + text, "{\(text)}", text.replacing("-", with: ""), text.replacing("F8-C", with: "F-8C"),
            text.replacing("E6", with: "G6"), text.replacing("E6", with: "0x"), text.replacing("E6", with: "+6"), text.replacing("-", with: "_"), text + "\n",
        ] { #expect(value(wrong, .UUIDAttributeType) == nil, "\(wrong)") }
    }

    @Test
    func `Base 64 is whole and has no other characters`() {
        for bytes in [Data(), Data([0]), Data([0xFF]), Data([0xFB, 0xFF]), Data([1, 2, 3]), Data(0...255)] {
            #expect(value(bytes.base64EncodedString(), .binaryDataAttributeType) as? Data == bytes)
        }
        for text in ["Q", "QQ", "QQ=", "QR==", "QUF=", "QQ===", "QQ==QQ==", "Q Q==", "QQ==\n", "\nQQ==", "-_8=", "=", "====", "Q=Q=", "QQ=A"] {
            #expect(value(text, .binaryDataAttributeType) == nil, "\(text)")
        }
    }

    @Test
    func `A URI is stored as it is written or refused`() {
        for text in ["https://example.org/a%20b?x=1&y=%C3%A9#z", "mailto:a@example.org", "a/b", "x-coredata://s/E/p1", "file:///a", "urn:isbn:0451450523"] {
            #expect((value(text, .URIAttributeType) as? URL)?.absoluteString == text)
        }
        for text in ["", "http://a b", "http://example.org/a b", "http://ex\u{E4}mple.de", "http://example.org/\u{E9}", "http://[", "a\nb", "http://example.org/%zz"] {
            #expect(value(text, .URIAttributeType) == nil, "\(text)")
        }
    }
}
