import Foundation
import Testing

@testable import Heartwood

/// The limits that a model states for attributes.
@Suite struct LimitTests {
    private static var values: [(key: String, allowed: [Any], refused: [(Any, Int)])] { [
        ("small", [1, 9], [(0, NSValidationNumberTooSmallError), (10, NSValidationNumberTooLargeError)]),
        ("big", [-5, Int64.max], [(-6, NSValidationNumberTooSmallError)]),
        ("double", [0.5, 1.5], [(0.4, NSValidationNumberTooSmallError), (1.6, NSValidationNumberTooLargeError)]),
        ("float", [Float(2)], [(Float(2.5), NSValidationNumberTooLargeError)]),
        (
            "decimal", [NSDecimalNumber(string: "0.1"), NSDecimalNumber(string: "10")],
            [
                (NSDecimalNumber(string: "0.09"), NSValidationNumberTooSmallError),
                (NSDecimalNumber(string: "10.01"), NSValidationNumberTooLargeError),
            ]
        ),
        (
            "date", [Date(timeIntervalSinceReferenceDate: 100), Date(timeIntervalSinceReferenceDate: 200)],
            [
                (Date(timeIntervalSinceReferenceDate: 99), NSValidationDateTooSoonError),
                (Date(timeIntervalSinceReferenceDate: 201), NSValidationDateTooLateError),
            ]
        ),
        (
            "text", ["ab", "äöüß", "👋", "👋👋"],
            [("a", NSValidationStringTooShortError), ("👋👋👋", NSValidationStringTooLongError), ("", NSValidationStringTooShortError)]
        ),
        ("code", ["AB1", "XY123"], [("AB", NSValidationStringPatternMatchingError), ("xAB1", NSValidationStringPatternMatchingError)]),
    ] }

    @Test(arguments: StoreKind.allCases)
    func `Limits of a model file are enforced`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try CheckedModel.load())
        for (key, allowed, refused) in Self.values {
            let object = stack.insert("Limits", [:])
            for value in allowed {
                object.setValue(value, forKey: key)
                #expect(stack.failures().isEmpty, "\(key) \(value)")
            }
            for (value, code) in refused {
                object.setValue(value, forKey: key)
                let errors = stack.failures()
                #expect(errors.map(\.code) == [code], "\(key) \(value)")
                let info = try #require(errors.first?.userInfo)
                #expect(info[NSValidationObjectErrorKey] as? NSManagedObject === object)
                #expect(info[NSValidationKeyErrorKey] as? String == key)
                #expect((info[NSValidationValueErrorKey] as? NSObject)?.isEqual(object.value(forKey: key)) ?? true)
                #expect(info[NSValidationValueErrorKey].map { "\($0)" } == object.value(forKey: key).map { "\($0)" })
                #expect(info[NSValidationPredicateErrorKey] is NSPredicate)
                #expect(errors.first?.domain == NSCocoaErrorDomain)
            }
            object.setValue(nil, forKey: key)
            #expect(stack.failures().isEmpty, "\(key) is optional")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `All failures come in one error, and nothing is saved`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try CheckedModel.load())
        stack.insert("Limits", ["text": "good"])
        let one = stack.insert("Limits", ["small": 0, "text": "too long"])
        let two = stack.insert("Limits", ["code": "?"])
        let error = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(error?.code == NSValidationMultipleErrorsError && error?.domain == NSCocoaErrorDomain)
        let details = try #require(error?.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(details.map(\.code) == [1620, 1660, 1680])
        #expect(details.map { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject } == [one, one, two])
        #expect(try stack.fetch("Limits", in: stack.newContext()).isEmpty)
        #expect(stack.context.insertedObjects.count == 3)
        one.setValue(1, forKey: "small")
        one.setValue("fits", forKey: "text")
        stack.context.delete(two)
        try stack.context.save()
        #expect(try stack.fetch("Limits", in: stack.newContext()).count == 2)
    }

    /// Limits are not part of a model's version, so a store may have values from before them.
    @Test(arguments: StoreKind.allCases)
    func `An update checks the limits of unchanged properties`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: try CheckedModel.load())
        let one = stack.insert("Limits", ["text": "good"])
        try stack.context.save()
        one.setPrimitiveValue("quietly too long", forKey: "text")
        #expect(stack.failed() == [], "nothing is to be saved")
        one.setValue(3, forKey: "small")
        #expect(stack.failed() == ["1660 text"])
        guard kind.isFile else { return }
        let again = try TestStack(.recordLog, model: try Self.limitless())
        let old = again.insert("Limits", ["text": "longer than four"])
        try again.context.save()
        let uri = old.objectID.uriRepresentation()
        try again.coordinator.remove(again.coordinator.persistentStores[0])
        let strict = try TestStack(.recordLog, model: try CheckedModel.load(), at: again.url)
        let id = try #require(strict.coordinator.managedObjectID(forURIRepresentation: uri))
        strict.context.object(with: id).setValue(3, forKey: "small")
        #expect(strict.failed() == ["1660 text"])
    }

    /// The same model without limits.
    private static func limitless() throws -> NSManagedObjectModel {
        let model = try CheckedModel.load()
        for attribute in model.entities.flatMap(\.attributesByName.values) {
            attribute.setValidationPredicates(nil, withValidationWarnings: nil)
        }
        return model
    }

    @Test(arguments: StoreKind.allCases)
    func `Predicates in code give their warnings`(kind: StoreKind) throws {
        let model = TestStack.model()
        let person = try #require(model.entitiesByName["Person"]), name = try #require(person.attributesByName["name"])
        let warnings = ["two to four letters", "not that one", "nor that"]
        name.setValidationPredicates(
            [
                NSPredicate(format: "length > 1 AND length < 5"), NSPredicate(format: "SELF != 'evil'"),
                NSPredicate { value, _ in value as? String != "null" },
            ], withValidationWarnings: warnings)
        person.attributesByName["age"]?.setValidationPredicates(
            [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF < 150")], withValidationWarnings: nil)
        person.attributesByName["email"]?.setValidationPredicates(
            [NSPredicate(format: "SELF MATCHES '.+@.+'")], withValidationWarnings: nil)
        let relationships = person.relationshipsByName
        relationships["tags"]?.setValidationPredicates([NSPredicate(format: "@count <= 1")], withValidationWarnings: ["one tag"])
        relationships["group"]?.setValidationPredicates([NSPredicate(format: "title != 'closed'")], withValidationWarnings: ["closed"])
        #expect(name.validationPredicates.count == 3 && name.validationWarnings as? [String] == warnings)
        let copied = (model.copy() as? NSManagedObjectModel)?.entitiesByName["Person"]?.attributesByName["name"]
        #expect(copied?.validationPredicates == name.validationPredicates)
        let stack = try TestStack(kind, model: model)
        let group = stack.insert("Group", ["title": "closed"]), tags = [stack.insert("Tag", [:]), stack.insert("Tag", [:])]
        let one = stack.insert("Person", ["name": "a"])
        func texts() -> [String] { stack.failures().map { $0.code == 1550 ? $0.localizedDescription : "\($0.code)" } }
        #expect(texts() == ["two to four letters"])
        one.setValue("evil", forKey: "name")
        #expect(texts() == ["not that one"])
        one.setValue("null", forKey: "name")
        #expect(texts() == ["nor that"])
        one.setValue("good", forKey: "name")
        #expect(texts() == [])
        one.setValue(0, forKey: "age")
        one.setValue("nobody", forKey: "email")
        #expect(texts() == ["\(NSValidationNumberTooSmallError)", "\(NSValidationStringPatternMatchingError)"])
        one.setValue(150, forKey: "age")
        one.setValue("some@body", forKey: "email")
        #expect(texts() == ["\(NSValidationNumberTooLargeError)"])
        one.setValue(149, forKey: "age")
        one.setValue(group, forKey: "group")
        one.setValue(NSSet(array: tags), forKey: "tags")
        #expect(texts() == ["closed", "one tag"])
    }

    @Test
    func `A model keeps its limits in a store and reports those that are none`() throws {
        let model = try CheckedModel.load()
        let again = try model.archivedBytes().withUnsafeBytes { try NSManagedObjectModel.unarchive($0) }
        for (entity, other) in zip(model.entities, again.entities) {
            for (name, attribute) in entity.attributesByName { #expect(other.attributesByName[name]?.rules == attribute.rules, "\(name)") }
        }
        #expect(again.entitiesByName["Limits"]?.attributesByName["text"]?.rules == ValidationRules(minimum: 2, maximum: 4))
        for (attribute, says) in [
            ("attributeType=\"Integer 16\" minValueString=\"few\"", "\"few\", which is no number"),
            ("attributeType=\"String\" regularExpressionString=\"(\"", "no regular expression"),
        ] {
            let error = #expect(throws: (any Error).self) {
                try CheckedModel.load("<entity name=\"A\"><attribute name=\"x\" \(attribute)/></entity>")
            } as? NSError
            #expect(error?.localizedDescription.contains(says) == true, "\(error?.localizedDescription ?? "")")
            #expect(error?.localizedDescription.contains("contents:3") == true)
        }
    }

    private static func stack(_ type: String, _ limits: String) throws -> TestStack {
        try TestStack(.inMemory, model: ModelTests.load(
            "<entity name=\"E\"><attribute name=\"n\" optional=\"YES\" attributeType=\"\(type)\" \(limits)/></entity>"))
    }

    @Test(arguments: ["Float", "Double", "Decimal"], ["0.07", "0.1", "2.675", "123456.789"])
    func `A limit is among the values it allows`(type: String, limit: String) throws {
        let stated = "minValueString=\"\(limit)\" maxValueString=\"\(limit)\""
        let stack = try Self.stack(type, "defaultValueString=\"\(limit)\" " + stated)
        stack.insert("E", [:])
        try stack.context.save()
        let rules = stack.coordinator.managedObjectModel.entitiesByName["E"]?.attributesByName["n"]?.rules
        let known = type == "Float" ? Float(limit).flatMap { Double("\($0)") } : Double(limit)
        #expect(rules == ValidationRules(minimum: known, maximum: known))
        stack.insert("E", ["n": NSDecimalNumber(string: limit).adding(1)])
        #expect { try stack.context.save() } throws: { ($0 as NSError).code == NSValidationNumberTooLargeError }
    }

    @Test
    func `A limit beyond the range of exact doubles is exact`() throws {
        let stack = try Self.stack("Integer 64", "minValueString=\"9007199254740993\" maxValueString=\"9223372036854775806\"")
        let object = stack.insert("E", ["n": 9_007_199_254_740_992])
        #expect { try stack.context.save() } throws: { ($0 as NSError).code == NSValidationNumberTooSmallError }
        object.setValue(Int64.max, forKey: "n")
        #expect { try stack.context.save() } throws: { ($0 as NSError).code == NSValidationNumberTooLargeError }
        object.setValue(Int64.max - 1, forKey: "n")
        try stack.context.save()
    }

    @Test
    func `An infinite limit is refused in a file and keeps no store from being made`() throws {
        for text in ["inf", "nan", "1e400"] {
            #expect(throws: (any Error).self) { try Self.stack("Double", "maxValueString=\"\(text)\"") }
        }
        let attribute = TestStack.attribute("n", .doubleAttributeType)
        attribute.setValidationPredicates(
            [NSPredicate(format: "SELF <= %@", argumentArray: [Double.infinity])], withValidationWarnings: nil)
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "E"
        entity.properties = [attribute]
        model.entities = [entity]
        let stack = try TestStack(.inMemory, model: model)
        stack.insert("E", ["n": 1.5])
        try stack.context.save()
    }
}
