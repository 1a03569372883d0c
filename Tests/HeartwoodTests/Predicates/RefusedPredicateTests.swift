import Foundation
import Testing

@testable import Heartwood

/// Predicates that no store can evaluate, and those that would take forever.
@Suite struct RefusedPredicateTests {
    private func refusal(_ predicate: NSPredicate, of stack: TestStack) throws -> NSError {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = predicate
        let error = try #require(#expect(throws: NSError.self) { _ = try stack.context.fetch(request) })
        #expect(throws: NSError.self) { _ = try stack.context.count(for: request) }
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSPersistentStoreUnsupportedRequestTypeError)
        return error
    }

    @Test(arguments: StoreKind.allCases)
    func `An unknown key is marked`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for (format, printed, offset) in [
            ("shoe = 1", "shoe == 1", 0), ("age = 1 AND shoe = 1", "age == 1 AND shoe == 1", 13), ("boss.shoe = 1", "boss.shoe == 1", 0),
            ("ANY tags.name = 'x'", "ANY tags.name == \"x\"", 4), ("age + shoe = 1", "age + shoe == 1", 6),
            ("name.first = 'x'", "name.first == \"x\"", 0),
            ("SUBQUERY(tags, $t, $t.shoe = 1).@count = 0", "SUBQUERY(tags, $t, $t.shoe == 1).@count == 0", 21),
            ("tags.@most.weight = 1", "tags.@most.weight == 1", 0),
            ("TERNARY(shoe = 1, age, bits) = 1", "TERNARY(shoe == 1, age, bits) == 1", 8),
            ("'shoe' = name OR shoe IN {1}", "\"shoe\" == name OR shoe IN {1}", 18),
        ] {
            let message = try refusal(NSPredicate(format: format), of: stack).localizedDescription
            #expect(message.contains("\"\(printed)\""), "\(message)")
            #expect(message.hasSuffix("    \(printed)\n    \(String(repeating: " ", count: offset))^"), "\(message)")
        }
        #expect(try refusal(NSPredicate(format: "shoe = 1"), of: stack).localizedDescription.contains(
            "Sample has no property \"shoe\"; it has age, bits"))
    }

    /// A format that was checked before is checked again only for another entity, or at another position of a predicate.
    @Test(arguments: StoreKind.allCases)
    func `A format is checked for each entity that it is used with`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for round in 1...4 {
            let age = NSPredicate(format: "age == %d", round), weight = NSPredicate(format: "weight == %d", round)
            #expect(try stack.context.count(for: request("Sample", age)) >= 0)
            #expect(try stack.context.count(for: request("Tag", weight)) >= 0)
            #expect(throws: NSError.self) { try stack.context.count(for: request("Tag", age)) }
            #expect(try refusal(weight, of: stack).localizedDescription.contains("\"weight == \(round)\""))
            let both = NSCompoundPredicate(andPredicateWithSubpredicates: [age, weight])
            #expect(try refusal(both, of: stack).localizedDescription.contains("\"age == \(round) AND weight == \(round)\""))
        }
    }

    private func request(_ entity: String, _ predicate: NSPredicate) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func `Blocks and open variables are only for memory`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        let block = NSPredicate(block: { _, _ in true })
        for predicate in [
            block, NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "age = 1"), block]),
            NSCompoundPredicate(notPredicateWithSubpredicate: block),
            NSPredicate(format: "%@ = 1", NSExpression(block: { _, _, _ in 1 }, arguments: nil)),
        ] {
            #expect(try refusal(predicate, of: stack).localizedDescription.contains("block"))
        }
        #expect(try refusal(NSPredicate(format: "age = $x"), of: stack).localizedDescription.contains("$x has no value"))
        #expect(try refusal(
            NSPredicate(format: "SUBQUERY(tags, $t, $t.weight = $x).@count = 1"), of: stack).localizedDescription.contains("$x has no value"))
    }

    @Test(arguments: StoreKind.allCases)
    func `The fetch reports an error in a handmade predicate`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        func comparison(_ type: NSComparisonPredicate.Operator, _ value: Any) -> NSPredicate {
            NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: value), modifier: .direct, type: type)
        }
        #expect(try refusal(comparison(.matches, "(["), of: stack).localizedDescription.contains("does not compile"))
        #expect(try refusal(comparison(.between, [1, 2, 3]), of: stack).localizedDescription.contains("two values"))
        #expect(try refusal(comparison(.in, 3), of: stack).localizedDescription.contains("IN needs"))
        var deep = NSPredicate(format: "age = 1"), foreign: Foundation.NSPredicate = deep
        var expression = NSExpression(forKeyPath: "age")
        for _ in 0..<10_000 {
            deep = NSCompoundPredicate(notPredicateWithSubpredicate: deep)
            expression = NSExpression(forFunction: "abs:", arguments: [expression])
        }
        for _ in 0..<1_000 { foreign = Foundation.NSCompoundPredicate(notPredicateWithSubpredicate: foreign) }
        let handmade = NSComparisonPredicate(
            leftExpression: expression, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        for predicate in [deep, handmade, NSPredicate(foreign)] {
            #expect(try refusal(predicate, of: stack).localizedDescription.contains("deeper than 400 levels"))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A substituted value is checked as an argument is`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for (format, value, message) in [
            ("age BETWEEN", [1] as Any, "two values"), ("age IN", 3, "IN needs"), ("name MATCHES", "([", "does not compile"),
            ("age = 1 OR NOT age IN", 3, "IN needs"), ("SUBQUERY(tags, $t, $t.weight IN $x).@count = 1 OR age BETWEEN", 3, "IN needs"),
        ] {
            #expect(throws: (any Error).self) { try NSPredicate(parsing: format + " %@", argumentArray: [value]) }
            let substituted = NSPredicate(format: format + " $x").withSubstitutionVariables(["x": value])
            #expect(try refusal(substituted, of: stack).localizedDescription.contains(message), "\(format)")
        }
        #expect(try stack.fetch("Sample", "%@", [NSPredicate(format: "age BETWEEN $x").withSubstitutionVariables(["x": NSNull()])]).isEmpty)
        let nobody: Int? = nil, none = NSPredicate(format: "age == $x").withSubstitutionVariables(["x": nobody as Any])
        #expect(SampleGraph.ids(try stack.fetch("Sample", "%@", [none])) == "d")
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sample"), model = SampleGraph.model()
        template.predicate = NSPredicate(format: "age BETWEEN $x")
        model.setFetchRequestTemplate(template, forName: "between")
        let filled = try #require(model.fetchRequestFromTemplate(withName: "between", substitutionVariables: ["x": [30]])?.predicate)
        #expect(try refusal(filled, of: stack).localizedDescription.contains("two values"))
        let right = try #require(model.fetchRequestFromTemplate(withName: "between", substitutionVariables: ["x": [30, 40]])?.predicate)
        #expect(try stack.fetch("Sample", "%@", [right]).count == 2)
    }

    private enum Mood: Int { case low, high }

    @Test(arguments: StoreKind.allCases)
    func `A value of a type that is never stored is refused`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for (format, value) in [
            ("age = %@", Mood.high as Any), ("age != %@", Mood.high), ("age > %@", 0..<3), ("%@ = age", Int128(3)), ("age IN %@", [Mood.high]),
            ("age + 1 = %@", Mood.low),
            ("boss = %@", Mood.low), ("boss.name = %@", Mood.low), ("ANY tags = %@", Mood.low), ("ANY tags.weight = %@", Mood.low),
            ("tags.@count = %@", Int128(3)),
            ("SUBQUERY(tags, $t, $t.weight = %@).@count = 0", Mood.low), ("self = %@", Mood.low), ("age IN %@", ["x": Mood.low]),
            ("age IN {1, %@}", Mood.high),
        ] {
            // A known format gives the same error.
            for _ in 0..<2 {
                let message = try refusal(try NSPredicate(parsing: format, argumentArray: [value]), of: stack).localizedDescription
                #expect(message.contains("is of a type that no attribute is compared with"), "\(format): \(message)")
            }
        }
        #expect(try stack.fetch("Sample", "age IN %@", [["x": 30]]).count == 1)
    }

    @Test
    func `A transformable attribute may be compared with anything`() throws {
        final class Token: NSObject {}
        let model = NSManagedObjectModel(), holder = NSEntityDescription()
        holder.name = "Holder"
        holder.properties = [TestStack.attribute("payload", .transformableAttributeType)]
        model.entities = [holder]
        let stack = try TestStack(.inMemory, model: model), token = Token()
        stack.insert("Holder", ["payload": token])
        stack.insert("Holder", ["payload": Mood.low])
        for value in [token, Mood.low] as [Any] {
            #expect(try stack.fetch("Holder", "payload = %@", [value]).count == 1)
            #expect(try stack.fetch("Holder", "payload IN %@", [[value]]).count == 1)
        }
        #expect(try stack.fetch("Holder", "payload = %@", [Mood.high]).isEmpty)
    }

    @Test(arguments: [
        String(repeating: "(", count: 10_000) + "a = 1" + String(repeating: ")", count: 10_000), String(repeating: "NOT ", count: 10_000) + "a = 1",
        String(repeating: "!", count: 10_000) + "a = 1", "a = " + String(repeating: "-", count: 10_000) + "b",
        "a = " + String(repeating: "~", count: 10_000) + "1",
        "a = " + String(repeating: "abs(", count: 10_000) + "1" + String(repeating: ")", count: 10_000),
        "a = " + String(repeating: "{", count: 10_000),
        "a = 1" + String(repeating: " + 1", count: 10_000), "a" + String(repeating: "[0]", count: 10_000) + " = 1",
        "a = " + String(repeating: "TERNARY(a = ", count: 10_000), "a = " + String(repeating: "1 + (", count: 10_000),
        String(repeating: "$x.a[", count: 10_000),
        String(repeating: "SUBQUERY(a, $x, ", count: 10_000), "a = " + String(repeating: "2 ** (1 UNION ", count: 10_000),
    ])
    func `A format nested ten thousand deep is refused`(format: String) throws {
        let error = try #require(#expect(throws: PredicateFormatError.self) { try PredicateParser.parse(format, arguments: []) })
        #expect(error.message.contains("nested deeper"), "\(error.message)")
    }

    /// A wide predicate is not deep.
    @Test(arguments: StoreKind.recordLogs)
    func `A wide predicate is answered`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        #expect(SampleGraph.ids(try stack.fetch("Sample", (0..<10_000).map { "age = \($0 + 40)" }.joined(separator: " OR "))) == "bc")
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: (0..<10_000).map { NSPredicate(format: "age != %d", $0 + 40) })
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = compound
        #expect(SampleGraph.ids(try stack.context.fetch(request)) == "ade")
    }

    /// The deepest allowed predicate, printed, evaluated in memory and by a store.
    @Test
    func `The deepest predicate is answered`() throws {
        let stack = try SampleGraph.stack(.recordLog)
        var deep = NSPredicate(format: "age = 30")
        for _ in 0..<(PredicateNode.depthMax - 2) { deep = NSCompoundPredicate(notPredicateWithSubpredicate: deep) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = deep
        #expect(SampleGraph.ids(try stack.context.fetch(request)) == "a")
        #expect(deep.predicateFormat.hasSuffix("NOT age == 30"))
    }

    @Test(arguments: StoreKind.allCases)
    func `A pattern that would take exponential time is refused`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        stack.insert("Sample", ["id": "z", "name": String(repeating: "a", count: 40)])
        let predicate = NSPredicate(format: "name MATCHES '(a+)+b'")
        #expect(try refusal(predicate, of: stack).localizedDescription.contains("too many ways"))
        try stack.context.save()
        #expect(throws: NSError.self) { _ = try stack.fetch("Sample", "name MATCHES '(a+)+b'") }
        let like = TextMatcher(kind: .like, "*" + String(repeating: "a", count: 10_000) + "b", options: [])
        #expect(throws: PredicateFault.self) { try like.matches(String(repeating: "a", count: 20_000)) }
        // A long, simple pattern is not refused.
        let matcher = try RegularExpression(".*needle.*x", options: [])
        #expect(try matcher.matches(String(repeating: "hay ", count: 50_000) + "needle and x"))
    }

    @Test(arguments: StoreKind.allCases)
    func `An order by a to-many relationship is refused`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for key in ["tags", "team.name", "shoe", "boss.tags"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            let error = try #require(#expect(throws: NSError.self) { _ = try stack.context.fetch(request) })
            #expect(error.localizedDescription.contains("cannot be sorted by \"\(key)\""))
        }
    }

    @Test
    func `Arguments of the wrong kind are marked`() throws {
        for (format, arguments, position) in [
            ("age = %d", ["x"], 6), ("name = %s", [1], 7), ("%K = 1", [1], 0), ("a = 1 AND b = %f", ["x"], 14), ("age = %d", [Date()], 6),
            ("a = %@ AND b = %@", [1], 15),
            ("%K = 1", ["a..b"], 0), ("age IN %@", [5], 4), ("age BETWEEN %@", [[1]], 4), ("name MATCHES %@", ["("], 5),
        ] as [(String, [Any], Int)] {
            let error = try #require(#expect(throws: PredicateFormatError.self) { try PredicateParser.parse(format, arguments: arguments) })
            #expect(error.position == position, "\(error)")
        }
    }
}
