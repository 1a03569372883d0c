import Foundation
import Testing

@testable import Heartwood

@Suite struct FetchRequestCopyTests {
    @Test(arguments: StoreKind.recordLogs)
    func `A copy asks the same and is independent`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for number in 0..<12 { stack.insert("Person", ["name": "n\(number % 3)", "age": number]) }
        try stack.context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.predicate = NSPredicate(format: "age > 1")
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(format: "count:(age)")
        request.propertiesToFetch = ["name", count]
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = NSPredicate(format: "$count > 3")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        let copy = try #require(request.copy() as? NSFetchRequest<NSDictionary>)
        #expect(try stack.context.fetch(request).map { $0["name"] as? String } == ["n2"])
        #expect(try stack.context.fetch(copy).map { $0["name"] as? String } == ["n2"])
        copy.havingPredicate = nil
        copy.fetchLimit = 2
        copy.includesSubentities = false
        #expect(try stack.context.fetch(copy).map { $0["name"] as? String } == ["n2", "n1"])
        #expect(try stack.context.fetch(request).count == 1 && request.fetchLimit == 0 && request.includesSubentities)
    }

    @Test
    func `A template keeps its settings`() throws {
        let model = TestStack.model()
        let template = NSFetchRequest<any NSFetchRequestResult>()
        template.entity = model.entitiesByName["Person"]
        template.resultType = .dictionaryResultType
        template.returnsDistinctResults = true
        template.propertiesToFetch = ["name"]
        template.predicate = NSPredicate(format: "age > $AGE")
        model.setFetchRequestTemplate(template, forName: "names")
        let stack = try TestStack(.inMemory, model: model)
        for number in 0..<12 { stack.insert("Person", ["name": "n\(number % 3)", "age": number]) }
        try stack.context.save()
        let request = try #require(model.fetchRequestFromTemplate(withName: "names", substitutionVariables: ["AGE": 1]))
        let found = try stack.context.fetch(request).compactMap { ($0 as? NSDictionary)?["name"] as? String }
        #expect(found.sorted() == ["n0", "n1", "n2"])
    }

    @Test
    func `A request for another type of result asks the same`() throws {
        let stack = try TestStack(.inMemory)
        for number in 0..<12 { stack.insert("Person", ["name": "n\(number % 3)", "age": number]) }
        try stack.context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "age > 1")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
        (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (3, 1, 2)
        request.relationshipKeyPathsForPrefetching = ["group"]
        request.affectedStores = stack.coordinator.persistentStores
        (request.includesSubentities, request.includesPendingChanges, request.includesPropertyValues) = (false, false, false)
        (request.returnsObjectsAsFaults, request.shouldRefreshRefetchedObjects) = (false, true)
        let untyped = NSFetchRequest<any NSFetchRequestResult>(request)
        #expect(untyped.entityName == "Person" && untyped.predicate === request.predicate && untyped.sortDescriptors == request.sortDescriptors)
        #expect(untyped.fetchLimit == 3 && untyped.fetchOffset == 1 && untyped.fetchBatchSize == 2)
        #expect(untyped.relationshipKeyPathsForPrefetching == ["group"] && untyped.affectedStores?.count == 1)
        #expect(!untyped.includesSubentities && !untyped.includesPendingChanges && !untyped.includesPropertyValues)
        #expect(!untyped.returnsObjectsAsFaults && untyped.shouldRefreshRefetchedObjects)
        let again = NSFetchRequest<Person>(untyped)
        #expect(try stack.context.fetch(again).map(\.age) == [10, 9, 8])
        untyped.fetchLimit = 1
        #expect(again.fetchLimit == 3 && request.fetchLimit == 3)
        let ofClass: NSFetchRequest<any NSFetchRequestResult> = Person.fetchRequest()
        #expect(NSFetchRequest<Person>(ofClass).entityName == "Person")
    }

    @Test
    func `A template is a request of the requested type`() throws {
        let model = TestStack.model()
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        template.predicate = NSPredicate(format: "age > $AGE")
        model.setFetchRequestTemplate(template, forName: "older")
        let stack = try TestStack(.inMemory, model: model)
        for number in 0..<12 { stack.insert("Person", ["name": "n", "age": number]) }
        let older: NSFetchRequest<Person>? = model.fetchRequestFromTemplate(withName: "older", substitutionVariables: ["AGE": 8])
        #expect(try stack.context.fetch(#require(older)).map(\.age).sorted() == [9, 10, 11])
        let typed: NSFetchRequest<Person>? = model.fetchRequestTemplate(forName: "older")
        typed?.predicate = nil
        #expect(model.fetchRequestTemplate(forName: "older") === template && template.predicate != nil && typed?.entityName == "Person")
        let none: NSFetchRequest<Person>? = model.fetchRequestTemplate(forName: "younger")
        #expect(none == nil)
    }
}
