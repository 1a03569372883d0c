import Foundation
import Testing

@testable import Heartwood

final class LoudTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.uppercased().utf8) } }
    override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map { String(decoding: $0, as: UTF8.self) } }
}

final class ShadeTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [Colour.self] }
}

final class CountingTransformer: ValueTransformer {
    var count = 0
}

/// Transformers that a model names by their class, values that a transformer turns into nil, and attributes without a type.
@Suite struct TransformerClassTests {
    private static func stack(_ kind: StoreKind, _ attribute: NSAttributeDescription) throws -> TestStack {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "Thing"
        entity.properties = [attribute, TestStack.attribute("name", .stringAttributeType)]
        model.entities = [entity]
        return try TestStack(kind, model: model)
    }

    private static func attribute(_ transformer: String?) -> NSAttributeDescription {
        let attribute = TestStack.attribute("value", .transformableAttributeType)
        attribute.valueTransformerName = transformer
        return attribute
    }

    @Test
    func `A transformer's class is found by its name, with or without its module, and registered`() throws {
        // A module is known once it has made a request.
        _ = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        for name in [
            NSStringFromClass(LoudTransformer.self), "LoudTransformer", "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromData"]
        {
            let found = ValueTransformer(forName: NSValueTransformerName(name))
            #expect(found != nil && found === ValueTransformer(forName: NSValueTransformerName(name)), "\(name)")
            #expect(ValueTransformer.valueTransformerNames().contains(NSValueTransformerName(name)))
        }
        #expect(ValueTransformer(forName: NSValueTransformerName("LoudTransformer")) is LoudTransformer)
        #expect(ValueTransformer(forName: NSValueTransformerName("CountingTransformer")) == nil, "its stored property would not be initialized")
        #expect(ValueTransformer(forName: NSValueTransformerName("NobodysTransformer")) == nil)
        #expect(
            ValueTransformer(forName: NSValueTransformerName("Colour")) == nil
                || ValueTransformer(forName: NSValueTransformerName("Colour")) is ColourTransformer)
    }

    @Test(arguments: StoreKind.allCases)
    func `Attributes that name a transformer by its class save and read`(kind: StoreKind) throws {
        let values: [(String, Any, String)] = [
            ("LoudTransformer", "quiet", "QUIET"), ("NSSecureUnarchiveFromDataTransformer", ["a"] as NSArray, "\(["a"] as NSArray)"),
        ]
        for (name, value, wanted) in values {
            let stack = try Self.stack(kind, Self.attribute(name))
            let thing = stack.insert("Thing", ["value": value])
            try stack.context.save()
            let read = try #require(try stack.anew().existingObject(with: thing.objectID).value(forKey: "value"))
            #expect("\(read)" == wanted)
        }
        let stack = try Self.stack(kind, Self.attribute("ShadeTransformer"))
        let thing = stack.insert("Thing", ["value": Colour(red: 7)])
        try stack.context.save()
        #expect((try stack.anew().existingObject(with: thing.objectID).value(forKey: "value") as? Colour)?.red == 7)
        thing.setValue("no colour", forKey: "value")
        #expect(throws: (any Error).self, "what an unarchiver does not allow is not lost silently") { try stack.context.save() }
    }

    @Test(arguments: StoreKind.allCases)
    func `A value that a transformer turns into nil is saved as nil`(kind: StoreKind) throws {
        ValueTransformer.setValueTransformer(OpaqueTransformer(), forName: NSValueTransformerName("Opaque"))
        let stack = try Self.stack(kind, Self.attribute("Opaque"))
        let first = stack.insert("Thing", ["value": Opaque("x"), "name": "a"]), second = stack.insert("Thing", ["value": Opaque(""), "name": "b"])
        try stack.context.save()
        first.setValue(Opaque(""), forKey: "value")
        try stack.context.save()
        let reader = stack.anew()
        for thing in [first, second] {
            let read = try reader.existingObject(with: thing.objectID)
            #expect(read.value(forKey: "value") == nil && read.value(forKey: "name") != nil)
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.predicate = NSPredicate(format: "value == nil")
        #expect(try reader.count(for: request) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `An attribute without a type keeps what can be archived`(kind: StoreKind) throws {
        let attribute = NSAttributeDescription()
        attribute.name = "value"
        let stack = try Self.stack(kind, attribute)
        let values: [Any] = [5, "text", Data([1]), ["k": 1] as NSDictionary, Date(timeIntervalSinceReferenceDate: 1)]
        let things = values.map { stack.insert("Thing", ["value": $0]) }
        let empty = stack.insert("Thing", ["name": "e"])
        try stack.context.save()
        let reader = stack.anew()
        for (thing, value) in zip(things, values) {
            let read = try #require(try reader.existingObject(with: thing.objectID).value(forKey: "value") as? NSObject)
            #expect(read.isEqual(AttributeCoding.bridged(value)), "\(value)")
        }
        #expect(try reader.existingObject(with: empty.objectID).value(forKey: "value") == nil)
    }
}
