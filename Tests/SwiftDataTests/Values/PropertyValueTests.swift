import Foundation
import SwiftData
import Testing

/// Each type of property with each of its ordinary and extreme values, and nil.
@Suite struct PropertyValueTests {
    private struct Case {
        let name: String
        let set: (Values) -> Void
        let holds: (Values) -> Bool
    }

    private static func cases<Value: Equatable>(_ keyPath: ReferenceWritableKeyPath<Values, Value>, _ values: [Value]) -> [Case] {
        values.map { value in
            Case(name: "\(keyPath) = \(value)", set: { $0[keyPath: keyPath] = value }, holds: { $0[keyPath: keyPath] == value })
        }
    }

    private static let dates = [Date(timeIntervalSinceReferenceDate: 0), .distantPast, .distantFuture, Date(timeIntervalSince1970: 0.125)]
    private static let strings = ["", "a", "ä\u{301} 🦊", String(repeating: "x", count: 70_000), "a\u{0}b", "\u{FEFF}"]
    private static let decimals = [Decimal(0), Decimal(string: "-12345678901234567890.123456789") ?? 0, Decimal.greatestFiniteMagnitude]
    private static let places = [
        Place(city: "", zip: nil, point: .init(x: 0, y: 0)), Place(city: "Oslo", zip: -1, point: .init(x: -1.5, y: .infinity)),
    ]
    private static let origins: [Origin] = [.unknown, .bought(price: 1.25), .gift(from: "", year: .min)]

    private static var all: [Case] {
        var all: [Case] = []
        all += cases(\.int, [0, -1, .max, .min])
        all += cases(\.int8, [0, .max, .min])
        all += cases(\.int16, [0, .max, .min])
        all += cases(\.int32, [0, .max, .min])
        all += cases(\.int64, [0, .max, .min])
        all += cases(\.uint, [0, .max])
        all += cases(\.uint8, [0, .max])
        all += cases(\.uint16, [0, .max])
        all += cases(\.uint32, [0, .max])
        all += cases(\.uint64, [0, .max])
        all += cases(\.double, [0, -0.1, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
        all += cases(\.float, [0, 0.1, -.infinity])
        all += cases(\.bool, [true, false])
        all += cases(\.string, strings)
        all += cases(\.date, dates)
        all += cases(\.data, [Data(), Data([0]), Data(repeating: 7, count: 200_000)])
        all += cases(\.uuid, [UUID()])
        all += cases(\.url, [URL(string: "https://example.org/a?b=c#d") ?? URL(filePath: "/"), URL(filePath: "/x y")])
        all += cases(\.decimal, decimals)
        all += cases(\.text, Condition.allCases)
        all += cases(\.number, [.front, .back])
        all += cases(\.payload, origins)
        all += cases(\.place, places)
        all += cases(\.list, [[], [1, 2, 3]])
        all += cases(\.map, [[:], ["a": 1, "b": 2]])
        all += cases(\.set, [[], ["a", "b"]])
        all += cases(\.options, [[], .one, [.one, .two]])
        all += cases(\.optInt, [nil, 0, .min])
        all += cases(\.optInt8, [nil, 0, .min])
        all += cases(\.optUInt64, [nil, 0, .max])
        all += cases(\.optDouble, [nil, 0, -1.5])
        all += cases(\.optFloat, [nil, 0, 0.1])
        all += cases(\.optBool, [nil, false, true])
        all += cases(\.optString, [nil, "", "x"])
        all += cases(\.optDate, [nil] + dates)
        all += cases(\.optData, [nil, Data(), Data([1])])
        all += cases(\.optUUID, [nil, UUID()])
        all += cases(\.optURL, [nil, URL(filePath: "/b")])
        all += cases(\.optDecimal, [nil, 0, 3])
        all += cases(\.optText, [nil, .lost])
        all += cases(\.optNumber, [nil, .back])
        all += cases(\.optPayload, [nil] + origins)
        all += cases(\.optPlace, [nil] + places)
        all += cases(\.optList, [nil, [], [1]])
        all += cases(\.optMap, [nil, [:], ["a": 1]])
        return all
    }

    @Test(arguments: [false, true]) func `Each value of each type is read as it was written`(inMemory: Bool) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")
        let container = try ModelContainer(
            for: Values.self, configurations: inMemory ? ModelConfiguration(isStoredInMemoryOnly: true) : ModelConfiguration(url: url))
        let context = ModelContext(container)
        var models: [Values] = []
        let all = Self.all
        for (key, item) in all.enumerated() {
            let model = Values(key: key)
            // Half of them before the insertion, half after it.
            if key % 2 == 0 { item.set(model) }
            context.insert(model)
            if key % 2 == 1 { item.set(model) }
            #expect(item.holds(model), "\(item.name), unsaved")
            models.append(model)
        }
        try context.save()
        for (model, item) in zip(models, all) { #expect(item.holds(model), "\(item.name), saved") }
        let order = FetchDescriptor<Values>(sortBy: [SortDescriptor(\.key)])
        let other = ModelContext(container)
        let found = try other.fetch(order)
        #expect(found.count == all.count)
        for (model, item) in zip(found, all) { #expect(item.holds(model), "\(item.name), fetched") }
        // Each value over each former value of the same property: a change in a saved model.
        for (model, item) in zip(found, all.dropFirst() + all.prefix(1)) {
            item.set(model)
            #expect(item.holds(model), "\(item.name), changed")
        }
        try other.save()
        let again = try inMemory ? container : ModelContainer(for: Values.self, configurations: ModelConfiguration(url: url))
        let last = try ModelContext(again).fetch(order)
        for (model, item) in zip(last, all.dropFirst() + all.prefix(1)) { #expect(item.holds(model), "\(item.name), opened again") }
        // A rollback, a deletion and a second insertion keep values.
        let first = try #require(last.first)
        #expect(first.string == "a" && first.place.city == "a" && first.list == [1])
    }

    @Test func `A property that was never set has its declared default`() throws {
        let values = Values(key: 1)
        #expect(values.optInt == nil && values.optPlace == nil && values.optList == nil)
        #expect(values.text == .new && values.set == ["a"] && values.options == .one)
    }

    @Test func `A store has the forms of attributes that SwiftData's own files have`() throws {
        let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Values.self]))
        let attributes = try #require(model.entitiesByName["Values"]).attributesByName
        #expect(attributes["int"]?.attributeType == .integer64AttributeType)
        #expect((attributes["text"] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["text"])
        #expect((attributes["place"] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["city", "zip", "point"])
        #expect(attributes["list"]?.attributeType == .binaryDataAttributeType)
        #expect(attributes["optInt"]?.isOptional == true && attributes["int"]?.isOptional == false)
        #expect(attributes["string"]?.defaultValue as? String == "a")
    }
}
