import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Random predicates and orders give the same objects through an index, a scan, with unsaved changes, and in memory.
@Suite struct RandomPredicateTests {
    private struct Maker {
        var random: SeededGenerator

        mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

        mutating func number(_ depth: Int) -> String {
            switch Int.random(in: 0..<(depth > 0 ? 9 : 4), using: &random) {
            case 0: return "age"
            case 1: return "\(Int.random(in: -2...20, using: &random))"
            case 2: return pick(["2.5", "0", "nil", "7", "bits", "ratio", "price"])
            case 3: return pick(["age", "length(name)", "boss.age"])
            case 4, 5: return "(\(number(depth - 1)) \(pick(["+", "-", "*", "/", "&", "|"])) \(number(depth - 1)))"
            case 6: return "\(pick(["abs", "floor", "max", "sum", "noindex", "count"]))(\(number(depth - 1)))"
            case 7: return "TERNARY(\(predicate(depth - 1)), \(number(depth - 1)), \(number(depth - 1)))"
            default: return pick(["tags.@count", "team.@sum.age", "tags.@max.weight", "SUBQUERY(tags, $t, $t.weight > 2).@count"])
            }
        }

        mutating func text(_ depth: Int) -> String {
            switch Int.random(in: 0..<(depth > 0 ? 4 : 2), using: &random) {
            case 0: return pick(["name", "word", "boss.name"])
            case 1: return pick(["'ann1'", "'Zoë0'", "'b'", "''", "'BOB2'", "nil", "'zoe'"])
            case 2: return "\(pick(["uppercase", "lowercase", "canonical"]))(\(text(depth - 1)))"
            default: return "FUNCTION(\(text(depth - 1)), 'stringByAppendingString:', 'x')"
            }
        }

        mutating func predicate(_ depth: Int) -> String {
            let options = pick(["", "", "", "[c]", "[cd]", "[n]"])
            let order = pick(["=", "!=", "<", "<=", ">", ">="])
            switch Int.random(in: 0..<(depth > 0 ? 16 : 11), using: &random) {
            case 0: return "age \(order) \(Int.random(in: 0..<20, using: &random))"
            case 1: return "\(number(depth)) \(order) \(number(depth))"
            case 2: return "\(text(depth)) \(order)\(options) \(text(depth))"
            case 3: return "name \(pick(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"]))\(options) '\(pick(["b", "1", "Z", "*o*", "a?n*", ""]))'"
            case 4: return "age BETWEEN {\(number(0)), \(number(0))}"
            case 5: return "age IN {\(number(0)), \(number(0)), 7}"
            case 6: return "name IN\(options) {\(text(0)), 'ann1', 'zoe2'}"
            case 7: return "\(pick(["ANY", "ALL", "NONE"])) \(pick(["tags.weight", "team.age", "team.tags.weight", "boss.tags.weight"])) \(order) \(pick(["1", "3", "nil"]))"
            case 8: return "\(pick(["boss.age", "boss.boss.age", "flag", "ratio", "price", "born"])) \(order) \(pick(["1", "3.5", "nil", "7"]))"
            case 9: return "ANY tags.label \(pick(["=", "!=", "CONTAINS", "BEGINSWITH"]))\(options) \(pick(["'t1'", "'T'", "nil"]))"
            case 10: return pick([
                "boss = nil", "boss != nil", "SUBQUERY(team, $x, $x.age > 9 AND $x.name != nil).@count > 0", "age = bits", "extra != nil",
                "name MATCHES '.*o.*'"])
            case 11, 12: return "(\(predicate(depth - 1)) AND \(predicate(depth - 1)))"
            case 13, 14: return "(\(predicate(depth - 1)) OR \(predicate(depth - 1)))"
            default: return "NOT (\(predicate(depth - 1)))"
            }
        }
    }

    private func fill(_ stack: TestStack, _ maker: inout Maker) {
        let tags = (0..<5).map { number in stack.insert("Tag", number == 4 ? ["weight": number] : ["weight": number, "label": "t\(number)"]) }
        var people: [NSManagedObject] = []
        for number in 0..<50 {
            let person = stack.insert(
                number % 6 == 0 ? "Special" : "Sample", ["id": "\(number)", "bits": Int.random(in: -3..<20, using: &maker.random)])
            func maybe(_ key: String, _ value: Any?) { if !ValueDomain.isNothing(&maker.random) { person.setValue(value, forKey: key) } }
            maybe("age", maker.pick(
                [Int.random(in: 0..<20, using: &maker.random), 7, Int.random(in: 0..<20, using: &maker.random), Int(Int32.max), Int(Int32.min)]))
            maybe(
                "name", maker.pick(["ann", "bob", "Ann", "Zoë", "zoe", "Zoe\u{308}", "", String(repeating: "n", count: 255)])
                    + "\(Int.random(in: 0..<3, using: &maker.random))")
            maybe("word", maker.pick(["ann1", "b", "ZOE", "été", "", String(repeating: "w", count: 300)]))
            maybe("ratio", Double(Int.random(in: -8..<20, using: &maker.random)) / 2)
            maybe("price", Decimal(Int.random(in: -8..<20, using: &maker.random)) / 4)
            maybe("flag", Bool.random(using: &maker.random))
            maybe("boss", people.isEmpty ? nil : maker.pick(people))
            person.setValue(Set(tags.filter { _ in Int.random(in: 0..<3, using: &maker.random) == 0 }), forKey: "tags")
            if number % 6 == 0 { maybe("extra", "x") }
            people.append(person)
        }
    }

    @Test(arguments: StoreKind.recordLogs, [1, 2] as [UInt64])
    func `All ways of answering give the same`(kind: StoreKind, seed: UInt64) throws {
        var maker = Maker(random: SeededGenerator(seed: seed))
        let stack = try TestStack(kind, model: SampleGraph.model())
        fill(stack, &maker)
        try stack.context.save()
        if seed % 2 == 0 { try stack.store.log!.checkpoint() }
        for isChanged in [false, true] {
            let all = try stack.fetch("Sample")
            if isChanged {
                for person in all where Int.random(in: 0..<8, using: &maker.random) == 0 { person.setValue(maker.pick([1, 7, 30]), forKey: "age") }
                stack.insert("Sample", ["id": "new", "age": 7, "name": "bob1"])
            }
            let now = try stack.fetch("Sample")
            for _ in 0..<30 {
                let format = maker.predicate(3)
                let predicate = try NSPredicate(parsing: format)
                let matched = predicate.asFetched("Sample", in: stack), expected = now.filter { matched.evaluate(with: $0) }
                let sort = maker.pick([[], [("age", true)], [("name", false), ("id", true)], [("boss.age", true), ("ratio", false)]])
                let descriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
                request.predicate = predicate
                request.sortDescriptors = descriptors
                let found = try stack.context.fetch(request)
                #expect(SampleGraph.ids(found) == SampleGraph.ids(expected), "seed \(seed), \(format)")
                #expect(try stack.context.count(for: request) == expected.count, "seed \(seed), \(format)")
                let keys = try descriptors.map { try SortKey($0, entity: stack.coordinator.managedObjectModel.entitiesByName["Sample"]!) }
                let isOrdered = zip(found, found.dropFirst()).allSatisfy { a, b in
                    keys.lazy.map { $0.compare(a, b) }.first { $0 != .orderedSame } != .orderedDescending
                }
                #expect(isOrdered, "seed \(seed), \(format) by \(sort)")
                let printed = try NSPredicate(parsing: predicate.predicateFormat)
                #expect(
                    now.filter { printed.evaluate(with: $0) }.count == now.filter { predicate.evaluate(with: $0) }.count,
                    "seed \(seed), \(format), printed \(printed)")
            }
        }
    }
}
