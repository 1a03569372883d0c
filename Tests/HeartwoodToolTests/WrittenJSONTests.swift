import Foundation
import Heartwood
import HeartwoodTestSupport
import Testing

@testable import HeartwoodTool

extension JSONValue {
    /// The value in one line, as commands write it.
    var line: Data {
        let output = OutputBuffer()
        output.add(self)
        return Data(output.bytes)
    }
}

/// What commands write is what Foundation's encoder writes.
@Suite struct WrittenJSONTests {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    private struct Encoded: Encodable {
        let value: JSONValue

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .double(let number): try container.encode(number)
            case .bool(let flag): try container.encode(flag)
            case .list(let list): try container.encode(list.map(Encoded.init))
            case .object(let members): try container.encode(members.mapValues(Encoded.init))
            }
        }
    }

    private static let parts = [
        "a", "plain text", "\"", "\\", "/", "\u{0}", "\u{1}", "\u{8}", "\t", "\n", "\u{B}", "\u{C}", "\r", "\u{1F}", "\u{7F}", "\u{80}", "é",
        "日本", "\u{1F600}", "\u{2028}", "\u{FEFF}", "1234567", "12345678",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0...(depth == 0 ? 4 : 6), using: &random) {
        case 0: return .text(text(&random))
        case 1: return .integer(Bool.random(using: &random) ? Int64(bitPattern: random.next()) : Int64.random(in: -20...20, using: &random))
        case 2: return .double(Double(bitPattern: random.next()))
        case 3: return .double(Double(Int.random(in: -3000...3000, using: &random)) / 8)
        case 4: return .bool(Bool.random(using: &random))
        case 5: return .list((0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth - 1) })
        default:
            return .object(Dictionary(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in (text(&random), value(&random, depth: depth - 1)) }, uniquingKeysWith: { $1 }))
        }
    }

    @Test
    func `Any value is written as Foundation's encoder writes it`() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let fixed: [JSONValue] = [
            .integer(.min), .integer(.max), .integer(0), .double(0), .double(-0.0), .double(1e15), .double(-1e15), .double(999_999_999_999_999),
            .double(1e16), .double(0x1p53), .double(.leastNonzeroMagnitude), .double(.infinity), .double(-.infinity), .double(.nan), .list([]),
            .object([:]), .text(""),
        ]
        for value in fixed + (0..<3000).map({ _ in Self.value(&random, depth: 3) }) {
            #expect(value.line == (try Self.encoder.encode(Encoded(value: value))), "seed \(seed): \(value)")
        }
    }

    @Test
    func `A date of the Gregorian calendar is written as Foundation writes it, and an earlier one as the date 2000 years later`() throws {
        let seed = UInt64.random(in: 1...UInt64.max), style = Date.ISO8601FormatStyle(), years2000 = 5 * 146_097 * 86400.0
        var random = SeededGenerator(seed: seed)
        for round in 0..<3000 {
            // From the year 1600 to the year 9998, to the second; then with a fraction.
            let whole = Double(Int64.random(in: -12_622_780_800...252_391_000_000, using: &random)), fraction = round % 3 == 0 ? 0.25 : 0
            let expected = Date(timeIntervalSinceReferenceDate: whole).formatted(style).dropLast() + (fraction == 0 ? ".000Z" : ".250Z")
            guard case .text(let text) = DateText.json(Date(timeIntervalSinceReferenceDate: whole + fraction)) else {
                Issue.record("seed \(seed): \(whole) has no form")
                continue
            }
            #expect(text == expected, "seed \(seed)")
            // The year 3601 and later ones are 1601 and later.
            guard whole > 50_492_000_000, case .text(let earlier) = DateText.json(Date(timeIntervalSinceReferenceDate: whole + fraction - years2000)),
                let year = Int(expected.prefix(4)), year < 10_000
            else { continue }
            #expect(earlier == String(format: "%04d", year - 2000) + expected.dropFirst(4), "seed \(seed)")
        }
    }

    @Test
    func `Bytes of a row that are no UTF-8 become replacement characters`() throws {
        let output = OutputBuffer()
        output.add("[")
        [UInt8](arrayLiteral: 0x61, 0xFF, 0x62).withUnsafeBytes { output.add(json: $0) }
        output.add("]")
        #expect(try JSONDecoder().decode([String].self, from: Data(output.bytes)) == ["a\u{FFFD}b"])
    }
}
