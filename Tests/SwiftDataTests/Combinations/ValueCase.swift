import Foundation
import SwiftData

/// A value of a property of `Values`, and how each reader sees it.
struct ValueCase {
    let name: String
    let set: (Values) -> Void
    let holds: (Values) -> Bool
    /// Whether a managed object of the same store has it.
    let holdsBehind: (NSManagedObject) -> Bool

    /// The values in the order nil, default, ordinary, extreme, where the type has them.
    static var all: [ValueCase] {
        numbers + others + optionals
    }

    // MARK: Forms

    /// An attribute whose value key-value coding has as it is.
    private static func scalar<Value: _PersistentScalar & Equatable>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value>, _ values: [Value]
    ) -> [ValueCase] {
        make(name, keyPath, values) { object, value in
            let found = object.value(forKey: name)
            guard let wanted = value._object else { return found == nil }
            return found.flatMap { Value(_object: $0) } == value && (found as? NSObject) == (wanted as? NSObject)
        }
    }

    /// An enumeration: a composite of one element.
    private static func raw<Value: RawRepresentable & Equatable>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value>, _ values: [Value]
    ) -> [ValueCase] where Value.RawValue: Equatable {
        make(name, keyPath, values) { ($0.value(forKeyPath: "\(name).\(name)") as? Value.RawValue) == $1.rawValue }
    }

    private static func raw<Value: RawRepresentable & Equatable>(
        optional name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value?>, _ values: [Value?]
    ) -> [ValueCase] where Value.RawValue: Equatable {
        make(name, keyPath, values) { ($0.value(forKeyPath: "\(name).\(name)") as? Value.RawValue) == $1?.rawValue }
    }

    /// Binary data with JSON.
    private static func json<Value: Codable & Equatable>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value>, _ values: [Value]
    ) -> [ValueCase] {
        make(name, keyPath, values) { object, value in
            guard let data = object.value(forKey: name) as? Data else { return (value as Any?) == nil || isNothing(value) }
            return (try? JSONDecoder().decode(Value.self, from: data)) == value
        }
    }

    private static func place(of object: NSManagedObject, _ name: String) -> Place? {
        guard let city = object.value(forKeyPath: "\(name).city") as? String, let x = object.value(forKeyPath: "\(name).point.x") as? Double,
            let y = object.value(forKeyPath: "\(name).point.y") as? Double
        else { return nil }
        return Place(city: city, zip: object.value(forKeyPath: "\(name).zip") as? Int, point: .init(x: x, y: y))
    }

    private static func isNothing<Value>(_ value: Value) -> Bool { Mirror(reflecting: value).displayStyle == .optional && "\(value)" == "nil" }

    private static func make<Value: Equatable>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value>, _ values: [Value],
        _ holdsBehind: @escaping (NSManagedObject, Value) -> Bool
    ) -> [ValueCase] {
        values.map { value in
            ValueCase(
                name: "\(name) = \(String(reflecting: value).prefix(60))", set: { $0[keyPath: keyPath] = value },
                holds: { $0[keyPath: keyPath] == value }, holdsBehind: { holdsBehind($0, value) })
        }
    }

    // MARK: Values

    private static func numbers<Value: _PersistentScalar & FixedWidthInteger>(
        _ name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value>
    ) -> [ValueCase] { scalar(name, keyPath, [Values(key: 0)[keyPath: keyPath], 42, .min, .max]) }

    private static func numbers<Value: _PersistentScalar & FixedWidthInteger>(
        optional name: String, _ keyPath: ReferenceWritableKeyPath<Values, Value?>
    ) -> [ValueCase] { scalar(name, keyPath, [nil, 0, 42, .min, .max]) }

    private static var numbers: [ValueCase] {
        numbers("int", \.int) + numbers("int8", \.int8) + numbers("int16", \.int16) + numbers("int32", \.int32) + numbers("int64", \.int64)
            + numbers("uint", \.uint) + numbers("uint8", \.uint8) + numbers("uint16", \.uint16) + numbers("uint32", \.uint32)
            + numbers("uint64", \.uint64) + numbers(optional: "optInt", \.optInt) + numbers(optional: "optInt8", \.optInt8)
            + numbers(optional: "optUInt64", \.optUInt64)
            + scalar("double", \.double, [1.5, -0.25, .infinity, .leastNonzeroMagnitude, -.greatestFiniteMagnitude])
            + scalar("float", \.float, [2.5, 0.1, -.infinity, .greatestFiniteMagnitude]) + scalar("bool", \.bool, [true, false])
            + scalar("decimal", \.decimal, [7, Decimal(string: "-1.25") ?? 0, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    }

    private static let text = "ä\u{301} 🦊"
    private static let longText = String(repeating: "x", count: 70_000)
    private static let days = [Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSince1970: 0.125), .distantPast, .distantFuture]
    private static let bytes = [Data([1]), Data([0, 255]), Data(), Data(repeating: 7, count: 200_000)]
    private static let far = Place(city: longText, zip: .min, point: .init(x: -.infinity, y: .leastNonzeroMagnitude))
    private static let here = Place(city: "Oslo", zip: nil, point: .init(x: 1, y: 2))
    private static let uuids = [UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), UUID(), uuid(0), uuid(255)]
    private static func uuid(_ byte: UInt8) -> UUID {
        UUID(uuid: (byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte))
    }
    private static let urls = [URL(filePath: "/a"), URL(string: "https://example.org/a?b=c#d"), URL(string: "x:" + longText)].compactMap(\.self)
    private static let origins: [Origin] = [.unknown, .bought(price: 1.25), .gift(from: longText, year: .min)]

    private static var others: [ValueCase] {
        scalar("string", \.string, ["a", text, "", "a\u{0}b", longText]) + scalar("date", \.date, days) + scalar("data", \.data, bytes)
            + scalar("uuid", \.uuid, uuids) + scalar("url", \.url, urls) + raw("text", \.text, Condition.allCases)
            + raw("number", \.number, [.front, .back]) + raw("options", \.options, [.one, [], [.one, .two], Options(rawValue: .min)])
            + json("payload", \.payload, origins)
            + make("place", \.place, [Values(key: 0).place, here, far]) { place(of: $0, "place") == $1 }
            + json("list", \.list, [[1], [], [3, .max, .min]]) + json("map", \.map, [["a": 1], [:], ["": .min, text: .max]])
            + json("set", \.set, [["a"], [], ["", longText]])
    }

    private static var optionals: [ValueCase] {
        scalar("optDouble", \.optDouble, [nil, 0, -1.5, .infinity]) + scalar("optFloat", \.optFloat, [nil, 0, 0.1, -.infinity])
            + scalar("optBool", \.optBool, [nil, false, true]) + scalar("optString", \.optString, [nil, "", text, longText])
            + scalar("optDate", \.optDate, [nil] + days) + scalar("optData", \.optData, [nil] + bytes) + scalar("optUUID", \.optUUID, [nil] + uuids)
            + scalar("optURL", \.optURL, [nil] + urls) + scalar("optDecimal", \.optDecimal, [nil, 0, 3, .greatestFiniteMagnitude])
            + raw(optional: "optText", \.optText, [nil, .lost]) + raw(optional: "optNumber", \.optNumber, [nil, .front, .back])
            + json("optPayload", \.optPayload, [nil] + origins)
            + make("optPlace", \.optPlace, [nil, here, far]) { place(of: $0, "optPlace") == $1 } + json("optList", \.optList, [nil, [], [1, .max]])
            + json("optMap", \.optMap, [nil, [:], ["a": .min]])
    }
}
