import Foundation
import Testing

@testable import Heartwood

/// Fetches by the value of a uniqueness constraint, which have an access path of their own.
@Suite struct ConstraintLookupTests {
    private func stack(_ kind: StoreKind, persons: Int = 60) throws -> TestStack {
        let stack = try TestStack(kind)
        for number in 0..<persons {
            stack.insert(number % 3 == 0 ? "Employee" : "Person", ["name": "n\(number % 7)", "email": "p\(number)@x", "age": number])
        }
        stack.insert("Person", ["name": "without"])
        try stack.context.save()
        return stack
    }

    private func request(_ entity: String, _ format: String, _ arguments: Any...) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return request
    }

    @Test(arguments: StoreKind.planning)
    func `Only one row is read`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let context = stack.anew()
        for number in [3, 4, 59] {
            let before = stack.rowReads
            let found = try context.fetch(request("Person", "email == %@", "p\(number)@x"))
            #expect(found.map { $0.primitiveValue(forKey: "age") as? Int } == [number])
            #expect(found.first?.entity.name == (number % 3 == 0 ? "Employee" : "Person"))
            #expect(stack.rowReads - before == 1)
            #expect(context.lastQuery.rowsVisited == 1 && context.lastQuery.rowsMatched == 1)
            #expect(context.lastQuery.access.allSatisfy { $0 == .index("unique:email") })
            #expect(try context.fetch(request("Person", "email == %@", "p\(number)@x")).first === found.first)
        }
        #expect(try context.fetch(request("Person", "email == 'nobody@x'")).isEmpty && context.lastQuery.rowsVisited == 0)
        #expect(try context.fetch(request("Employee", "email == 'p4@x'")).isEmpty)
    }

    /// Whatever the request asks, the answer is that of a scan. The kinds left out look their rows up in a record log too.
    @Test(arguments: [.recordLog, .incremental] as [StoreKind])
    func `Each variant of the request gives the same as a scan`(kind: StoreKind) throws {
        // Few objects: each is made and compared some 7,000 times.
        let stack = try stack(kind, persons: 12)
        let formats: [(String, [Any])] = [
            ("email == %@", ["p7@x"]), ("email == %@", ["p9@x"]), ("email == %@", ["P7@x"]), ("email ==[c] %@", ["P7@x"]), ("email == %@", [""]),
            ("email == %@", ["p7@x\u{0}"]), ("email == nil", []), ("email == %@", [NSNull()]), ("email != %@", ["p7@x"]), ("%@ == email", ["p7@x"]),
            ("email IN %@", [["p7@x", "p9@x"]]), ("email == name", []), ("NOT email == %@", ["p7@x"]), ("email == %@ AND age == 7", ["p7@x"]),
        ]
        let shapes: [(NSFetchRequest<NSManagedObject>) -> Void] = [
            { _ in }, { $0.fetchLimit = 1 }, { $0.fetchOffset = 1 }, { $0.includesSubentities = false }, { $0.includesPendingChanges = false },
            { $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)] }, { $0.returnsObjectsAsFaults = false },
            { $0.includesPropertyValues = false }, { $0.shouldRefreshRefetchedObjects = true },
            { $0.relationshipKeyPathsForPrefetching = ["group"] }, { $0.affectedStores = [] }, { $0.affectedStores = [stack.persistentStore] },
        ]
        let changed = stack.anew()
        stack.insert("Person", ["email": "new@x"], into: changed)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = changed
        for person in try changed.fetch(request("Person", "age IN {7, 9}")) {
            person.setValue("was \(person.value(forKey: "email") ?? "")", forKey: "email")
        }
        for context in [stack.anew(), changed, child] {
            for entity in ["Person", "Employee"] {
                for (format, arguments) in formats + [("email == 'new@x'", []), ("email == 'was p7@x'", [])] {
                    for (index, shape) in shapes.enumerated() {
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                        request.predicate = NSPredicate(format: format, argumentArray: arguments)
                        shape(request)
                        let found = try context.fetch(request).map(\.objectID)
                        let scanned = try QueryTuning.with(QueryTuning(access: .scan)) { try context.fetch(request).map(\.objectID) }
                        #expect(Set(found) == Set(scanned) && found.count == scanned.count, "\(entity), \(format) \(arguments), shape \(index)")
                        #expect(try context.count(for: request) == found.count)
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A row saved by another context is found`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let reader = stack.anew()
        let known = try #require(try reader.fetch(request("Person", "email == 'p7@x'")).first)
        let writer = stack.anew()
        writer.object(with: known.objectID).setValue("moved@x", forKey: "email")
        try writer.save()
        #expect(try reader.fetch(request("Person", "email == 'p7@x'")).isEmpty)
        #expect(try reader.fetch(request("Person", "email == 'moved@x'")).first === known)
        writer.delete(writer.object(with: known.objectID))
        try writer.save()
        #expect(try reader.fetch(request("Person", "email == 'moved@x'")).isEmpty)
    }

    /// An integer key finds the same as a comparison for every type of number.
    @Test
    func `Numbers are found as they compare`() throws {
        let model = TestStack.model()
        let person = model.entitiesByName["Person"]!
        person.uniquenessConstraints = [["age"]]
        let stack = try TestStack(.inMemory, model: model)
        for number in -3..<20 { stack.insert("Person", ["age": number]) }
        try stack.context.save()
        let context = stack.anew()
        for value in [5 as Any, 5.0, 5.5, -3, true, NSDecimalNumber(string: "7"), Int64.max, Int(Int32.max) + 6, "5"] {
            let request = request("Person", "age == %@", value)
            let found = try context.fetch(request).map(\.objectID)
            let scanned = try QueryTuning.with(QueryTuning(access: .scan)) { try context.fetch(request).map(\.objectID) }
            #expect(found == scanned, "\(value)")
        }
        #expect(try context.fetch(request("Person", "age == 5")).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `A wrong request is still an error`(kind: StoreKind) throws {
        let stack = try stack(kind)
        #expect(throws: NSError.self) { try stack.context.fetch(request("Person", "mail == 'p7@x'")) }
        #expect(throws: NSError.self) { try stack.context.fetch(request("Nobody", "email == 'p7@x'")) }
        let aggregate = request("Person", "email == 'p7@x'")
        aggregate.propertiesToFetch = ["nothing"]
        #expect(throws: NSError.self) { try stack.context.fetch(aggregate) }
    }

    /// A constraint that each of two siblings states holds for each of them, and not for their parent.
    @Test(arguments: StoreKind.allCases)
    func `Siblings that state a constraint may have a row each`(kind: StoreKind) throws {
        let code = NSEntityDescription()
        (code.name, code.isAbstract) = ("Code", true)
        code.properties = [TestStack.attribute("code", .stringAttributeType)]
        code.subentities = ["Red", "Blue"].map { name in
            let entity = NSEntityDescription()
            (entity.name, entity.uniquenessConstraints) = (name, [["code"]])
            return entity
        }
        let model = NSManagedObjectModel()
        model.entities = [code] + code.subentities
        let stack = try TestStack(kind, model: model)
        for entity in ["Red", "Blue"] { stack.insert(entity, ["code": "x"]) }
        try stack.context.save()
        #expect(try stack.anew().fetch(request("Code", "code == %@", "x")).count == 2)
        #expect(try stack.anew().fetch(request("Red", "code == %@", "x")).count == 1)
    }
}
