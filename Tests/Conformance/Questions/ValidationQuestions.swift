import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A value that breaks a validation predicate.
struct BrokenRule: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let type: NSAttributeType
    let rule: String
    let bad: @Sendable () -> Any
    let good: @Sendable () -> Any

    init(_ rule: String, _ type: NSAttributeType, bad: @escaping @Sendable () -> Any, good: @escaping @Sendable () -> Any) {
        (testDescription, self.type, self.rule, self.bad, self.good) = ("\(type) \(rule)", type, rule, bad, good)
    }

    static let all = [
        BrokenRule("SELF >= 1", .integer16AttributeType, bad: { 0 }, good: { 1 }),
        BrokenRule("SELF <= 9", .integer16AttributeType, bad: { 10 }, good: { 9 }),
        BrokenRule("SELF >= 1", .integer32AttributeType, bad: { 0 }, good: { 1 }),
        BrokenRule("SELF <= 9", .integer64AttributeType, bad: { 10 }, good: { 9 }),
        BrokenRule("SELF >= 1", .doubleAttributeType, bad: { 0.5 }, good: { 1.5 }),
        BrokenRule("SELF <= 9", .floatAttributeType, bad: { Float(9.5) }, good: { Float(8.5) }),
        BrokenRule("SELF >= 1", .decimalAttributeType, bad: { NSDecimalNumber(string: "0.5") }, good: { NSDecimalNumber(string: "1.5") }),
        BrokenRule("length >= 3", .stringAttributeType, bad: { "ab" }, good: { "abc" }),
        BrokenRule("length <= 3", .stringAttributeType, bad: { "abcd" }, good: { "abc" }),
        BrokenRule("SELF MATCHES '[a-z]+'", .stringAttributeType, bad: { "A1" }, good: { "ab" }),
        BrokenRule(
            "SELF <= CAST(1000, 'NSDate')", .dateAttributeType, bad: { Date(timeIntervalSinceReferenceDate: 1001) },
            good: { Date(timeIntervalSinceReferenceDate: 999) }),
        BrokenRule(
            "SELF >= CAST(1000, 'NSDate')", .dateAttributeType, bad: { Date(timeIntervalSinceReferenceDate: 999) },
            good: { Date(timeIntervalSinceReferenceDate: 1001) }),
    ]
}

/// An object whose validation a test provides.
final class Inspector: NSManagedObject {
    static var refusals: [String: Int] = [:]
    static var replacement: AnyObject?

    private func refuse(_ what: String) throws {
        if let code = Self.refusals[what] { throw NSError(domain: "Inspector", code: code) }
    }

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        if key == "name", let replacement = Self.replacement { value.pointee = replacement }
        try super.validateValue(value, forKey: key)
        try refuse(key)
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try refuse("insert")
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try refuse("update")
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        try refuse("delete")
    }
}

@MainActor struct ValidationQuestions {
    @Test(.reference("nspropertydescription/validationpredicates"), arguments: BrokenRule.all)
    func `A value that breaks a validation predicate fails the save, which names its key`(rule: BrokenRule) throws {
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Item", [Sketch.checked("value", rule.type, rule.rule)])))
        let item = stack.new("Item", ["value": rule.bad()]), error = try #require(failure { try stack.context.save() })
        #expect(error.domain == NSCocoaErrorDomain && error.userInfo[NSValidationKeyErrorKey] as? String == "value")
        item.setValue(rule.good(), forKey: "value")
        #expect(stack.codes() == [])
    }

    @Test(.header("CoreDataErrors", "NSManagedObjectValidationError: generic"))
    func `A validation predicate with a warning of its own fails with 1550`() throws {
        let attribute = Sketch.checked("value", .integer32AttributeType, "SELF != 4")
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Item", [attribute])))
        stack.new("Item", ["value": 4])
        #expect(stack.codes() == [NSManagedObjectValidationError])
    }

    @Test(.reference("nspropertydescription/isoptional"), arguments: StoreKind.allCases)
    func `nil breaks no limit of an optional attribute`(kind: StoreKind) throws {
        let stack = try Stack(kind, Sketch.model(Sketch.entity("Item", [Sketch.checked("value", .integer32AttributeType, "SELF >= 1")])))
        stack.new("Item")
        #expect(stack.codes() == [])
    }

    private func required(_ count: Int = 1, of type: NSManagedObject.Type = NSManagedObject.self) -> NSManagedObjectModel {
        let required = (0..<count).map { Sketch.attribute("r\($0)", optional: false) }
        return Sketch.model(Sketch.entity("Item", [Sketch.attribute("name")] + required, of: type))
    }

    @Test(
        .source("NSError user info keys: NSValidationObjectErrorKey, NSValidationKeyErrorKey, NSValidationValueErrorKey"),
        arguments: StoreKind.allCases)
    func `A single failure names its object, key and value`(kind: StoreKind) throws {
        let stack = try Stack(kind, Sketch.model(Sketch.entity("Item", [Sketch.checked("value", .integer32AttributeType, "SELF >= 1")])))
        let item = stack.new("Item", ["value": 0])
        let error = try #require(failure { try stack.context.save() })
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === item)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "value")
        #expect(error.userInfo[NSValidationValueErrorKey] as? Int == 0)
    }

    @Test(.source("NSError user info keys: NSValidationPredicateErrorKey"))
    func `A failed predicate is in the error`() throws {
        let value = Sketch.checked("value", .integer32AttributeType, "SELF >= 1")
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Item", [value])))
        stack.new("Item", ["value": 0])
        let error = try #require(failure { try stack.context.save() })
        #expect("\(try #require(error.userInfo[NSValidationPredicateErrorKey]))" == "SELF >= 1")
    }

    @Test(.guide("Object Validation", "Combining Validation Errors"), arguments: StoreKind.allCases)
    func `Several failures are one error of code 1560 with all of them in its details`(kind: StoreKind) throws {
        let stack = try Stack(kind, required(2))
        stack.new("Item")
        let error = try #require(failure { try stack.context.save() })
        #expect(error.code == NSValidationMultipleErrorsError && error.domain == NSCocoaErrorDomain)
        let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(details.map(\.code) == [1570, 1570])
        #expect(Set(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String }) == ["r0", "r1"])
    }

    @Test(.guide("Object Validation", "Combining Validation Errors"), arguments: StoreKind.allCases)
    func `Failures of several objects come in one error`(kind: StoreKind) throws {
        let stack = try Stack(kind, required()), items = [stack.new("Item"), stack.new("Item")]
        let details = try #require(failure { try stack.context.save() }?.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(Set(details.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }) == Set(items))
    }

    @Test(.reference("nsmanagedobjectcontext/save()"), arguments: StoreKind.allCases)
    func `A save that fails to validate writes nothing and keeps changes`(kind: StoreKind) throws {
        let stack = try Stack(kind, required())
        stack.new("Item", ["r0": "good"])
        let bad = stack.new("Item")
        #expect(stack.codes() == [1570] && stack.context.insertedObjects.count == 2)
        #expect(try stack.count("Item", in: stack.sibling()) == 0)
        bad.setValue("mended", forKey: "r0")
        #expect(stack.codes() == [])
    }

    @Test(.reference("nsmanagedobject/validateforinsert()"))
    func `validateForInsert() checks all properties`() throws {
        let stack = try Stack(.inMemory, required()), item = stack.new("Item")
        #expect(failure { try item.validateForInsert() }?.code == 1570)
        item.setValue("good", forKey: "r0")
        #expect(failure { try item.validateForInsert() } == nil)
    }

    @Test(.reference("nsmanagedobject/validatevalue(_:forkey:)"))
    func `validateValue(_:forKey:) checks a value that the object need not have`() throws {
        let value = Sketch.checked("value", .integer32AttributeType, "SELF >= 1")
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Item", [value])))
        let item = stack.new("Item")
        func check(_ number: Int) -> Int? {
            var value: AnyObject? = NSNumber(value: number)
            return failure { try item.validateValue(&value, forKey: "value") }?.code
        }
        #expect(check(0) != nil && check(1) == nil && item.value(forKey: "value") == nil)
    }

    @Test(.guide("Object Validation", "Implementing Custom Interproperty Validation"), arguments: ["insert", "update", "delete"])
    func `A save calls validateForInsert, validateForUpdate or validateForDelete, by what an object goes through`(hook: String) throws {
        Inspector.refusals = [:]
        let stack = try Stack(.inMemory, required(0, of: Inspector.self))
        defer { Inspector.refusals = [:] }
        let item = stack.new("Item")
        if hook != "insert" { try stack.context.save() }
        Inspector.refusals = ["insert": 1, "update": 2, "delete": 3]
        if hook == "update" { item.setValue("x", forKey: "name") }
        if hook == "delete" { stack.context.delete(item) }
        let error = try #require(failure { try stack.context.save() })
        #expect(error.domain == "Inspector" && error.code == ["insert": 1, "update": 2, "delete": 3][hook])
    }

    @Test(.guide("Object Validation", "Implementing Custom Property-Level Validation"), arguments: StoreKind.allCases)
    func `A class's own check of a value fails the save`(kind: StoreKind) throws {
        let stack = try Stack(kind, required(0, of: Inspector.self))
        Inspector.refusals = ["name": 5]
        defer { Inspector.refusals = [:] }
        stack.new("Item", ["name": "x"])
        #expect(failure { try stack.context.save() }?.code == 5)
    }

    @Test(.guide("Object Validation", "Combining Validation Errors"))
    func `A class's failure and the model's come in one error`() throws {
        let stack = try Stack(.inMemory, required(1, of: Inspector.self))
        Inspector.refusals = ["name": 5]
        defer { Inspector.refusals = [:] }
        stack.new("Item", ["name": "x"])
        #expect(stack.codes() == [5, 1570])
    }

    private func counted(min: Int, max: Int, optional: Bool) -> NSManagedObjectModel {
        let team = Sketch.entity("Team", []), member = Sketch.entity("Member", [])
        let members = Sketch.relationship(team, "members", .many, to: member, optional: optional)
        (members.minCount, members.maxCount) = (min, max)
        Sketch.pair(members, Sketch.relationship(member, "team", .one, to: team))
        return Sketch.model(team, member)
    }

    @Test(.header("CoreDataErrors", "NSValidationRelationshipLacksMinimumCountError"), arguments: StoreKind.allCases)
    func `Fewer members than the minimum fail with 1580`(kind: StoreKind) throws {
        let stack = try Stack(kind, counted(min: 2, max: 3, optional: true)), team = stack.new("Team")
        stack.new("Member", ["team": team])
        #expect(stack.codes() == [NSValidationRelationshipLacksMinimumCountError])
    }

    @Test(.header("CoreDataErrors", "NSValidationRelationshipExceedsMaximumCountError"), arguments: StoreKind.allCases)
    func `More members than the maximum fail with 1590`(kind: StoreKind) throws {
        let stack = try Stack(kind, counted(min: 0, max: 2, optional: true)), team = stack.new("Team")
        for _ in 1...3 { stack.new("Member", ["team": team]) }
        #expect(stack.codes() == [NSValidationRelationshipExceedsMaximumCountError])
    }

    @Test(.header("NSRelationshipDescription", "minCount, maxCount"), arguments: StoreKind.allCases)
    func `An optional relationship may be empty below its minimum`(kind: StoreKind) throws {
        let stack = try Stack(kind, counted(min: 2, max: 3, optional: true))
        stack.new("Team")
        #expect(stack.codes() == [])
    }

    @Test(.reference("nsrelationshipdescription/mincount"), arguments: StoreKind.allCases)
    func `An empty required to-many relationship of minimum 0 is saved`(kind: StoreKind) throws {
        let stack = try Stack(kind, counted(min: 0, max: 0, optional: false))
        stack.new("Team")
        #expect(stack.codes() == [])
    }

    @Test(.header("CoreDataErrors", "NSValidationMissingMandatoryPropertyError"), arguments: StoreKind.allCases)
    func `A required to-one relationship that is nil fails with 1570`(kind: StoreKind) throws {
        let team = Sketch.entity("Team", []), member = Sketch.entity("Member", [])
        let inTeam = Sketch.relationship(member, "team", .one, to: team, optional: false)
        Sketch.pair(Sketch.relationship(team, "members", .many, to: member), inTeam)
        let stack = try Stack(kind, Sketch.model(team, member))
        stack.new("Member")
        #expect(stack.codes() == [NSValidationMissingMandatoryPropertyError])
    }

    @Test(.guide("Creating Managed Object Relationships", "Relationship Delete Rules"), arguments: StoreKind.allCases)
    func `A deletion that a relationship denies fails the save with 1600`(kind: StoreKind) throws {
        let team = Sketch.entity("Team", []), member = Sketch.entity("Member", [])
        Sketch.pair(
            Sketch.relationship(team, "members", .many, to: member, rule: .denyDeleteRule),
            Sketch.relationship(member, "team", .one, to: team))
        let stack = try Stack(kind, Sketch.model(team, member)), one = stack.new("Team"), last = stack.new("Member", ["team": one])
        try stack.context.save()
        stack.context.delete(one)
        #expect(stack.codes() == [NSValidationRelationshipDeniedDeleteError])
        stack.context.delete(last)
        #expect(stack.codes() == [])
    }

    @Test(.header("NSPropertyDescription", "transient"))
    func `A transient attribute is validated too`() throws {
        let mood = Sketch.transient("mood")
        mood.setValidationPredicates([NSPredicate(format: "length <= 3")], withValidationWarnings: ["short"])
        let stack = try Stack(.inMemory, Sketch.model(Sketch.entity("Item", [mood])))
        stack.new("Item", ["mood": "glad"])
        #expect(failure { try stack.context.save() }?.userInfo[NSValidationKeyErrorKey] as? String == "mood")
    }

    @Test(.guide("Creating a Managed Object Model", "Entity Inheritance"), arguments: StoreKind.allCases)
    func `A sub-entity's object keeps its parent's rules`(kind: StoreKind) throws {
        let parent = Sketch.entity("Parent", [Sketch.attribute("name", optional: false)]), child = Sketch.entity("Child", [])
        parent.subentities = [child]
        let stack = try Stack(kind, Sketch.model(parent, child))
        stack.new("Child")
        #expect(stack.codes() == [1570])
    }
}
