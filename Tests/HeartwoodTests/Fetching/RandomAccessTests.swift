import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Random predicates and orders, through each index by force, by a scan on one core and on several, by the planner's choice, with unsaved changes,
/// and in memory, give the same objects in the same order, with limit and offset.
@Suite struct RandomAccessTests {
    private static func model() -> NSManagedObjectModel {
        let model = SampleGraph.model()
        let sample = model.entitiesByName["Sample"]!, special = model.entitiesByName["Special"]!, tag = model.entitiesByName["Tag"]!
        let properties = sample.propertiesByName
        func index(_ name: String, _ elements: [(String, Bool)], where predicate: String? = nil) -> NSFetchIndexDescription {
            TestStack.index(name, elements, among: properties, where: predicate)
        }
        sample.indexes = [
            index("age", [("age", true)]), index("ageDown", [("age", false), ("name", true)]), index("name", [("name", true), ("bits", false)]),
            index("ratio", [("ratio", false)]), index("price", [("price", true), ("age", true)]),
            index("born", [("born", true), ("flag", false), ("age", true)]),
            index("lower", [("lowercase(name)", true), ("age", true)]), index("sum", [("age + bits", true)]),
            index("some", [("bits", true)], where: "age > 8 AND name != nil"), index("uuid", [("uuid", false)]),
            index("boss", [("boss", true), ("age", false)]),
        ]
        special.indexes = [index("special", [("bits", true), ("word", false)])]
        let label = NSFetchIndexElementDescription(property: tag.propertiesByName["label"]!, collationType: .binary)
        tag.indexes = [NSFetchIndexDescription(name: "label", elements: [label])]
        return model
    }

    private struct Maker {
        var random: SeededGenerator

        mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        mutating func number() -> Int { Int.random(in: -1...16, using: &random) }

        mutating func part() -> String {
            let order = pick(["=", "=", "!=", "<", "<=", ">", ">="])
            switch Int.random(in: 0..<19, using: &random) {
            case 0, 1: return "age \(order) \(number())"
            case 2: return "age BETWEEN {\(number()), \(number())}"
            case 3: return "age IN {\(number()), \(number()), nil}"
            case 4: return "name \(order) '\(pick(["ann1", "Zoë0", "b", "", "zz"]))'"
            case 5: return "name BEGINSWITH '\(pick(["a", "ann", "Zo", ""]))'"
            case 6: return "name IN {'ann1', 'bob2', 'Zoe\u{308}0'}"
            case 7: return "ratio \(order) \(Double(number()) / 2)"
            case 8: return "price \(order) \(Double(number()) / 4)"
            case 9: return "\(pick(["born", "age", "name", "flag", "boss", "uuid", "ratio"])) \(pick(["=", "!="])) nil"
            case 10: return "lowercase(name) \(pick(["=", "<", ">=", "BEGINSWITH"])) '\(pick(["ann1", "zoë0", "b"]))'"
            case 11: return "age + bits \(order) \(number())"
            case 12: return pick(["age > 8", "name != nil", "flag = YES", "bits < 5", "age > 8 AND name != nil"])
            case 13: return pick(["boss.age > 5", "boss.name = 'bob1'", "boss.boss.name BEGINSWITH 'a'", "boss.age != 3", "boss.name = nil"])
            case 14: return "\(pick(["ANY", "ALL", "NONE"])) tags.\(pick(["label = 't1'", "weight > 2", "label BEGINSWITH 't'"]))"
            case 15: return "\(pick(["tags.@count", "team.@count", "SUBQUERY(tags, $t, $t.weight > 1).@count"])) \(order) \(Int.random(in: 0..<3, using: &random))"
            case 16: return "flag \(order) \(pick(["2", "-1", "0.5", "1", "0"]))"
            case 17:
                let number = pick(["2.5", "-0.25", "9007199254740993", "1e100", "NaN", "3"])
                return "\(pick(["age", "ratio", "price", "flag", "age + bits"])) \(order) CAST('\(number)', 'NSDecimalNumber')"
            default: return "\(pick(["ANY team.age", "ANY team.name", "ANY team.tags.weight"])) \(pick(["= 3", "!= nil", "> 7"]))"
            }
        }

        mutating func predicate(_ depth: Int) -> String {
            switch depth > 0 ? Int.random(in: 0..<10, using: &random) : 0 {
            case 0...2: return part()
            case 3...6: return "(\(predicate(depth - 1)) AND \(predicate(depth - 1)))"
            case 7, 8: return "(\(predicate(depth - 1)) OR \(predicate(depth - 1)))"
            default: return "NOT (\(predicate(depth - 1)))"
            }
        }

        mutating func sort() -> [NSSortDescriptor] {
            let keys = pick([
                [], ["age"], ["age", "name"], ["name"], ["name", "bits"], ["ratio"], ["price", "age"], ["born", "flag"], ["uuid"],
                ["boss.name", "age"], ["word"], ["bits"]])
            let isReversed = Bool.random(using: &random)
            return keys.map { key in
                let isText = ["name", "boss.name", "word"].contains(key) && Bool.random(using: &random)
                return NSSortDescriptor(
                    key: key, ascending: Int.random(in: 0..<4, using: &random) == 0 ? isReversed : !isReversed,
                    textOrder: isText ? pick(NSSortDescriptor.TextOrder.allCases) : .literal)
            }
        }
    }

    private func fill(_ stack: TestStack, _ maker: inout Maker) {
        let tags = (0..<4).map { stack.insert("Tag", $0 == 3 ? ["weight": $0] : ["weight": $0, "label": "t\($0)"]) }
        var people: [NSManagedObject] = []
        for number in 0..<90 {
            let person = stack.insert(
                number % 6 == 0 ? "Special" : "Sample", ["id": "\(number)", "bits": Int.random(in: -3..<9, using: &maker.random)])
            func maybe(_ key: String, _ value: Any?) { if !ValueDomain.isNothing(&maker.random) { person.setValue(value, forKey: key) } }
            maybe("age", maker.number())
            maybe(
                "name", maker.pick(["ann", "bob", "Ann", "Zoë", "zoe", "Zoe\u{308}", "", "b\u{0}b", "\u{1}"])
                    + "\(Int.random(in: 0..<3, using: &maker.random))")
            maybe("word", maker.pick(["ann1", "b", "ZOE", "été", "", String(repeating: "w", count: 300)]))
            maybe("ratio", Double(maker.number()) / 2)
            maybe("price", Decimal(maker.number()) / 4)
            maybe("flag", Bool.random(using: &maker.random))
            maybe("born", Date(timeIntervalSinceReferenceDate: Double(maker.number())))
            maybe("uuid", UUID(uuidString: "00000000-0000-0000-0000-0000000000\(maker.pick(["0A", "F1", "80"]))"))
            maybe("boss", people.isEmpty ? nil : maker.pick(people))
            person.setValue(Set(tags.filter { _ in Int.random(in: 0..<3, using: &maker.random) == 0 }), forKey: "tags")
            people.append(person)
        }
    }

    private static let ways: [(name: String, tuning: QueryTuning)] = [
        ("the planner", QueryTuning()), ("scan", QueryTuning(cores: 1, access: .scan)),
        ("cores", QueryTuning(cores: 3, rowsForCores: 1, access: .scan)),
    ] + ["age", "ageDown", "name", "ratio", "price", "born", "lower", "sum", "some", "uuid", "boss", "special"].map {
        ($0, QueryTuning(access: .index("index:\($0)")))
    }

    @Test(arguments: StoreKind.recordLogs, [1, 2] as [UInt64])
    func `All access paths give the same`(kind: StoreKind, seed: UInt64) throws {
        var maker = Maker(random: SeededGenerator(seed: seed))
        let stack = try TestStack(kind, model: Self.model())
        fill(stack, &maker)
        try stack.context.save()
        if seed > 1 { try stack.store.log!.checkpoint() }
        // Entries over those of the checkpoint, and tombstones for some of them.
        for (number, person) in try stack.fetch("Sample").enumerated() where number % 7 == 0 {
            if number % 2 == 0 { person.setValue(maker.number(), forKey: "age") } else { stack.context.delete(person) }
        }
        try stack.context.save()
        for isChanged in [false, true] {
            if isChanged {
                for person in try stack.fetch("Sample") where Int.random(in: 0..<9, using: &maker.random) == 0 {
                    person.setValue(maker.number(), forKey: "age")
                }
                stack.insert("Special", ["id": "new", "age": 7, "name": "bob1", "bits": 2])
            }
            let all = try stack.fetch("Sample")
            for _ in 0..<8 {
                let format = maker.predicate(2), sort = maker.sort()
                try compare(
                    stack, all, format, sort, limit: maker.pick([0, 0, 1, 7]), offset: maker.pick([0, 0, 3]), "seed \(seed), changed \(isChanged)",
                    isStored: !isChanged, ways: [maker.number(), maker.number(), maker.number()])
            }
        }
    }

    private func compare(
        _ stack: TestStack, _ all: [NSManagedObject], _ format: String, _ sort: [NSSortDescriptor], limit: Int, offset: Int, _ seed: String,
        isStored: Bool, ways: [Int]
    ) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        let predicate = try NSPredicate(parsing: format)
        request.predicate = predicate
        request.sortDescriptors = sort
        let keys = try sort.map { try SortKey($0, entity: stack.coordinator.managedObjectModel.entitiesByName["Sample"]!) }
        func isBefore(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
            keys.lazy.map { $0.compare(a, b) }.first { $0 != .orderedSame } == .orderedAscending
        }
        let matched = predicate.asFetched("Sample", in: stack), matching = all.filter { matched.evaluate(with: $0) }
        let ordered = matching.sorted(by: isBefore)
        var first: [NSManagedObject]?
        // Some of the indexes by force; fewer with unsaved changes.
        let forced = isStored ? Set(ways.map { 3 + (($0 + 1) * 7) % (Self.ways.count - 3) }) : []
        for (index, (name, tuning)) in Self.ways.enumerated() where index < (isStored ? 3 : 1) || forced.contains(index) {
            try QueryTuning.with(tuning) { () throws in
                let what = "\(seed), \(format) by \(sort.map { (SortProbe($0).key ?? "", $0.ascending) }), way \(name)"
                (request.fetchLimit, request.fetchOffset) = (0, 0)
                let found = try stack.context.fetch(request)
                #expect(SampleGraph.ids(found) == SampleGraph.ids(matching), "\(what): \(stack.context.lastQueryDescription)")
                #expect(try stack.context.count(for: request) == matching.count, "\(what): \(stack.context.lastQueryDescription)")
                #expect(zip(found, ordered).allSatisfy { !isBefore($0, $1) && !isBefore($1, $0) }, "\(what)")
                (request.fetchLimit, request.fetchOffset) = (limit, offset)
                let window = try stack.context.fetch(request)
                let cut = found.dropFirst(offset), wanted = Array(limit == 0 ? cut : cut.prefix(limit))
                // Without an order another access path may be cheaper for a few rows, and finds others first.
                let isRight = sort.isEmpty ? window.count == wanted.count && Set(window).isSubset(of: found) : window == wanted
                #expect(isRight, "\(what), \(limit) from \(offset)")
                // Equal rows have one order too, if the request has an order.
                guard !sort.isEmpty, isStored else { return }
                #expect(found == first ?? found, "\(what)")
                first = found
            }
        }
    }
}
