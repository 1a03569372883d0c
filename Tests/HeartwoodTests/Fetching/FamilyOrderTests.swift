import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Ordered fetches over several tables, each of which takes the index that suits its own rows.
@Suite struct FamilyOrderTests {
    private static let numbers = ["a", "b", "c", "d"]

    /// Base with four numbers, and two subentities with one more each.
    private static func model(
        _ indexes: [(name: String, elements: [(key: String, isAscending: Bool)])], unique: String? = nil
    ) -> NSManagedObjectModel {
        let model = NSManagedObjectModel(), base = NSEntityDescription(), first = NSEntityDescription(), second = NSEntityDescription()
        (base.name, first.name, second.name) = ("Base", "First", "Second")
        let attributes = numbers.map { TestStack.attribute($0, .integer32AttributeType) }
        base.properties = attributes
        first.properties = [TestStack.attribute("one", .integer32AttributeType)]
        second.properties = [TestStack.attribute("two", .integer32AttributeType)]
        base.subentities = [first, second]
        base.indexes = indexes.map { name, elements in
            NSFetchIndexDescription(name: name, elements: elements.map { key, isAscending in
                let element = NSFetchIndexElementDescription(property: base.propertiesByName[key]!, collationType: .binary)
                element.isAscending = isAscending
                return element
            })
        }
        if let unique { second.uniquenessConstraints = [[unique]] }
        model.entities = [base, first, second]
        return model
    }

    private func request(_ format: String, _ sort: [(String, Bool)]) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
        return request
    }

    /// - Returns: the plan.
    @discardableResult
    private func agrees(_ stack: TestStack, _ request: NSFetchRequest<NSManagedObject>, _ what: String) throws -> FetchPlan {
        (request.fetchLimit, request.fetchOffset) = (0, 0)
        let plan = try stack.context.explain(request)
        let scanned = try QueryTuning.with(QueryTuning(access: .scan)) { try stack.context.fetch(request) }
        #expect(try stack.context.fetch(request) == scanned, "\(what): \(plan)")
        for (limit, offset) in [(3, 0), (5, 4), (0, 7)] {
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            let rest = scanned.dropFirst(offset)
            #expect(try stack.context.fetch(request) == Array(limit == 0 ? rest : rest.prefix(limit)), "\(what), \(limit) from \(offset): \(plan)")
        }
        return plan
    }

    @Test(arguments: StoreKind.planning)
    func `Tables scanned through different indexes give one order`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model([("ba", [("b", true), ("a", true)]), ("ca", [("c", true), ("a", true)])]))
        for number in 0..<1000 {
            stack.insert("Base", ["a": number % 50, "b": number % 40 == 0 ? 5 : 7, "c": 2])
            stack.insert("First", ["a": number * 7 % 50, "b": 5, "c": number % 40 == 0 ? 2 : 3])
        }
        try stack.context.save()
        for isAscending in [true, false] {
            let plan = try agrees(
                stack, request("b == 5 AND c == 2 AND a IN {0, 10, 20, 30, 40}", [("a", isAscending)]), "ascending \(isAscending)")
            for index in ["ba", "ca"] { #expect(plan.parts.contains { $0.access == .index("index:\(index)") }, "\(plan)") }
            #expect(!plan.isSorted, "\(plan)")
        }
    }

    /// The columns between the keys of an order are the same for all rows, but different columns in different indexes.
    @Test(arguments: StoreKind.planning)
    func `Columns between the keys of an order are not compared`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model([
            ("abc", [("a", true), ("b", true), ("c", true)]), ("adc", [("a", true), ("d", true), ("c", true)]),
        ]))
        for number in 0..<600 {
            stack.insert("Base", ["a": number % 3, "b": number % 20 == 0 ? 5 : 6, "c": number * 7 % 31, "d": 2])
            stack.insert("First", ["a": number % 3, "b": 5, "c": number * 11 % 31, "d": number % 20 == 0 ? 2 : 9])
        }
        try stack.context.save()
        let plan = try agrees(stack, request("a IN {1, 2} AND b == 5 AND d == 2", [("a", true), ("c", true)]), "")
        for index in ["abc", "adc"] { #expect(plan.parts.contains { $0.access == .index("index:\(index)") }, "\(plan)") }
    }

    /// A key of the order may be constant in one table, and another constant or variable in the next.
    @Test(arguments: StoreKind.planning)
    func `A key that is constant in one table is compared`(kind: StoreKind) throws {
        let stack = try TestStack(
            kind, model: Self.model([("ba", [("b", true), ("a", true)]), ("a", [("a", true)]), ("da", [("d", true), ("a", true)])], unique: "d"))
        for number in 0..<360 {
            for (index, entity) in ["Base", "First", "Second"].enumerated() {
                let object = stack.insert(entity, ["a": (number + index) % 9, "b": number % 4, "c": number, "d": number])
                if index > 0, number % 5 > 0 { object.setValue(number % 2, forKey: index == 1 ? "one" : "two") }
            }
        }
        try stack.context.save()
        for isAscending in [true, false] {
            for format in [
                "(one == nil OR a == 2) AND b == 1", "(two == 1 OR a == 7) AND (one == 1 OR a == 3)", "(one != 3 OR a == 2) AND b IN {1, 2}",
                "d == 7", "d == 7 AND b >= 0"]
            {
                for sort in [[("a", isAscending)], [("a", isAscending), ("b", true)], [("b", isAscending), ("a", isAscending)]] {
                    try agrees(stack, request(format, sort), "\(format) by \(sort)")
                }
            }
        }
    }

    /// Each table has its own rare values of b and c, so that each takes its own index for an order by a and d.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `Random indexes and orders of a family agree with a scan`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        let tails = [["a"], ["d"], ["a", "d"], ["d", "a"], ["a", "c", "d"], ["a", "b", "d"]]
        let indexes = (0..<10).map { number in
            return (name: "i\(number)", elements: ([pick(["b", "c"])] + pick(tails)).map { ($0, Int.random(in: 0..<9, using: &random) > 0) })
        }
        let stack = try TestStack(.inMemory, model: Self.model(indexes))
        for entity in ["Base", "First", "Second"] {
            let spreads = pick([[8, 2, 40, 6], [8, 40, 2, 6]])
            for _ in 0..<300 {
                let object = stack.insert(entity, [:])
                for (key, spread) in zip(Self.numbers, spreads) where Int.random(in: 0..<4, using: &random) > 0 {
                    object.setValue(Int.random(in: 0..<spread, using: &random), forKey: key)
                }
                if Int.random(in: 0..<3, using: &random) == 0, entity == "First" { object.setValue(1, forKey: "one") }
            }
        }
        try stack.context.save()
        var merged = 0
        for _ in 0..<120 {
            let isAscending = Bool.random(using: &random)
            let sort = pick([["a"], ["d"], ["a", "d"], ["d", "a"]]).map { ($0, pick([isAscending, isAscending, isAscending, !isAscending])) }
            var parts = ["b == \(pick([0, 1]))", "c == \(pick([0, 1]))"]
            for (key, _) in sort { parts += pick([["\(key) IN {0, 1, \(pick([2, 3, 5]))}"], ["\(key) IN {1, 4}"], ["\(key) IN {0, 3}"], ["(one == 1 OR \(key) == 1)"], []]) }
            let format = parts.joined(separator: " AND ")
            let plan = try agrees(stack, request(format, sort), "seed \(seed), \(indexes): \(format) by \(sort)")
            if !plan.isSorted, Set(plan.parts.map { "\($0.access)" }).count > 1 { merged += 1 }
        }
        #expect(merged > 0, "seed \(seed): no walks of different indexes were merged")
    }
}
