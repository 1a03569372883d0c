import Foundation
import HeartwoodTestSupport
import SwiftData

/// A property of `Thing`: its values as text, and random ones.
struct ThingProperty {
    struct Drawn {
        let text: String
        let set: (Thing) -> Void
    }

    let name: String
    let text: (Thing) -> String
    let draw: (inout SeededGenerator) -> Drawn

    private typealias State = ValueDomain.State
    private static let kinds: [State] = [.empty, .short, .short, .long, .extreme]

    private static func property<Value>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Thing, Value>, _ value: @escaping (State, inout SeededGenerator) -> Value
    ) -> ThingProperty {
        ThingProperty(name: name, text: { ValueText.of($0[keyPath: keyPath]) }) { random in
            let drawn = value(kinds.randomElement(using: &random) ?? .short, &random)
            return Drawn(text: ValueText.of(drawn)) { $0[keyPath: keyPath] = drawn }
        }
    }

    private static func optional<Value>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Thing, Value?>, _ value: @escaping (State, inout SeededGenerator) -> Value
    ) -> ThingProperty {
        property(name, keyPath) { ValueDomain.isNothing(&$1) ? nil : value($0, &$1) }
    }

    // MARK: Values

    private static func integer<Value: FixedWidthInteger>(_ state: State, _ random: inout SeededGenerator) -> Value {
        switch state {
        case .empty: 0
        case .extreme: [.max, .min, .max - 1].randomElement(using: &random) ?? 0
        case .long: Value.random(in: .min ... .max, using: &random)
        default: Value.random(in: 0...9, using: &random)
        }
    }

    private static func double(_ state: State, _ random: inout SeededGenerator) -> Double {
        if case .double(let bits) = ValueDomain.short.draw(.double, state, &random) { return Double(bitPattern: bits) }
        return 0
    }

    private static func text(_ state: State, _ random: inout SeededGenerator) -> String {
        if case .text(let text) = ValueDomain.short.draw(.text, state, &random) { return text }
        return ""
    }

    private static func data(_ domain: ValueDomain) -> (State, inout SeededGenerator) -> Data {
        { if case .bytes(let bytes) = domain.draw(.bytes, $0, &$1) { Data(bytes) } else { Data() } }
    }

    private static func date(_ state: State, _ random: inout SeededGenerator) -> Date {
        let seconds = double(state, &random)
        return state == .extreme ? [.distantPast, .distantFuture].randomElement(using: &random) ?? .distantPast
            : Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func uuid(_ state: State, _ random: inout SeededGenerator) -> UUID {
        guard case .uuid(let high, let low) = ValueDomain.short.draw(.uuid, state, &random) else { return UUID() }
        return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    private static func url(_ state: State, _ random: inout SeededGenerator) -> URL {
        URL(string: "https://example.org/\(random.next() % 9)?\(state == .long ? String(repeating: "x", count: 300) : "")#f") ?? URL(filePath: "/")
    }

    private static func decimal(_ state: State, _ random: inout SeededGenerator) -> Decimal {
        let ends: [Decimal] = [.greatestFiniteMagnitude, -.greatestFiniteMagnitude, Decimal(string: "0.000001") ?? 0]
        if state == .extreme { return ends[Int(random.next() % 3)] }
        return Decimal(integer(state, &random) as Int) / 4
    }

    private static func origin(_ state: State, _ random: inout SeededGenerator) -> Origin {
        switch state {
        case .empty: .unknown
        case .long: .bought(price: double(state, &random))
        default: .gift(from: text(state, &random), year: integer(state, &random))
        }
    }

    private static func place(_ state: State, _ random: inout SeededGenerator) -> Place {
        Place(
            city: text(state, &random), zip: Bool.random(using: &random) ? nil : integer(state, &random),
            point: .init(x: double(state, &random), y: double(.short, &random)))
    }

    private static func list(_ state: State, _ random: inout SeededGenerator) -> [Int] {
        (0..<(state == .empty ? 0 : state == .long ? 90 : 3)).map { _ in integer(state, &random) }
    }

    private static func map(_ state: State, _ random: inout SeededGenerator) -> [String: Int] {
        Dictionary(list(state, &random).map { ("\($0 % 50)", $0) }) { $1 }
    }

    private static func words(_ state: State, _ random: inout SeededGenerator) -> Set<String> {
        Set((0..<(state == .empty ? 0 : 3)).map { _ in text(state, &random) })
    }

    private static func condition(_: State, _ random: inout SeededGenerator) -> Condition { Condition.allCases.randomElement(using: &random) ?? .new }
    private static func side(_: State, _ random: inout SeededGenerator) -> Side { Bool.random(using: &random) ? .front : .back }
    private static func flag(_: State, _ random: inout SeededGenerator) -> Bool { Bool.random(using: &random) }
    private static func options(_: State, _ random: inout SeededGenerator) -> Options { Options(rawValue: Int(random.next() % 4)) }
    private static func float(_ state: State, _ random: inout SeededGenerator) -> Float { Float(double(state, &random)) }

    static var all: [ThingProperty] {
        [
            property("int", \.int, integer), property("int8", \.int8, integer), property("int32", \.int32, integer),
            property("uint16", \.uint16, integer), property("uint64", \.uint64, integer), property("double", \.double, double),
            property("float", \.float, float), property("bool", \.bool, flag), property("string", \.string, text), property("date", \.date, date),
            property("data", \.data, data(.short)), property("uuid", \.uuid, uuid), property("url", \.url, url),
            property("decimal", \.decimal, decimal), property("text", \.text, condition), property("side", \.side, side),
            property("payload", \.payload, origin), property("place", \.place, place), property("list", \.list, list), property("map", \.map, map),
            property("set", \.set, words), property("options", \.options, options), optional("picture", \.picture, data(.long)),
            optional("optInt", \.optInt, integer), optional("optUInt64", \.optUInt64, integer), optional("optDouble", \.optDouble, double),
            optional("optFloat", \.optFloat, float), optional("optBool", \.optBool, flag), optional("optString", \.optString, text),
            optional("optDate", \.optDate, date), optional("optUUID", \.optUUID, uuid), optional("optURL", \.optURL, url),
            optional("optDecimal", \.optDecimal, decimal), optional("optText", \.optText, condition), optional("optSide", \.optSide, side),
            optional("optPayload", \.optPayload, origin), optional("optPlace", \.optPlace, place), optional("optList", \.optList, list),
            optional("optMap", \.optMap, map),
        ]
    }
}

/// A value as text: different values have different texts, and long ones stay short.
enum ValueText {
    static func of<Value>(_ value: Value) -> String {
        switch value as Any {
        case let data as Data: "\(data.count) bytes, \(sum(data))"
        case let text as String: text.utf8.count <= 40 ? "'\(text.debugDescription)'" : "\(text.utf8.count) characters, \(sum(text.utf8))"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate) s"
        case let set as Set<String>: "\(set.map { of($0) }.sorted())"
        case let map as [String: Int]: "\(map.sorted { $0.key < $1.key })"
        case let list as [Int]: list.count <= 5 ? "\(list)" : "\(list.count) numbers, \(list.reduce(0) { $0 &* 31 &+ $1 })"
        default: shortened(String(reflecting: value))
        }
    }

    private static func shortened(_ text: String) -> String { text.utf8.count <= 200 ? text : "\(text.prefix(40))… \(sum(text.utf8))" }

    private static func sum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}
