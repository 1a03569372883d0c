import Foundation
import Testing

@testable import Heartwood

@Suite struct DictionaryTests {
    private func filled(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind)
        let red = stack.insert("Group", ["title": "red"]), blue = stack.insert("Group", ["title": "blue"])
        let tag = stack.insert("Tag", ["label": "t"])
        for (index, name) in ["Ann", "Bob", "Cy", "Ann"].enumerated() {
            let person = stack.insert(index == 2 ? "Employee" : "Person", ["name": name, "age": 10 * index, "email": "\(index)"])
            if index < 3 { person.setValue(index == 1 ? blue : red, forKey: "group") }
            if index == 0 { person.setValue(Set([tag]), forKey: "tags") }
            if index == 2 { person.setValue(NSDecimalNumber(string: "10.5"), forKey: "salary") }
        }
        try stack.context.save()
        return stack
    }

    private let byEmail = [("email", true)]

    @Test(arguments: StoreKind.planning)
    func `Dictionaries hold the requested values and no null`(kind: StoreKind) throws {
        let stack = try filled(kind), reader = stack.newContext()
        let all = try reader.fetch(TestStack.dictionaries("Person", sort: byEmail))
        #expect(texts(all)[0] == "age 0, email 0, name Ann")
        let some = try reader.fetch(TestStack.dictionaries(
            "Person", ["name", "group.title", "length = length:(name)", "tags.@count", "twice = age * 2"], where: "age < 40", sort: byEmail))
        #expect(texts(some) == [
            "group.title red, length 3, name Ann, tags.@count 1, twice 0", "group.title blue, length 3, name Bob, tags.@count 0, twice 20",
            "group.title red, length 2, name Cy, tags.@count 0, twice 40", "length 3, name Ann, tags.@count 0, twice 60",
        ])
        #expect(some[3].object(forKey: "group.title") == nil)
        // No object was made for them.
        #expect(reader.registeredCount == 0 && reader.lastQuery.rowsVisited == 4)
        #expect(texts(try reader.fetch(TestStack.dictionaries("Employee", ["name", "salary"]))) == ["name Cy, salary 10.5"])
        #expect(texts(try reader.fetch(TestStack.dictionaries("Person", ["salary"], sort: byEmail))) == ["", "", "salary 10.5", ""])
        let own = TestStack.dictionaries("Person", ["name"], sort: byEmail)
        own.includesSubentities = false
        #expect(texts(try reader.fetch(own)) == ["name Ann", "name Bob", "name Ann"])
        (own.fetchOffset, own.fetchLimit) = (1, 1)
        #expect(texts(try reader.fetch(own)) == ["name Bob"])
        #expect(try reader.count(for: own) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Objects in results are object IDs`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "email", ascending: true)])
        let request = TestStack.dictionaries("Person", ["group"], sort: byEmail)
        let me = NSExpressionDescription()
        me.name = "me"
        me.expression = NSExpression.expressionForEvaluatedObject()
        me.expressionResultType = .objectIDAttributeType
        request.propertiesToFetch = [me, "group", "objectID"]
        let found = try stack.newContext().fetch(request)
        for (dictionary, person) in zip(found, people) {
            let id = try #require(dictionary["me"] as? NSManagedObjectID)
            #expect(id == person.objectID && dictionary["objectID"] as? NSManagedObjectID == id)
            #expect(dictionary["group"] as? NSManagedObjectID == (person as? Person)?.group?.objectID)
            #expect(id.entity.name == person.entity.name && stack.context.object(with: id) === person)
        }
        #expect(found.count == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `Values have the types of their attributes`(kind: StoreKind) throws {
        let stack = try TestStack(kind), uuid = UUID()
        stack.insert("Everything", [
            "int16": 1, "int32": 2, "int64": 3, "double": 1.5, "float": 2.5, "decimal": NSDecimalNumber(string: "0.1"), "string": "text",
            "bool": true, "date": Date(timeIntervalSinceReferenceDate: 4), "data": Data([1, 2]), "uuid": uuid,
            "uri": URL(string: "https://example.org")!, "transformable": ["a", "b"] as NSArray,
        ])
        try stack.context.save()
        let request = TestStack.dictionaries("Everything")
        let found = try #require(try stack.context.fetch(request).first)
        #expect(found.count == 13)
        #expect(found["int16"] as? Int16 == 1 && found["int32"] as? Int32 == 2 && found["int64"] as? Int64 == 3)
        #expect(
            found["double"] as? Double == 1.5 && found["float"] as? Float == 2.5
                && found["decimal"] as? NSDecimalNumber == NSDecimalNumber(string: "0.1"))
        #expect(found["bool"] as? Bool == true && found["string"] as? String == "text" && found["uuid"] as? UUID == uuid)
        #expect(found["date"] as? Date == Date(timeIntervalSinceReferenceDate: 4) && found["data"] as? Data == Data([1, 2]))
        #expect(found["uri"] as? URL == URL(string: "https://example.org") && found["transformable"] as? [String] == ["a", "b"])
        // The requested type, as far as a number can have it.
        request.propertiesToFetch = [
            TestStack.expression("whole", "double * 1", .integer64AttributeType), TestStack.expression("small", "int64", .integer16AttributeType),
            TestStack.expression("flag", "int16", .booleanAttributeType), TestStack.expression("text", "int32", .stringAttributeType),
            TestStack.expression("exact", "int32", .decimalAttributeType), TestStack.expression("time", "double", .dateAttributeType),
            TestStack.expression("least", "min:(int16)"),
        ].dropLast()
        let made = try #require(try stack.context.fetch(request).first)
        #expect(texts([made]) == ["exact 2, flag 1, small 3, text 2, time 1.5, whole 1"])
        #expect(made["exact"] is NSDecimalNumber && made["text"] is String && made["time"] is Date && made["flag"] as? Bool == true)
    }

    @Test(arguments: StoreKind.allCases)
    func `Results cast to Swift and Foundation dictionaries`(kind: StoreKind) throws {
        let stack = try filled(kind)
        func request<Result>(_: Result.Type) -> NSFetchRequest<Result> {
            let request = NSFetchRequest<Result>(entityName: "Person")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name", "age"]
            request.sortDescriptors = [NSSortDescriptor(key: "email", ascending: true)]
            return request
        }
        #expect(try stack.context.fetch(request(NSDictionary.self))[1]["name"] as? String == "Bob")
        #expect(try stack.context.fetch(request([String: Any].self))[1]["age"] as? Int == 10)
        let any = try stack.context.fetch(request((any NSFetchRequestResult).self))
        #expect((any as? [[String: Any]])?[1]["name"] as? String == "Bob" && (any as? [NSDictionary])?.count == 4)
        #expect(throws: NSError.self) { _ = try stack.context.fetch(request(NSManagedObject.self)) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Distinct results come once`(kind: StoreKind) throws {
        let stack = try filled(kind), reader = stack.newContext()
        let request = TestStack.dictionaries("Person", ["name"], sort: [("name", false), ("age", true)])
        request.returnsDistinctResults = true
        #expect(texts(try reader.fetch(request)) == ["name Cy", "name Bob", "name Ann"])
        request.fetchLimit = 1
        request.fetchOffset = 1
        #expect(texts(try reader.fetch(request)) == ["name Bob"])
        #expect(try reader.count(for: request) == 1)
        request.fetchOffset = 0
        request.fetchLimit = 0
        #expect(try reader.count(for: request) == 3)
        request.propertiesToFetch = ["group"]
        #expect(try reader.fetch(request).count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `Dictionaries have only the store's state`(kind: StoreKind) throws {
        let stack = try filled(kind), child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "email", ascending: true)])
        people[0].setValue("changed", forKey: "name")
        stack.context.delete(people[1])
        stack.insert("Person", ["name": "new"])
        let request = TestStack.dictionaries("Person", ["name"], sort: byEmail)
        for context in [stack.context, child] {
            for includes in [true, false] {
                request.includesPendingChanges = includes
                #expect(texts(try context.fetch(request)) == ["name Ann", "name Bob", "name Cy", "name Ann"])
                #expect(try context.count(for: request) == 4)
            }
        }
        try stack.context.save()
        #expect(texts(try child.fetch(request)) == ["name new", "name changed", "name Cy", "name Ann"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Results can be sorted by computed values`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let request = TestStack.dictionaries("Person", ["name", "rest = modulus:by:(age, 20)"], sort: [("rest", false), ("age", true)])
        #expect(texts(try stack.context.fetch(request)) == ["name Bob, rest 10", "name Ann, rest 10", "name Ann, rest 0", "name Cy, rest 0"])
        request.fetchOffset = 1
        request.fetchLimit = 2
        #expect(texts(try stack.context.fetch(request)) == ["name Ann, rest 10", "name Ann, rest 0"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Results can be sorted by a path under its name`(kind: StoreKind) throws {
        let stack = try filled(kind)
        func found(_ fetched: [String], _ sort: [(String, Bool)], limit: Int = 0) throws -> [String] {
            let request = TestStack.dictionaries("Person", fetched, sort: sort)
            request.fetchLimit = limit
            return texts(try stack.context.fetch(request))
        }
        #expect(try found(
            ["email", "n = tags.@count"], [("n", false), ("email", false)]) == ["email 0, n 1", "email 3, n 0", "email 2, n 0", "email 1, n 0"])
        #expect(try found(
            ["email", "tags.@count"], [("tags.@count", false), ("email", true)], limit: 2) == ["email 0, tags.@count 1", "email 1, tags.@count 0"])
        #expect(try found(["email", "title = group.title"], [("title", true), ("email", false)]) == [
            "email 3", "email 1, title blue", "email 2, title red", "email 0, title red"])
        // A property's own name goes first.
        #expect(try found(["email", "age = tags.@count"], [("age", false)], limit: 1) == ["age 0, email 3"])
        #expect(throws: (any Error).self) { try found(["email", "n = tags.@count"], [("m", true)]) }
        #expect(throws: (any Error).self) { try found(["email", "me = self"], [("me", true)]) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Questions that rows cannot answer are put to objects`(kind: StoreKind) throws {
        let stack = try filled(kind), reader = stack.newContext()
        let request = TestStack.dictionaries("Person", ["name", "tagged = SUBQUERY(tags, $t, $t.label = 't').@count", "group"], sort: byEmail)
        let found = try reader.fetch(request)
        #expect(found.map { text($0["tagged"] ?? "-") } == ["1", "0", "0", "0"] && found[0]["group"] is NSManagedObjectID)
        #expect(reader.registeredCount == 0)
        let sums = TestStack.dictionaries(
            "Person", ["name", "n = sum:(SUBQUERY(tags, $t, $t.label = 't').@count)"], by: ["name"], sort: [("name", true)])
        #expect(texts(try reader.fetch(sums)) == ["n 1, name Ann", "n 0, name Bob", "n 0, name Cy"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Objects take propertiesToFetch as a hint`(kind: StoreKind) throws {
        let stack = try filled(kind)
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.propertiesToFetch = ["name"]
        request.predicate = NSPredicate(format: "name = 'Bob'")
        let bob = try #require(try stack.anew().fetch(request).first)
        #expect(bob.name == "Bob" && bob.age == 10)
        request.propertiesToFetch = ["size"]
        #expect(throws: NSError.self) { _ = try stack.context.fetch(request) }
    }

    @Test(arguments: StoreKind.allCases)
    func `An asynchronous fetch gives dictionaries`(kind: StoreKind) async throws {
        let stack = try filled(kind)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let isRight = await withCheckedContinuation { continuation in
            let request = NSAsynchronousFetchRequest(fetchRequest: TestStack.dictionaries("Person", ["name"], sort: byEmail)) { result in
                continuation.resume(returning: texts(result.finalResult ?? []) == ["name Ann", "name Bob", "name Cy", "name Ann"])
            }
            context.performAndWait { _ = try? context.execute(request) }
        }
        #expect(isRight)
    }
}
