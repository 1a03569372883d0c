import Foundation
import Testing

@testable import Heartwood

@Suite struct RefusedResultTests {
    @Test(arguments: StoreKind.allCases)
    func `A request without meaning is refused by name`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        stack.insert("Person", ["name": "Ann"])
        try stack.context.save()
        func make(
            _ fetch: [String], by keys: [String] = [], having: String? = nil, sort: [(String, Bool)] = []
        ) -> NSFetchRequest<NSDictionary> { TestStack.dictionaries("Person", fetch, by: keys, having: having, sort: sort) }
        let cases: [(NSFetchRequest<NSDictionary>, String)] = [
            (make(["size"]), "Person has no property \"size\""), (make(["group.size"]), "Group has no property \"size\""),
            (make(["x = sum:(age + size)"]), "    sum:(age + size)\n               ^"), (make(["tags"]), "tags.@count"),
            (make(["tags.label"]), "tags is a to-many relationship"), (make(["name", "name"]), "\"name\" is fetched twice"),
            (make(["name", "n = sum:(max:(age))"]), "an aggregate of an aggregate"),
            (make(["age", "n = @count"], by: ["name"]), "\"age\" is not in propertiesToGroupBy"),
            (make(["n = sum:(max:(age))"], by: ["name"]), "an aggregate of an aggregate"),
            (make(["name"], by: ["n = @count"]), "it is an aggregate"),
            (make(["name"], by: ["size"]), "has no property \"size\""),
            (make(["name"], by: ["name"], having: "age > 3"), "\"age\" is not in propertiesToGroupBy"),
            (make(["name"], having: "name = 'x'"), "needs propertiesToGroupBy"),
            (make(["name"], by: ["name"], having: "$n > 3"), "$n has no value"),
            (make(["name"], by: ["name"], sort: [("size", true)]), "sorted by \"size\""),
            (make(["name"], sort: [("size", true)]), "sorted by \"size\""),
            (make(["x = $y"]), "$y has no value"),
        ]
        for (request, says) in cases {
            let error = #expect(throws: NSError.self, "\(says)") { _ = try stack.context.fetch(request) }
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError, "\(says)")
            #expect(error?.localizedDescription.contains(says) == true, "\(error?.localizedDescription ?? "-")")
            #expect(throws: NSError.self) { _ = try stack.context.count(for: request) }
        }
        let objects = make(["name"], by: ["name"])
        for type in [NSFetchRequestResultType.managedObjectResultType, .managedObjectIDResultType, .countResultType] {
            objects.resultType = type
            let error = #expect(throws: NSError.self) { _ = try stack.context.fetch(objects) }
            #expect(error?.localizedDescription.contains("dictionaryResultType") == true)
        }
        let nameless = make([])
        nameless.propertiesToFetch = [NSExpressionDescription()]
        #expect(throws: NSError.self) { _ = try stack.context.fetch(nameless) }
        let named = NSExpressionDescription()
        named.name = "name"
        nameless.propertiesToFetch = [named]
        #expect(try stack.context.fetch(nameless) == [["name": "Ann"]], "one without an expression stands for the property of its name")
        named.name = "size"
        #expect(throws: NSError.self) { _ = try stack.context.fetch(nameless) }
        nameless.propertiesToFetch = [3]
        #expect(throws: NSError.self) { _ = try stack.context.fetch(nameless) }
        let block = NSExpressionDescription()
        block.name = "x"
        block.expression = NSExpression(block: { _, _, _ in 1 }, arguments: nil)
        nameless.propertiesToFetch = [block]
        #expect(throws: NSError.self) { _ = try stack.context.fetch(nameless) }
    }
}
