import Foundation
import Testing

@testable import Heartwood

@Suite struct FetchRequestCopyTests {
    @Test(arguments: StoreKind.recordLogs)
    func aCopyAsksTheSameAndIsItsOwn(kind: StoreKind) throws {
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

    @Test func aTemplateKeepsWhatItFetches() throws {
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
}
