import Foundation
import Testing

@testable import Heartwood

/// The key `entity`, which every object has.
@Suite struct EntityPredicateTests {
    /// Two persons and two employees; "ann", an employee, leads a group of everyone but herself.
    private func stack(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "t"])
        let ann = stack.insert("Employee", ["name": "ann", "age": 3])
        for (entity, name, partner) in [
            ("Employee", "bob", ann), ("Person", "cy", nil), ("Person", "di", nil)] as [(String, String, NSManagedObject?)]
        {
            let person = stack.insert(entity, ["name": name, "age": 3, "group": group, "tags": Set([tag])])
            person.setValue(partner, forKey: "partner")
        }
        try stack.context.save()
        return stack
    }

    private func entity(_ name: String, _ stack: TestStack) throws -> NSEntityDescription {
        try #require(stack.coordinator.managedObjectModel.entitiesByName[name])
    }

    private func check(
        _ stack: TestStack, _ format: String, _ arguments: [Any], _ wanted: [String], of entity: String = "Person", key: String = "name"
    ) throws {
        func names(_ objects: [NSManagedObject]) -> [String] { objects.map { $0.value(forKey: key) as? String ?? "-" }.sorted() }
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        #expect(names(try stack.fetch(entity).filter { predicate.evaluate(with: $0) }) == wanted, "\(predicate) in memory")
        #expect(names(try stack.fetch(entity, format, arguments)) == wanted, "\(predicate)")
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        #expect(try stack.context.count(for: request) == wanted.count, "\(predicate) counted")
        let child = stack.context.child()
        let found = try withExtendedLifetime(child) { names(try stack.fetch(entity, format, arguments, in: child)) }
        #expect(found == wanted, "\(predicate) of a child")
    }

    @Test(arguments: StoreKind.allCases)
    func `A predicate may ask for the entity`(kind: StoreKind) throws {
        let stack = try stack(kind), person = try entity("Person", stack), employee = try entity("Employee", stack), tag = try entity("Tag", stack)
        for isPending in [false, true] {
            if isPending { try stack.fetch("Person", "name == 'cy'")[0].setValue(4, forKey: "age") }
            for (format, arguments, wanted) in [
                ("entity == %@", [employee], ["ann", "bob"]), ("entity == %@", [person], ["cy", "di"]),
                ("%@ == entity", [employee], ["ann", "bob"]),
                ("SELF.entity == %@", [employee], ["ann", "bob"]), ("entity != %@", [employee], ["cy", "di"]),
                ("NOT entity == %@", [employee], ["cy", "di"]),
                ("entity IN %@", [[employee, tag]], ["ann", "bob"]), ("entity IN {%@, %@}", [employee, person], ["ann", "bob", "cy", "di"]),
                ("entity == %@", [tag], []),
                ("entity == nil", [], []), ("entity.name == 'Employee'", [], ["ann", "bob"]), ("entity.name BEGINSWITH 'P'", [], ["cy", "di"]),
                ("entity.name != %@", ["Person"], ["ann", "bob"]), ("entity.name == name", [], []),
                ("entity == %@ AND name == 'ann'", [employee], ["ann"]),
                ("entity == %@ OR name == 'di'", [employee], ["ann", "bob", "di"]), ("NOT (entity == %@ OR name == 'di')", [employee], ["cy"]),
                ("TERNARY(entity == %@, 1, 2) == 1", [employee], ["ann", "bob"]), ("partner.entity == %@", [employee], ["ann", "bob"]),
                ("partner.entity.name == 'Person'", [], []),
                ("partner.entity != %@", [employee], ["cy", "di"]), ("group.entity.name == 'Group'", [], ["bob", "cy", "di"]),
                ("entity == partner.entity", [], ["ann", "bob"]),
            ] as [(String, [Any], [String])] {
                try check(stack, format, arguments, wanted)
            }
            for (format, arguments, wanted) in [
                ("ANY people.entity == %@", [employee], ["g"]), ("ALL people.entity == %@", [employee], []),
                ("SUBQUERY(people, $p, $p.entity == %@).@count == 1", [employee], ["g"]),
                ("SUBQUERY(people, $p, $p.entity.name == 'Person').@count == 2", [], ["g"]),
                ("SUBQUERY(people, $p, $p.partner.entity == %@).@count == 1", [employee], ["g"]),
            ] as [(String, [Any], [String])] {
                try check(stack, format, arguments, wanted, of: "Group", key: "title")
            }
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Tables of other entities are not read`(kind: StoreKind) throws {
        let stack = try stack(kind), employee = try entity("Employee", stack)
        for format in [
            "entity == $e", "entity IN {$e}", "SELF.entity == $e AND age > 0", "NOT entity != $e", "entity == $e AND (entity != $e OR name != 'x')",
            "(entity == $e AND age == 3) OR (entity == $e AND age == 4)", "entity.name == 'Employee'",
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = NSPredicate(format: format).withSubstitutionVariables(["e": employee])
            let plan = try stack.context.explain(request)
            #expect(plan.parts.first { $0.entityName == "Person" }?.access == .nothing, "\(format): \(plan)")
            #expect(plan.rowsVisited == 2 && plan.rowsMatched == 2, "\(format): \(plan)")
        }
        // An index serves the rest of a table's condition.
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "entity == %@ AND (entity != %@ OR age == 3)", argumentArray: [employee, employee])
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let plan = try stack.context.explain(request)
        #expect(plan.parts.first { $0.entityName == "Employee" }?.access == .index("index:byAge") && !plan.isSorted, "\(plan)")
    }

    @Test(arguments: StoreKind.allCases)
    func `An attribute named "entity" goes first`(kind: StoreKind) throws {
        let model = NSManagedObjectModel(), word = NSEntityDescription(), special = NSEntityDescription()
        (word.name, special.name) = ("Word", "Special")
        word.properties = [TestStack.attribute("name", .stringAttributeType)]
        special.properties = [TestStack.attribute("entity", .stringAttributeType)]
        word.subentities = [special]
        model.entities = [word, special]
        let stack = try TestStack(kind, model: model)
        stack.insert("Word", ["name": "a"])
        stack.insert("Special", ["name": "b", "entity": "Word"])
        try stack.context.save()
        try check(stack, "entity == 'Word'", [], ["b"], of: "Word")
        try check(stack, "entity == nil", [], ["a"], of: "Word")
        #expect(throws: NSError.self, "a text is compared with no entity") { try stack.fetch("Word", "entity == %@", [word]) }
    }

    @Test(arguments: StoreKind.allCases)
    func `An unknown property of an entity is refused`(kind: StoreKind) throws {
        let stack = try stack(kind)
        for format in ["entity.shoe == 1", "entity.name.first == 'x'", "group.entity.indexes == nil"] {
            let error = try #require(#expect(throws: NSError.self) { try stack.fetch("Person", format) })
            #expect(error.code == NSPersistentStoreUnsupportedRequestTypeError, "\(format): \(error)")
        }
    }
}
