import Foundation
import Testing

@testable import Heartwood

/// Numbers of each type become numbers of every other, in place and through objects.
@Suite struct NumberMigrationTests {
    private static let types = ["bool", "int16", "int32", "int64", "float", "double", "decimal"]

    /// Values that fit the type, and the other types that can hold each.
    private static let values: [(value: NSNumber, types: Set<String>)] = [
        (0, Set(types)), (1, Set(types)),
        (-1, Set(types).subtracting(["bool"])), (300, Set(types).subtracting(["bool"])),
        (32_768, Set(types).subtracting(["bool", "int16"])), (-2_147_483_649, ["int64", "double", "decimal"]),
        (2.5, ["float", "double", "decimal"]), (-2.5, ["float", "double", "decimal"]), (0.25, ["float", "double", "decimal"]),
        (1e30, ["double", "decimal"]),
    ]

    /// NSNumber's conversion.
    private static func converted(_ value: NSNumber, to type: String) -> NSNumber? {
        let whole = value.doubleValue.rounded(.towardZero)
        return switch type {
        case "bool": NSNumber(value: value.doubleValue != 0)
        case "int16": Int16(exactly: whole).map { NSNumber(value: $0) }
        case "int32": Int32(exactly: whole).map { NSNumber(value: $0) }
        case "int64": Int64(exactly: whole).map { NSNumber(value: $0) }
        case "float": NSNumber(value: value.floatValue)
        case "double": NSNumber(value: value.doubleValue)
        default: NSDecimalNumber(decimal: Decimal(string: "\(value)")!)
        }
    }

    private static func stored(in chain: Chain, _ version: NSManagedObjectModel) throws -> [NSNumber?] {
        var found: [NSNumber?] = []
        try chain.with(version) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "A")
            request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
            found = try context.fetch(request).map { $0.value(forKey: "x") as? NSNumber }
        }
        return found
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Each type of number becomes each other one, nothing included`(kind: StoreKind) throws {
        for old in Self.types {
            for new in Self.types where new != old {
                let suited = Self.values.filter { $0.types.contains(old) && Self.converted($0.value, to: new) != nil }.map(\.value)
                let chain = try Chain(kind)
                try chain.with(Sketch("A: place:int16 x:\(old)")) { context in
                    context.make("A", ["place": 0])
                    for (index, value) in suited.enumerated() { context.make("A", ["place": index + 1, "x": value]) }
                }
                let found = try Self.stored(in: chain, Sketch("A: place:int16 x:\(new)").model)
                let wanted: [NSNumber?] = [nil] + suited.map { Self.converted($0, to: new) }
                #expect(found.count == wanted.count)
                for (one, other) in zip(found, wanted) {
                    #expect(one.map { "\($0)" } == other.map { "\($0)" }, "\(old) to \(new)")
                    if let one, let other { #expect(one.isEqual(to: other), "\(old) to \(new)") }
                }
            }
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A number that does not fit ends the migration, and the store is as it was`(kind: StoreKind) throws {
        for (old, value, new) in [
            ("double", 1e30, "int64"), ("double", .infinity, "int32"), ("double", .nan, "int16"), ("double", .nan, "decimal"),
            ("float", 40_000, "int16"),
        ] as [(String, Double, String)] {
            let chain = try Chain(kind)
            try chain.with(Sketch("A: place:int16 x:\(old)")) { $0.make("A", ["place": 0, "x": value]) }
            let contents = try Data(contentsOf: chain.url)
            let error = #expect(throws: (any Error).self) { try chain.with(Sketch("A: place:int16 x:\(new)")) { _ in } } as NSError?
            #expect(code(error) == NSMigrationError && error?.userInfo["property"] as? String == "x", "\(value) as \(new)")
            #expect(try Data(contentsOf: chain.url) == contents)
        }
    }

    @Test
    func `Unique and indexed numbers stay so as another type`() throws {
        func version(_ type: String) -> NSManagedObjectModel {
            let model = Sketch("A: place:int16 x:\(type)").model, entity = model.entitiesByName["A"]!
            entity.uniquenessConstraints = [["x"]]
            entity.indexes = [NSFetchIndexDescription(
                name: "byX", elements: [NSFetchIndexElementDescription(property: entity.attributesByName["x"]!, collationType: .binary)])]
            return model
        }
        let chain = try Chain(.recordLog)
        try chain.with(version("int32")) { context in for number in [3, 1, 2] { context.make("A", ["place": number, "x": number]) } }
        try chain.with(version("double")) { (context: NSManagedObjectContext) throws -> Void in
            let request = NSFetchRequest<NSManagedObject>(entityName: "A")
            request.predicate = NSPredicate(format: "x > 1.5")
            #expect(try context.count(for: request) == 2)
            context.make("A", ["x": 2.0])
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
        }
        // Two values that become one are refused.
        let other = try Chain(.recordLog)
        try other.with(version("double")) { context in for number in [1.25, 1.5] { context.make("A", ["x": number]) } }
        let error = #expect(throws: (any Error).self) { try other.with(version("int32")) { _ in } } as NSError?
        #expect(code(error) == NSMigrationConstraintViolationError)
    }
}
