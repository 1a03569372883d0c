import Foundation
import Testing

@testable import Heartwood

/// A class that overrides the open methods of key-value coding, and stores values that its entity does not have.
final class Ledger: NSManagedObject {
    var extras: [String: Any] = [:]
    var asked: [String] = []
    var changing: [String] = []

    override func value(forKey key: String) -> Any? {
        asked.append(key)
        return super.value(forKey: key)
    }

    override func value(forUndefinedKey key: String) -> Any? { extras[key] }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { extras[key] = value }
    override func setValue(_ value: Any?, forKey key: String) {
        super.setValue(key == "name" ? (value as? String)?.uppercased() : value, forKey: key)
    }

    override func willAccessValue(forKey key: String?) {
        asked.append("will \(key ?? "-")")
        super.willAccessValue(forKey: key)
    }

    override func didAccessValue(forKey key: String?) { asked.append("did \(key ?? "-")") }
    override func willChangeValue(forKey key: String) {
        changing.append("will \(key)")
        super.willChangeValue(forKey: key)
    }

    override func didChangeValue(forKey key: String) { changing.append("did \(key)") }

    var age: Int? {
        get {
            willAccessValue(forKey: "age")
            defer { didAccessValue(forKey: "age") }
            return primitiveValue(forKey: "age") as? Int
        }
        set {
            willChangeValue(forKey: "age")
            setPrimitiveValue(newValue, forKey: "age")
            didChangeValue(forKey: "age")
        }
    }

    override class func entity() -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = "Overridden"
        return entity
    }
}

@Suite struct KeyValueTests {
    private func stack(_ kind: StoreKind) throws -> TestStack {
        let model = TestStack.model()
        model.entitiesByName["Person"]?.managedObjectClassName = NSStringFromClass(Ledger.self)
        return try TestStack(kind, model: model)
    }

    @Test(arguments: StoreKind.allCases)
    func `Several values are set and read as a dictionary`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"]), person = stack.insert("Person", ["email": "a@x"])
        person.setValuesForKeys(["name": "Ada", "age": 36, "email": NSNull(), "group": group])
        try stack.context.save()
        stack.context.refresh(person, mergeChanges: false)
        let found = person.dictionaryWithValues(forKeys: ["name", "age", "email", "group", "tags", "isDeleted", "name"])
        #expect(found.count == 6 && found["name"] as? String == "Ada" && found["age"] as? Int == 36)
        #expect(found["email"] is NSNull && found["group"] as? NSManagedObject === group && found["isDeleted"] as? Bool == false)
        #expect((found["tags"] as? NSSet)?.count == 0)
        person.setValuesForKeys(found.filter { $0.key != "isDeleted" })
        #expect(!person.hasPersistentChangedValues, "what came out goes back in")
        person.setValuesForKeys(["group": NSNull(), "name": NSNull()])
        #expect(person.value(forKey: "group") == nil && person.value(forKey: "name") == nil && group.many("people").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `Key-value coding reads the properties of every object`(kind: StoreKind) throws {
        let stack = try TestStack(kind), person = stack.insert("Person", ["name": "Ada"])
        #expect(person.value(forKey: "isInserted") as? Bool == true && person.value(forKey: "hasChanges") as? Bool == true)
        try stack.context.save()
        #expect(person.value(forKey: "objectID") as? NSManagedObjectID == person.objectID)
        #expect(person.value(forKey: "entity") as? NSEntityDescription === person.entity)
        #expect(person.value(forKey: "managedObjectContext") as? NSManagedObjectContext === stack.context)
        #expect(person.value(forKey: "self") as? NSManagedObject === person && person.value(forKey: "hash") as? Int == person.hash)
        stack.context.refresh(person, mergeChanges: false)
        #expect(person.value(forKey: "isFault") as? Bool == true && person.value(forKey: "faultingState") as? Int == 1)
        #expect(person.value(forKey: "description") as? String == person.description)
        person.setValue("Grace", forKey: "name")
        #expect(person.value(forKey: "isUpdated") as? Bool == true && person.value(forKey: "updated") as? Bool == true)
        #expect(person.value(forKey: "hasPersistentChangedValues") as? Bool == true && person.value(forKey: "fault") as? Bool == false)
        stack.context.delete(person)
        #expect(person.value(forKey: "deleted") as? Bool == true && person.value(forKey: "inserted") as? Bool == false)
    }

    @Test(arguments: StoreKind.allCases)
    func `A class may override key-value coding`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let person = try #require(stack.insert("Person", ["name": "Ada"]) as? Ledger)
        #expect(person.value(forKey: "name") as? String == "ADA" && person.asked == ["name"])
        person.setValue(5, forKey: "score")
        #expect(person.value(forKey: "score") as? Int == 5 && person.value(forKey: "other") == nil)
        person.setValuesForKeys(["name": "Ben", "rank": 1])
        let found = person.dictionaryWithValues(forKeys: ["name", "rank", "score"]) as? [String: AnyHashable]
        #expect(found == ["name": "BEN", "rank": 1, "score": 5])
        try stack.context.save()
        stack.context.refresh(person, mergeChanges: false)
        person.asked = []
        #expect(person.age == 1 && person.asked == ["will age", "did age"])
        person.age = 9
        #expect(person.changing == ["will age", "did age"] && stack.context.updatedObjects == [person])
        try stack.context.save()
        #expect(try stack.fetch("Person", "age == 9 AND name == 'BEN'", in: stack.anew()).count == 1)
        #expect(NSPredicate(format: "score == 5").evaluate(with: person), "predicates that are evaluated on objects come by it")
        #expect((Ledger.self as NSManagedObject.Type).entity().name == "Overridden")
    }

    /// Types that are bridged on Apple's platforms.
    @Test(arguments: StoreKind.allCases)
    func `Any type of number and a substring may be set`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: SampleGraph.model())
        stack.insert("Sample", [
            "name": "Ada,Bob".split(separator: ",")[1], "age": CGFloat(30.5), "ratio": CGFloat(0.5), "price": CGFloat(1.5), "flag": CGFloat(1),
        ])
        try stack.context.save()
        let sample = try #require(try stack.fetch("Sample", in: stack.anew()).first)
        #expect(sample.value(forKey: "name") as? String == "Bob" && sample.value(forKey: "age") as? Int == 30)
        #expect(sample.value(forKey: "ratio") as? Double == 0.5 && sample.value(forKey: "flag") as? Bool == true)
        #expect(sample.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "1.5"))
    }

    /// Such a path gave nil, although a predicate finds the value.
    @Test(arguments: StoreKind.allCases)
    func `Key paths lead through values that are not managed objects`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada"])
        let all = stack.insert("Everything", ["transformable": ["city": "Rome", "numbers": [1, 2, 3]] as NSDictionary])
        try stack.context.save()
        #expect(person.value(forKeyPath: "entity.name") as? String == "Person" && person.value(forKeyPath: "name.length") as? Int == 3)
        #expect(all.value(forKeyPath: "transformable.city") as? String == "Rome")
        #expect(all.value(forKeyPath: "transformable.town") == nil && all.value(forKeyPath: "string.length") == nil)
        #expect(all.value(forKeyPath: "transformable.numbers.@sum.self") as? Int == 6)
        #expect(person.value(forKeyPath: "group.entity.name") == nil)
    }
}
