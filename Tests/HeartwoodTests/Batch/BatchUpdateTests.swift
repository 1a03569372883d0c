import Foundation
import Testing

@testable import Heartwood

@Suite struct BatchUpdateTests {
    private func filled(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind)
        try stack.insertBatch((0..<10).map { ["name": "p\($0)", "age": $0, "email": "p\($0)@x"] })
        try stack.insertBatch([["name": "e", "age": 3, "salary": 10]], into: "Employee")
        return stack
    }

    @Test(arguments: StoreKind.batching)
    func `A batch update sets every match and nothing else`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let group = stack.insert("Group", ["title": "g"])
        try stack.context.save()
        let person = try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])
        let age = try #require(person.attributesByName["age"])
        let ids = try stack.updateBatch("Person", "age > 7 OR name == 'e'", [age: 70, "group": group.objectID, "birthday": NSNull()])
        #expect(ids.count == 3 && Set(ids.map { $0.entity.name }) == ["Person", "Employee"])
        let context = stack.anew()
        #expect(try stack.fetch("Person", "age == 70", in: context).count == 3, "the index is written too")
        #expect(try stack.fetch("Person", "age == 8", in: context).isEmpty)
        #expect((context.object(with: group.objectID).value(forKey: "people") as? NSSet)?.count == 3)
        let e = try #require(try stack.fetch("Employee", in: context).first)
        #expect(e.value(forKey: "salary") as? Decimal == 10 && e.value(forKey: "name") as? String == "e")
        let request = NSBatchUpdateRequest(entity: person)
        request.includesSubentities = false
        request.propertiesToUpdate = ["age": 1]
        request.resultType = .updatedObjectsCountResultType
        #expect((try stack.context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 10)
        request.resultType = .statusOnlyResultType
        #expect((try stack.coordinator.execute(request, with: stack.context) as? NSBatchUpdateResult)?.result as? Bool == true)
        #expect(try stack.stored("Person", "age")["e"] == "70")
    }

    /// A row that moves along the index during the update is met once.
    @Test(arguments: StoreKind.batching)
    func `The index that finds the rows may change during the update`(kind: StoreKind) throws {
        let stack = try filled(kind)
        #expect(try stack.updateBatch("Person", "age >= 0 AND age < 100", ["age": 50]).count == 11)
        #expect(try stack.updateBatch("Person", "age >= 50", ["age": 60]).count == 11)
        #expect(try Set(stack.stored("Person", "age").values) == ["60"])
    }

    @Test(arguments: StoreKind.batching)
    func `Unique values are compared once everything is set`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let error = #expect(throws: NSError.self) { try stack.updateBatch("Person", "age < 2", ["email": "same@x"]) }
        #expect(error?.code == NSManagedObjectConstraintMergeError && error?.userInfo[NSAffectedObjectsErrorKey] != nil)
        #expect(throws: NSError.self) { try stack.updateBatch("Person", "age == 1", ["email": "p5@x"]) }
        #expect(try stack.stored("Person", "email")["p1"] == "p1@x")
        _ = try stack.updateBatch("Person", "name == 'p5'", ["email": "other@x"])
        _ = try stack.updateBatch("Person", "name == 'p1'", ["email": "p5@x"])
        _ = try stack.updateBatch("Person", nil, ["email": NSNull()])
        #expect(try Set(stack.stored("Person", "email").values) == ["nil"])
    }

    @Test(arguments: StoreKind.batching)
    func `A value that does not fit throws`(kind: StoreKind) throws {
        let stack = try filled(kind)
        for values in [[:], ["age": "x"], ["nme": 1], ["tags": []], ["tasks": NSNull()], [1: 2]] as [[AnyHashable: Any]] {
            #expect(throws: NSError.self) { try stack.updateBatch("Person", "age > 1000", values) }
        }
    }

    @Test(arguments: StoreKind.batching)
    func `Expressions are computed from the row as it was`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let changed = try stack.updateBatch(
            "Person", "age BETWEEN {3, 5} AND name != 'e'",
            ["age": NSExpression(format: "age * 10 + length(name) / 4.0"), "name": NSExpression(format: "uppercase(email)"),
             "birthday": NSExpression(forConstantValue: Date(timeIntervalSinceReferenceDate: 5))])
        #expect(changed.count == 3)
        let ages = try stack.stored("Person", "age")
        #expect(ages["P3@X"] == "30" && ages["P4@X"] == "40" && ages["P5@X"] == "50" && ages["p6"] == "6" && ages["e"] == "3")
        #expect(try stack.fetch("Person", "age == 40", in: stack.anew()).count == 1, "the index has the computed value")
        // Adding to null gives null. A result too large for the attribute, or a path to other rows, refuses the whole update.
        _ = try stack.updateBatch("Person", "name == 'p6'", ["email": NSExpression(format: "NULL")])
        for wrong in ["age * 1e12", "name", "group.title", "tasks.@count", "$x", "nme + 1", "SELF"] {
            #expect(throws: NSError.self, "\(wrong)") { try stack.updateBatch("Person", "name == 'p7'", ["age": NSExpression(format: wrong)]) }
        }
        #expect(throws: NSError.self) { try stack.updateBatch("Person", nil, ["group": NSExpression(format: "age")]) }
        #expect(try stack.stored("Person", "age")["p7"] == "7" && stack.stored("Person", "email")["p6"] == "nil")
    }

    /// A block needs objects, and a transient attribute has no column.
    @Test(arguments: StoreKind.batching)
    func `Questions that rows cannot answer are put to objects`(kind: StoreKind) throws {
        let model = TestStack.model()
        let mood = TestStack.attribute("mood", .stringAttributeType)
        mood.isTransient = true
        model.entitiesByName["Group"]?.properties.append(mood)
        let stack = try TestStack(kind, model: model)
        try stack.insertBatch([["title": "a"], ["title": "b"]], into: "Group")
        #expect(try stack.updateBatch("Group", "mood == nil AND title == 'a'", ["title": "c"]).count == 1)
        #expect(try stack.deleteBatch("Group", "mood == nil AND title == 'b'").count == 1)
        #expect(try stack.fetch("Group", in: stack.anew()).map { $0.value(forKey: "title") as? String } == ["c"])
        #expect(throws: NSError.self) { try stack.updateBatch("Group", nil, ["mood": "x"]) }
    }

    @Test(arguments: StoreKind.batching)
    func `Contexts are stale until they merge, and conflict until then`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)])
        let doomed = try #require(people.last), changed = try #require(people.dropFirst().first)
        for person in people { #expect(person.value(forKey: "age") != nil) }
        let heard = Heard([.NSManagedObjectContextDidSave, NSManagedObjectContext.didSaveObjectIDsNotification], of: stack.context)
        stack.context.automaticallyMergesChangesFromParent = true
        let updated = try stack.updateBatch("Person", "name != 'e'", ["age": 77], in: stack.context)
        let deleted = try stack.deleteBatch("Person", "name == 'p9'", in: stack.context)
        let inserted = try stack.insertBatch([["name": "q"]], in: stack.context)
        #expect(heard.all.isEmpty, "a batch posts no notification")
        #expect(changed.value(forKey: "age") as? Int == 0 && !doomed.isDeleted)
        changed.setValue("mine", forKey: "name")
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: updated, NSDeletedObjectsKey: deleted, NSInsertedObjectsKey: inserted],
            into: [stack.context])
        #expect(changed.value(forKey: "age") as? Int == 77 && changed.value(forKey: "name") as? String == "mine")
        #expect(doomed.isDeleted || doomed.managedObjectContext == nil)
        try stack.context.save()
        #expect(try stack.stored("Person", "age") == Dictionary(
            uniqueKeysWithValues: [("e", "3"), ("q", "1"), ("mine", "77")] + (1..<9).map { ("p\($0)", "77") }))
    }

    @Test
    func `A batch update reads each row that it sets at most a few times`() throws {
        let stack = try TestStack(.inMemory)
        try stack.insertBatch((0..<1000).map { ["name": "n\($0)", "age": $0] })
        let before = stack.rowReads
        #expect(try stack.updateBatch("Person", "age >= 900", ["birthday": Date()]).count == 100)
        #expect(stack.rowReads - before <= 300, "\(stack.rowReads - before) rows were read")
    }
}
