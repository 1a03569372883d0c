import Foundation
import Testing

@testable import Heartwood

private class Named: NSPredicate {}
private final class NamedComparison: NSComparisonPredicate {}
private final class NamedCompound: NSCompoundPredicate {}

private final class Counting: NSComparisonPredicate {
    var count = 0

    override func evaluate(with object: Any?, substitutionVariables variables: [String: Any]?) -> Bool {
        count += 1
        return super.evaluate(with: object, substitutionVariables: variables)
    }
}

/// Predicates of a program's own classes, which a store evaluates by their contents.
@Suite struct PredicateSubclassTests {
    private let age = NSExpression(forKeyPath: "age"), limit = NSExpression(forConstantValue: 30)

    private func stack(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind)
        for (name, age) in [("ada", 20), ("bob", 30), ("cyd", 40)] { stack.insert("Person", ["name": name, "age": age]) }
        try stack.context.save()
        return stack
    }

    @Test(arguments: StoreKind.allCases)
    func `A subclass of a predicate is fetched by as its superclass`(kind: StoreKind) throws {
        let stack = try stack(kind), older = NamedComparison(
            leftExpression: age, rightExpression: limit, modifier: .direct, type: .greaterThanOrEqualTo)
        let counting = Counting(leftExpression: age, rightExpression: limit, modifier: .direct, type: .greaterThanOrEqualTo)
        let format = Named(format: "age >= %d", 30), name = NSPredicate(format: "name != 'cyd'")
        let all = NSPredicate(format: "name IN {'ada', 'bob', 'cyd'}")
        let cases: [(NSPredicate, [String])] = [
            (older, ["bob", "cyd"]), (format, ["bob", "cyd"]), (counting, ["bob", "cyd"]), (Named(value: true), ["ada", "bob", "cyd"]),
            (Named(value: false), []), (NamedCompound(type: .and, subpredicates: [older, name]), ["bob"]),
            (NSCompoundPredicate(orPredicateWithSubpredicates: [counting, NSPredicate(format: "name == 'ada'")]), ["ada", "bob", "cyd"]),
            (NSCompoundPredicate(notPredicateWithSubpredicate: format), ["ada"]),
            (NamedCompound(type: .not, subpredicates: [NamedCompound(type: .or, subpredicates: [older])]), ["ada"]),
            (NSCompoundPredicate(andPredicateWithSubpredicates: [all, older]), ["bob", "cyd"]),
        ]
        for isPending in [false, true] {
            if isPending { stack.insert("Person", ["name": "dan", "age": 5]) }
            for (predicate, expected) in cases {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = predicate
                let found = try stack.context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.filter { $0 != "dan" }
                #expect(found.sorted() == expected, "\(predicate)")
                if !isPending { #expect(try stack.context.count(for: request) == expected.count) }
            }
        }
    }

    @Test
    func `A subquery may hold a subclass`() throws {
        let stack = try stack(.recordLog), group = stack.insert("Group", ["title": "g"])
        for person in try stack.fetch("Person") { person.setValue(group, forKey: "group") }
        try stack.context.save()
        let condition = NamedComparison(
            leftExpression: NSExpression(format: "$p.age"), rightExpression: limit, modifier: .direct, type: .greaterThan)
        let subquery = NSExpression(forSubquery: NSExpression(forKeyPath: "people"), usingIteratorVariable: "p", predicate: condition)
        let count = NSExpression(forFunction: "count:", arguments: [subquery])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
        request.predicate = NSComparisonPredicate(
            leftExpression: count, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        #expect(try stack.context.fetch(request) == [group])
    }

    @Test
    func `A subclass evaluates in its own way in memory`() throws {
        let counting = Counting(leftExpression: age, rightExpression: limit, modifier: .direct, type: .greaterThan)
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [counting, NSPredicate(value: true)])
        #expect(both.evaluate(with: ["age": 31] as NSDictionary) && !both.evaluate(with: ["age": 3] as NSDictionary) && counting.count == 2)
        #expect(both.predicateFormat.hasPrefix("age > 30"))
    }

    @Test
    func `A block is refused as always`() throws {
        let stack = try stack(.recordLog), request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        for predicate in [Named { _, _ in true }, NSPredicate { _, _ in true }] {
            request.predicate = predicate
            #expect(throws: (any Error).self) { try stack.context.fetch(request) }
        }
    }
}
