import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Random requests for dictionaries, answered by the store and by a plain model over objects in memory.
@Suite struct RandomResultTests {
    private struct Aggregate {
        let format: String
        /// nil counts the objects.
        let argument: String?
        let apply: ([Any]) -> Any?

        init(_ format: String, _ argument: String?, _ apply: @escaping ([Any]) -> Any?) {
            self.format = format
            self.argument = argument
            self.apply = apply
        }
    }

    private static func doubles(_ values: [Any]) -> [Double] { values.compactMap { ($0 as? NSNumber)?.doubleValue } }
    private static func sum(_ values: [Any]) -> Any? { doubles(values).reduce(0, +) }
    private static func count(_ values: [Any]) -> Any? { values.count }

    private static func average(_ values: [Any]) -> Any? {
        let numbers = doubles(values)
        return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    }

    private static func deviation(_ values: [Any]) -> Any? {
        guard let mean = average(values) as? Double else { return nil }
        let numbers = doubles(values)
        return (numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)).squareRoot()
    }

    private static func median(_ values: [Any]) -> Any? {
        let numbers = doubles(values).sorted()
        guard !numbers.isEmpty else { return nil }
        return (numbers[(numbers.count - 1) / 2] + numbers[numbers.count / 2]) / 2
    }

    private static func extremum(_ wanted: ComparisonResult) -> ([Any]) -> Any? {
        { values in values.reduce(nil as Any?) { best, value in best.map { order($0, value) == wanted } ?? false ? best : value } }
    }

    private static var aggregates: [Aggregate] {
        [
            Aggregate("@count", nil, count), Aggregate("count:(name)", "name", count), Aggregate("count:(boss)", "boss", count),
            Aggregate("sum:(age)", "age", sum), Aggregate("@sum.ratio", "ratio", sum), Aggregate("sum:(price)", "price", sum),
            Aggregate("average:(age)", "age", average), Aggregate("@avg.bits", "bits", average), Aggregate("stddev:(age)", "age", deviation),
            Aggregate("median:(bits)", "bits", median), Aggregate("min:(name)", "name", extremum(.orderedAscending)),
            Aggregate("max:(born)", "born", extremum(.orderedDescending)), Aggregate("@max.age", "age", extremum(.orderedDescending)),
            Aggregate("min:(ratio)", "ratio", extremum(.orderedAscending)),
            Aggregate("max:(tags.weight)", "tags.weight", extremum(.orderedDescending)),
            Aggregate("count:(tags)", "tags", count), Aggregate("sum:(tags.@count)", "tags.@count", sum),
            Aggregate("sum:(age + bits)", "age + bits", sum),
            Aggregate("max:(boss.age)", "boss.age", extremum(.orderedDescending)), Aggregate("sum:(team.@sum.bits)", "team.@sum.bits", sum),
            Aggregate("sum:(SUBQUERY(tags, $t, $t.weight > 1).@count)", "SUBQUERY(tags, $t, $t.weight > 1).@count", sum),
        ]
    }

    private static let keys = [
        "name", "age", "flag", "ratio", "born", "price", "word", "boss.name", "boss.age", "extra", "length:(word)", "age + 1", "boss.boss.flag"]
    private static let columns = keys + [
        "bits", "id", "boss", "tags.@count", "tags.@max.weight", "uppercase:(name)", "TERNARY(age > 5, name, word)", "team.@avg.age"]

    /// Null comes first.
    private static func order(_ a: Any?, _ b: Any?) -> ComparisonResult {
        guard let a, let b else { return a == nil ? b == nil ? .orderedSame : .orderedAscending : .orderedDescending }
        if let x = a as? String, let y = b as? String {
            return x.utf8.elementsEqual(y.utf8) ? .orderedSame : x.utf8.lexicographicallyPrecedes(y.utf8) ? .orderedAscending : .orderedDescending
        }
        let x = number(a), y = number(b)
        return x < y ? .orderedAscending : x > y ? .orderedDescending : .orderedSame
    }

    private static func number(_ value: Any) -> Double {
        (value as? Date)?.timeIntervalSinceReferenceDate ?? (value as? NSNumber)?.doubleValue ?? 0
    }

    /// Parses each format once.
    private final class Expressions {
        private var known: [String: NSExpression] = [:]

        func value(_ format: String, _ object: NSManagedObject) -> Any? {
            let expression = known[format] ?? NSExpression(format: format)
            known[format] = expression
            let found = expression.expressionValue(with: object, context: nil)
            return found is NSNull ? nil : found
        }
    }

    private static func members(_ value: Any?) -> [Any] {
        (value as? [Any] ?? (value as? NSArray)?.map { $0 } ?? value.map { [$0] } ?? []).filter { !($0 is NSNull) }
    }

    /// A row as its values' texts, by column, and the values for its order.
    private typealias Row = (text: String, order: [Any?])

    private static func row(_ names: [String], _ values: [Any?], _ order: [Any?]) -> Row {
        let entries = zip(names, values).compactMap { name, value in value.map { (name, text($0)) } }
        return (entries.sorted { $0.0 < $1.0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", "), order)
    }

    private static func finish(_ rows: [Row], isDistinct: Bool, _ directions: [Bool], _ limit: Int, _ offset: Int) -> [Row] {
        var seen: Set<String> = [], rows = rows
        if isDistinct { rows = rows.filter { seen.insert($0.text).inserted } }
        rows.sort { a, b in
            for (index, isAscending) in directions.enumerated() {
                let found = order(a.order[index], b.order[index])
                if found != .orderedSame { return (found == .orderedAscending) == isAscending }
            }
            return false
        }
        rows = Array(rows.dropFirst(offset))
        return limit == 0 ? rows : Array(rows.prefix(limit))
    }

    private func fill(_ stack: TestStack, _ random: inout SeededGenerator) throws {
        let tags = (0..<5).map { stack.insert("Tag", $0 == 4 ? [:] : ["weight": $0]) }
        var people: [NSManagedObject] = []
        for number in 0..<60 {
            let person = stack.insert(number % 6 == 0 ? "Special" : "Sample", ["id": "\(number)", "bits": Int.random(in: -3..<20, using: &random)])
            func maybe(_ key: String, _ value: Any?) { if !ValueDomain.isNothing(&random) { person.setValue(value, forKey: key) } }
            maybe("age", Int.random(in: 0..<4, using: &random) * 3)
            maybe("name", ["ann", "bob", "Ann", "Zoë", "Zoe\u{308}", ""].randomElement(using: &random))
            maybe("word", ["a\u{0}b", "a", "ete", "été", "", String(repeating: "w", count: 300)].randomElement(using: &random))
            maybe("ratio", [0.5, -0.0, 0, 1e9].randomElement(using: &random))
            maybe("price", [Decimal(1), Decimal(string: "1.00")!, Decimal(string: "-2.25")!].randomElement(using: &random))
            maybe("flag", Bool.random(using: &random))
            maybe("born", Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<3, using: &random))))
            maybe("boss", people.randomElement(using: &random))
            person.setValue(Set(tags.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }), forKey: "tags")
            if number % 6 == 0 { maybe("extra", "x") }
            people.append(person)
        }
        try stack.context.save()
    }

    @Test(arguments: StoreKind.recordLogs, [1, 2, 3] as [UInt64])
    func `Rows and objects give the same results`(kind: StoreKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func pick<Value>(_ values: [Value], _ count: Int) -> [Value] { Array(values.shuffled(using: &random).prefix(count)) }
        let stack = try TestStack(kind, model: SampleGraph.model())
        try fill(stack, &random)
        if seed % 2 == 0 { try stack.store.log!.checkpoint() }
        if seed % 3 == 0, kind == .recordLog {
            // Rows have two layouts from here on.
            try stack.changeLayouts()
            for person in try stack.fetch("Sample").prefix(20) { person.setValue(5, forKey: "bits") }
            try stack.context.save()
        }
        let reader = stack.newContext()
        let all = try stack.fetch("Sample", in: reader)
        // Unsaved changes do not count.
        for person in try stack.fetch("Sample") { person.setValue(77, forKey: "age") }
        let expressions = Expressions()
        for _ in 0..<60 {
            let isGrouped = Int.random(in: 0..<3, using: &random) > 0
            let entity = Int.random(in: 0..<6, using: &random) == 0 ? "Special" : "Sample", own = Bool.random(using: &random)
            let format = pick(["age > 2", "name != nil AND bits > 3", "TRUEPREDICATE", "boss.age >= 3", "length:(word) = 1"], 1)[0]
            let predicate = NSPredicate(format: format)
            let objects = all.filter {
                (own || $0.entity.name == entity) && (entity == "Sample" || $0.entity.name == entity) && predicate.evaluate(with: $0)
            }
            let request = NSFetchRequest<NSDictionary>(entityName: entity)
            request.resultType = .dictionaryResultType
            request.includesSubentities = own
            request.predicate = predicate
            request.returnsDistinctResults = Int.random(in: 0..<3, using: &random) == 0
            var rows: [Row], order: [String]
            var fetched: [String]
            if isGrouped {
                let keys = pick(Self.keys, Int.random(in: 0..<3, using: &random)),
                    aggregates = pick(Self.aggregates, Int.random(in: 1..<4, using: &random))
                fetched = pick(keys, Int.random(in: 0...keys.count, using: &random)) + aggregates.map(\.format)
                order = keys.isEmpty ? [] : pick([keys, [aggregates[0].format] + keys], 1)[0]
                let having = keys.isEmpty ? nil : aggregates[0]
                let bound = Int.random(in: 0..<4, using: &random)
                let isNumber = having.map { !["min:(name)", "max:(born)"].contains($0.format) } ?? false
                var groups: [(keys: [Any?], objects: [NSManagedObject])] = keys.isEmpty ? [([], objects)] : []
                if !keys.isEmpty {
                    var indexes: [String: Int] = [:]
                    for object in objects {
                        let values = keys.map { expressions.value($0, object) }, name = values.map { $0.map(text) ?? "nil" }.joined(separator: "|")
                        if let index = indexes[name] { groups[index].objects.append(object) } else {
                            indexes[name] = groups.count
                            groups.append((values, [object]))
                        }
                    }
                }
                func value(_ column: String, _ group: (keys: [Any?], objects: [NSManagedObject])) -> Any? {
                    if let index = keys.firstIndex(of: column) { return group.keys[index] }
                    guard let aggregate = Self.aggregates.first(where: { $0.format == column }) else { return nil }
                    guard let argument = aggregate.argument else { return group.objects.count }
                    return aggregate.apply(group.objects.flatMap { Self.members(argument == "tags" ? ($0.value(forKey: "tags") as? NSSet)?.allObjects : expressions.value(argument, $0)) })
                }
                if let having, isNumber, Bool.random(using: &random) {
                    request.havingPredicate = NSPredicate(format: "\(having.format) >= \(bound)")
                    groups = groups.filter { group in value(having.format, group).map { Self.number($0) >= Double(bound) } ?? false }
                }
                rows = groups.map { group in Self.row(fetched, fetched.map { value($0, group) }, order.map { value($0, group) }) }
                request.propertiesToGroupBy = keys.map(property)
            } else {
                fetched = pick(Self.columns, Int.random(in: 1..<5, using: &random))
                order = pick(
                    [["id"], ["age", "id"], ["boss.name", "name", "id"], fetched.contains("age + 1") ? ["age + 1", "id"] : ["bits", "id"]], 1)[0]
                rows = objects.map { object in
                    Self.row(fetched, fetched.map { expressions.value($0, object) }, order.map { expressions.value($0, object) })
                }
                // Distinct rows have the position of their first occurrence, which the order determines.
                rows = Self.finish(rows, isDistinct: false, order.map { _ in true }, 0, 0)
            }
            let isSorted = isGrouped ? Bool.random(using: &random) && !order.isEmpty : true
            let directions = order.map { _ in isGrouped ? Bool.random(using: &random) : true }
            let isCut = isSorted && Bool.random(using: &random)
            request.propertiesToFetch = fetched.map(property)
            request.sortDescriptors = isSorted ? zip(order, directions).map { NSSortDescriptor(key: $0, ascending: $1) } : []
            if isCut { (request.fetchLimit, request.fetchOffset) = (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<4, using: &random)) }
            let expected = Self.finish(
                rows, isDistinct: request.returnsDistinctResults, isSorted ? directions : [], request.fetchLimit, request.fetchOffset).map(\.text)
            let found = texts(try stack.context.fetch(request))
            let says = "seed \(seed): \(fetched) of \(entity) where \(format) by \(request.propertiesToGroupBy ?? []) having \(request.havingPredicate?.predicateFormat ?? "-") sorted \(isSorted ? order : [])"
            if isSorted { #expect(found == expected, "\(says)") } else { #expect(found.sorted() == expected.sorted(), "\(says)") }
            #expect(try stack.context.count(for: request) == expected.count, "\(says)")
        }
    }

    private func property(_ format: String) -> Any {
        format.contains("(") || format.contains(" ") ? TestStack.expression(format, format) : format
    }
}
