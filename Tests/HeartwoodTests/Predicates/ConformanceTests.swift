import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The table of `ConformanceRows`, evaluated in memory and by stores, and printed and parsed again.
@Suite struct ConformanceTests {
    private struct Disagreement: CustomStringConvertible {
        let way: String, format: String, expected: String, found: String

        var description: String { "\(format): \(expected), \(way): \(found)" }
    }

    /// One test for all rows, so that the objects are made once; each row that disagrees is reported.
    @Test(arguments: StoreKind.recordLogs)
    func `The conformance table holds in memory and in a store`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: SampleGraph.model())
        SampleGraph.insert(into: stack)
        var disagreements: [Disagreement] = []
        func compare(_ way: String, _ row: ConformanceRows.Row, _ expected: String, _ body: () throws -> [NSManagedObject]) {
            let found: String
            do { found = SampleGraph.ids(try body()) } catch { found = "\(error)" }
            if found != expected { disagreements.append(Disagreement(way: way, format: row.format, expected: expected, found: found)) }
        }
        func ask(_ way: String, in context: NSManagedObjectContext) throws {
            let all = try stack.fetch("Sample", in: context)
            #expect(all.count == 5)
            for row in ConformanceRows.all where row.expected != "!" {
                let predicate = try NSPredicate(parsing: row.format)
                compare("in memory, \(way)", row, row.expected) { all.filter { predicate.evaluate(with: $0) } }
                compare("fetched, \(way)", row, row.fetched) {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
                    request.predicate = predicate
                    let found = try context.fetch(request)
                    #expect(try context.count(for: request) == found.count, "\(row.format)")
                    return found
                }
            }
        }
        try ask("unsaved", in: stack.context)
        try stack.context.save()
        try ask("saved", in: stack.context)
        try stack.store.log!.checkpoint()
        try ask("another context", in: stack.anew())
        #expect(disagreements.isEmpty, "\(disagreements.map(\.description).joined(separator: "\n"))")
        #expect(ConformanceRows.all.count > 400)
    }

    @Test
    func `A printed predicate parses back to the same`() throws {
        let stack = try TestStack(.inMemory, model: SampleGraph.model())
        let all = SampleGraph.insert(into: stack)
        for row in ConformanceRows.all where row.expected != "!" {
            let predicate = try NSPredicate(parsing: row.format)
            let printed = predicate.predicateFormat
            let again = try NSPredicate(parsing: printed)
            #expect(again.predicateFormat == printed, "\(row.format)")
            #expect(again == predicate)
            #expect(SampleGraph.ids(all.values.filter { again.evaluate(with: $0) }) == row.expected, "\(row.format), printed as \(printed)")
        }
    }

    @Test
    func `Wrong rows of the table are refused`() {
        for row in ConformanceRows.all where row.expected == "!" {
            #expect(throws: PredicateFormatError.self, "\(row.format)") { try NSPredicate(parsing: row.format) }
        }
    }

    /// A store that can use rows makes no objects.
    @Test(arguments: [
        "age + 10 = 40", "uppercase(name) = 'ADA'", "age = bits", "bits & 1 = 1", "TERNARY(flag = YES, 1, 2) = 1", "age IN {30 + 0, 40}",
        "born < now()",
        "SUBQUERY(tags, $t, $t.weight > 1).@count = 1", "ANY team.tags.label = 'red'", "extra = 'x'", "name ==[cd] 'ada'",
        "age BETWEEN {20 + 10, bits + 35}",
    ])
    func `Rows are tested without making objects`(format: String) throws {
        let stack = try TestStack(.recordLog, model: SampleGraph.model())
        SampleGraph.insert(into: stack)
        try stack.context.save()
        let context = stack.anew()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = NSPredicate(format: format)
        let found = try context.fetch(request)
        #expect(context.identities.count == found.count)
    }

    @Test
    func `A function of constants is served by an index`() throws {
        let stack = try TestStack(.recordLog, model: SampleGraph.model())
        SampleGraph.insert(into: stack)
        try stack.context.save()
        for format in ["age = 29 + 1", "name = FUNCTION('Ad', 'stringByAppendingString:', 'a')", "age IN {15 * 2}"] {
            #expect(SampleGraph.ids(try stack.fetch("Sample", format)) == "a")
            #expect(stack.context.lastQuery.access.contains { $0 != .scan }, "\(format)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Arguments are taken by their kinds`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: SampleGraph.model())
        let objects = SampleGraph.insert(into: stack)
        try stack.context.save()
        let a = try #require(objects["a"]), d = try #require(objects["d"])
        let rows: [(String, [Any], String)] = [
            ("name = %@", ["Ada"], "a"), ("%K = %@", ["age", 30], "a"),
            ("%K.name = %@", ["boss", "Ada"], "bc"), ("%K = %d", ["boss.age", 30], "bc"), ("boss.%K = %d", ["age", 30], "bc"),
            ("age = %i", [30], "a"), ("age = %u", [30], "a"), ("age = %ld", [30], "a"), ("age = %lld", [30], "a"), ("age = %lu", [30], "a"),
            ("age = %hd", [30], "a"), ("age = %x", [30], "a"),
            ("ratio = %f", [0.5], "a"), ("ratio = %lf", [0.5], "a"), ("ratio = %g", [0.5], "a"), ("name = %s", ["Ada"], "a"),
            ("age IN %@", [[30, 40]], "ab"), ("age IN %@", [NSSet(array: [30])], "a"),
            ("age IN %@", [NSOrderedSet(array: [30])], "a"), ("age IN %@", [Set([30, 50])], "ac"), ("age IN %@", [["x": 30]], "a"),
            ("age BETWEEN %@", [[30, 40]], "ab"), ("name IN %@", [["Ada", "Bob"]], "ab"),
            ("age = %@", [NSNumber(value: 30)], "a"), ("age = %@", [30.0], "a"), ("price = %@", [NSDecimalNumber(string: "10.5")], "a"),
            ("price = %@", [Decimal(2)], "b"), ("flag = %@", [true], "ad"), ("age = %@", [NSNull()], "d"),
            ("born = %@", [Date(timeIntervalSinceReferenceDate: 86400)], "b"), ("born < %@", [Date()], "abde"),
            ("uuid = %@", [SampleGraph.uuid], "a"), ("data = %@", [Data([1, 2])], "a"), ("link = %@", [URL(string: "https://example.org/a")!], "a"),
            ("boss = %@", [a], "bc"), ("boss = %@", [a.objectID], "bc"), ("boss != %@", [a], "ade"), ("boss IN %@", [[a, d]], "bce"),
            ("SELF = %@", [a], "a"), ("self == %@", [a.objectID], "a"), ("self != %@", [a], "bcde"), ("SELF IN %@", [[a, d]], "ad"),
            ("SELF IN %@", [[a.objectID, d.objectID]], "ad"), ("SELF IN %@", [Set([a, d])], "ad"), ("objectID = %@", [a.objectID], "a"),
            ("objectID IN %@", [[a.objectID]], "a"), ("boss.objectID = %@", [a.objectID], "bc"), ("ANY team = %@", [d], "c"),
            ("team CONTAINS %@", [d], "c"), ("%@ IN team", [d], "c"), ("ANY team IN %@", [[d]], "c"), ("NONE team = %@", [d], "abde"),
            ("ANY team.boss = %@", [a], "a"), ("%@ = name", ["Ada"], "a"), ("%d < age", [35], "bc"), ("age + %d = 31", [1], "a"),
            ("%@", [NSPredicate(format: "age = 30")], "a"), ("%@ OR age = 40", [NSPredicate(format: "age = 30")], "ab"),
            ("%@ = 31", [NSExpression(format: "age + 1")], "a"), ("(bits & %i) = %i", [4, 4], "abde"), ("name LIKE %@", ["A*"], "a"),
            ("name MATCHES[c] %@", ["ad."], "ad"), ("SUBQUERY(tags, $t, $t.weight = %d).@count = 1", [1], "ab"),
            ("%@.a = 1 AND age = 30", [["a": 1]], "a"), ("%@['k'] = age", [["k": 30]], "a"), ("name IN %@ AND age > %d", [["Ada", "Bob"], 35], "b"),
        ]
        let all = Array(objects.values)
        for (format, arguments, expected) in rows {
            let predicate = try NSPredicate(parsing: format, argumentArray: arguments)
            #expect(SampleGraph.ids(all.filter { predicate.evaluate(with: $0) }) == expected, "\(format) in memory")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
            request.predicate = predicate
            #expect(SampleGraph.ids(try stack.context.fetch(request)) == expected, "\(format) fetched")
        }
    }

    /// Types that are bridged on Apple's platforms.
    @Test(arguments: StoreKind.allCases)
    func `Any type of number and a substring may be arguments`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind), parts = "Ada,Bob".split(separator: ",")
        var rows: [(String, [Any], String)] = [
            ("age = %@", [CGFloat(30)], "a"), ("age = %f", [CGFloat(30)], "a"), ("ratio = %f", [CGFloat(0.5)], "a"),
            ("price = %@", [CGFloat(10.5)], "a"),
            ("age IN %@", [[CGFloat(30), CGFloat(40)]], "ab"), ("name = %@", [parts[0]], "a"), ("name = %s", [parts[1]], "b"),
            ("name IN %@", [parts], "ab"),
        ]
        #if !(os(macOS) && arch(x86_64))
            rows += [("ratio = %@", [Float16(0.5)], "a"), ("ratio = %f", [Float16(1.5)], "b")]
        #endif
        for (format, arguments, expected) in rows {
            #expect(SampleGraph.ids(try stack.fetch("Sample", format, arguments)) == expected, "\(format) \(arguments)")
        }
        #expect(SampleGraph.ids(try stack.fetch("Sample").filter { NSPredicate(format: "age == %f", CGFloat(30)).evaluate(with: $0) }) == "a")
        let width = CGFloat(0.5), name = parts[0]
        #expect(PredicateTranslation.constant(width).map { $0.isEqual(.double(0.5)) } == true)
        #expect(PredicateTranslation.constant(name).map { $0.isEqual(.text("Ada")) } == true)
    }
}
