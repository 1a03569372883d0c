import Foundation
import Testing

@testable import Heartwood

/// Every type of attribute, with a value and without, as it is stored, changed, inserted and inherited.
@Suite struct ValuesTypeTests {
    private static let uuid = UUID()
    private static var values: [String: Any] { [
        "int16": -16, "int32": 32, "int64": NSNumber(value: Int64.max), "double": 1.5, "float": 2.5, "decimal": NSDecimalNumber(string: "0.1"),
        "string": "Zo\u{EB}, and more than fifteen bytes", "bool": true, "date": Date(timeIntervalSinceReferenceDate: 4.25), "data": Data([1, 2]),
        "uuid": uuid, "uri": URL(string: "https://example.org/a")!, "transformable": ["a", "b"] as NSArray,
    ] }

    private func check(_ context: NSManagedObjectContext, _ expected: [[String: Any]], _ place: String) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Everything")
        request.sortDescriptors = [NSSortDescriptor(key: "int32", ascending: true)]
        func compare<Value: Equatable>(_ name: String, _ type: Value.Type = Value.self) throws {
            let found = try context.values(request, AttributePath<Value?>(name))
            #expect(found == expected.map { $0[name] as? Value }, "\(name), \(place)")
        }
        try compare("int16", Int16.self)
        try compare("int32", Int32.self)
        try compare("int64", Int64.self)
        try compare("int64", Int.self)
        try compare("double", Double.self)
        try compare("float", Float.self)
        try compare("decimal", NSDecimalNumber.self)
        try compare("string", String.self)
        try compare("bool", Bool.self)
        try compare("date", Date.self)
        try compare("data", Data.self)
        try compare("uuid", UUID.self)
        try compare("uri", URL.self)
        try compare("transformable", NSArray.self)
        try compare("transformable", [String].self)
        try compare("int16", NSNumber.self)
        let decimals = try context.values(request, AttributePath<Decimal?>("decimal"))
        #expect(decimals == expected.map { ($0["decimal"] as? NSDecimalNumber)?.decimalValue }, "\(place)")
        let all = try context.values(
            request, AttributePath<Bool?>("bool"), AttributePath<Int16?>("int16"), AttributePath<String?>("string"), AttributePath<Float?>("float"),
            AttributePath<UUID?>("uuid"), AttributePath<Bool?>("bool"), AttributePath<Double?>("double"))
        for (row, values) in zip(all, expected) {
            #expect(row.0 == values["bool"] as? Bool && row.1 == values["int16"] as? Int16 && row.2 == values["string"] as? String)
            #expect(row.3 == values["float"] as? Float && row.4 == values["uuid"] as? UUID && row.5 == row.0 && row.6 == values["double"] as? Double)
        }
        #expect(all.count == expected.count)
        let wide = try context.values(request, AttributePath<Double?>("int16"), AttributePath<UInt64?>("int64"), AttributePath<Int?>("bool"))
        #expect(wide.map(\.0) == expected.map { ($0["int16"] as? Int16).map(Double.init) })
        #expect(wide.map(\.1) == expected.map { ($0["int64"] as? Int64).map(UInt64.init) })
        #expect(wide.map(\.2) == expected.map { ($0["bool"] as? Bool).map { $0 ? 1 : 0 } })
    }

    /// What objects of a fetch have, as the types that attributes have.
    private func expected(_ sources: [[String: Any]]) -> [[String: Any]] {
        sources.map { source in
            var values = source
            if let number = source["int16"] as? Int { values["int16"] = Int16(number) }
            if let number = source["int32"] as? Int { values["int32"] = Int32(number) }
            if let number = source["float"] as? Double { values["float"] = Float(number) }
            return values
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Values of every type, and no values, come back from rows, from changes and through a child context`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        var sources: [[String: Any]] = [["int32": 1], Self.values, ["int32": 40]]
        let objects = sources.map { stack.insert("Everything", $0) }
        try check(stack.context, expected(sources), "inserted")
        try stack.context.save()
        try check(stack.newContext(), expected(sources), "stored")
        try check(stack.context, expected(sources), "saved")
        for (key, value) in Self.values where key != "int32" {
            objects[0].setValue(value, forKey: key)
            objects[1].setValue(nil, forKey: key)
        }
        let old = sources
        (sources[0], sources[1]) = (Self.values.merging(["int32": 1]) { $1 }, ["int32": 32])
        try check(stack.context, expected(sources), "changed")
        try check(stack.newContext(), expected(old), "stored, while changed elsewhere")
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        try check(child, expected(sources), "child")
        stack.context.delete(objects[2])
        try check(stack.context, expected(Array(sources.prefix(2))), "deleted")
        let ignoring = NSFetchRequest<NSManagedObject>(entityName: "Everything")
        ignoring.includesPendingChanges = false
        ignoring.sortDescriptors = [NSSortDescriptor(key: "int32", ascending: true)]
        let strings = try stack.context.values(ignoring, AttributePath<String?>("string"))
        #expect(strings == [nil, Self.values["string"] as? String, nil])
    }
}
