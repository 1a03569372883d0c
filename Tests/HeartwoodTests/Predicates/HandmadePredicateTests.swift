import Foundation
import Testing

@testable import Heartwood

/// Predicates and expressions that are built in code, with the names that Foundation marks unavailable off Apple's platforms.
@Suite struct HandmadePredicateTests {
    private static var subject: [String: Any] { ["name": "Grace", "age": 85, "scores": [3, 1, 2]] }

    private func path(_ path: String) -> NSExpression { NSExpression(forKeyPath: path) }
    private func constant(_ value: Any?) -> NSExpression { NSExpression(forConstantValue: value) }

    private func compare(
        _ left: NSExpression, _ type: NSComparisonPredicate.Operator, _ right: NSExpression, _ modifier: NSComparisonPredicate.Modifier = .direct,
        options: NSComparisonPredicate.Options = []
    ) -> NSComparisonPredicate {
        NSComparisonPredicate(leftExpression: left, rightExpression: right, modifier: modifier, type: type, options: options)
    }

    @Test
    func `Comparisons made by hand print and evaluate as formats do`() {
        let cases: [(NSPredicate, String, Bool)] = [
            (compare(path("age"), .equalTo, constant(85)), "age == 85", true),
            (compare(path("age"), .notEqualTo, constant(85)), "age != 85", false),
            (compare(path("age"), .lessThan, constant(90)), "age < 90", true),
            (compare(path("age"), .lessThanOrEqualTo, constant(84)), "age <= 84", false),
            (compare(path("age"), .greaterThan, constant(84)), "age > 84", true),
            (compare(path("age"), .greaterThanOrEqualTo, constant(86)), "age >= 86", false),
            (compare(path("name"), .matches, constant("G.*")), "name MATCHES \"G.*\"", true),
            (compare(path("name"), .like, constant("g*"), options: .caseInsensitive), "name LIKE[c] \"g*\"", true),
            (compare(path("name"), .beginsWith, constant("G")), "name BEGINSWITH \"G\"", true),
            (compare(path("name"), .endsWith, constant("G")), "name ENDSWITH \"G\"", false),
            (compare(path("age"), .in, constant([85, 1])), "age IN {85, 1}", true),
            (compare(path("scores"), .contains, constant(3)), "scores CONTAINS 3", true),
            (compare(path("age"), .between, constant([80, 90])), "age BETWEEN {80, 90}", true),
            (compare(path("scores"), .greaterThan, constant(2), .any), "ANY scores > 2", true),
            (compare(path("scores"), .greaterThan, constant(2), .all), "ALL scores > 2", false),
            (compare(path("name"), .equalTo, constant("grâce"), options: [.caseInsensitive, .diacriticInsensitive]), "name ==[cd] \"grâce\"", true),
        ]
        for (predicate, format, expected) in cases {
            #expect(predicate.predicateFormat == format)
            #expect(predicate.evaluate(with: Self.subject) == expected, "\(format)")
            #expect(NSPredicate(format: format) == predicate)
        }
    }

    @Test
    func `A parsed predicate is made of its parts`() throws {
        let predicate = NSPredicate(format: "ANY scores >[cd] 2 AND NOT (name BEGINSWITH 'G' OR age = $limit)")
        let compound = try #require(predicate as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .and)
        let first = try #require(compound.subpredicates.first as? NSComparisonPredicate)
        #expect(first.comparisonPredicateModifier == .any)
        #expect(first.predicateOperatorType == .greaterThan)
        #expect(first.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(first.leftExpression.keyPath == "scores")
        #expect(first.rightExpression.constantValue as? Int == 2)
        let not = try #require(compound.subpredicates.last as? NSCompoundPredicate)
        #expect(not.compoundPredicateType == .not)
        let or = try #require(not.subpredicates.first as? NSCompoundPredicate)
        #expect(or.compoundPredicateType == .or)
        let last = try #require(or.subpredicates.last as? NSComparisonPredicate)
        #expect(last.rightExpression.expressionType == .variable)
        #expect(last.rightExpression.variable == "limit")
    }

    @Test
    func `Expressions can be made and taken apart`() {
        let sum = NSExpression(forFunction: "sum:", arguments: [path("scores")])
        #expect(sum.expressionType == .function)
        #expect(sum.function == "sum:")
        #expect(sum.arguments?.map(\.keyPath) == ["scores"])
        #expect(sum.expressionValue(with: Self.subject, context: nil) as? Int == 6)
        #expect(NSExpression(format: "%K + 1", "age").expressionValue(with: Self.subject, context: nil) as? Int == 86)
        #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
        #expect(constant(nil).constantValue == nil)
        #expect(constant("x").constantValue as? String == "x")
        let list = NSExpression(forAggregate: [path("age"), 5])
        #expect((list.collection as? [NSExpression])?.map(\.description) == ["age", "5"])
        let union = NSExpression(forUnionSet: constant([1, 2]), with: constant([2, 3]))
        #expect(union.expressionValue(with: nil, context: nil) as? [Int] == [1, 2, 3])
        #expect(NSExpression(forIntersectSet: constant([1, 2]), with: constant([2, 3])).expressionValue(with: nil, context: nil) as? [Int] == [2])
        #expect(NSExpression(forMinusSet: constant([1, 2]), with: constant([2, 3])).expressionType == .minusSet)
        #expect([union.left, union.right].map(\.expressionType) == [.constantValue, .constantValue])
        let subquery = NSExpression(forSubquery: path("scores"), usingIteratorVariable: "x", predicate: NSPredicate(format: "$x > 1"))
        #expect(subquery.expressionType == .subquery)
        #expect(subquery.variable == "x")
        #expect(subquery.predicate.predicateFormat == "$x > 1")
        #expect((subquery.collection as? NSExpression)?.keyPath == "scores")
        #expect(subquery.expressionValue(with: Self.subject, context: nil) as? [Int] == [3, 2])
        let conditional = NSExpression(
            forConditional: NSPredicate(format: "age > 80"), trueExpression: constant("old"), falseExpression: constant("young"))
        #expect(conditional.expressionValue(with: Self.subject, context: nil) as? String == "old")
        #expect([conditional.true, conditional.false].map { $0.constantValue as? String } == ["old", "young"])
        #expect(NSExpression(forVariable: "v").expressionValue(with: nil, context: ["v": 7]) as? Int == 7)
        let block = NSExpression(block: { _, arguments, _ in (arguments[0] as? Int ?? 0) * 2 }, arguments: [path("age")])
        #expect(block.expressionValue(with: Self.subject, context: nil) as? Int == 170)
        #expect(block.expressionType == .block)
        let method = NSExpression(forFunction: path("name"), selectorName: "uppercaseString", arguments: nil)
        #expect(method.expressionValue(with: Self.subject, context: nil) as? String == "GRACE")
        #expect(method.operand.keyPath == "name")
        #expect(method.description == "FUNCTION(name, \"uppercaseString\")")
        #expect(NSExpression(format: "$x.name").operand.variable == "x")
    }

    @Test
    func `Variables are replaced by values`() throws {
        let template = NSPredicate(format: "age > $low AND name BEGINSWITH $start AND SUBQUERY(scores, $low, $low > 2).@count = 1")
        let filled = template.withSubstitutionVariables(["low": 80, "start": "G"])
        #expect(filled.predicateFormat == "age > 80 AND name BEGINSWITH \"G\" AND SUBQUERY(scores, $low, $low > 2).@count == 1")
        #expect(filled.evaluate(with: Self.subject))
        #expect(template.evaluate(with: Self.subject, substitutionVariables: ["low": 80, "start": "G"]))
        #expect(!template.evaluate(with: Self.subject, substitutionVariables: ["low": 85, "start": "G"]))
        #expect(filled is NSCompoundPredicate)
        let half = template.withSubstitutionVariables(["low": 80])
        #expect(half.predicateFormat.contains("$start"))
        #expect(NSPredicate(format: "name = $x").withSubstitutionVariables(["x": NSNull()]).predicateFormat == "name == nil")
    }

    /// Code without this module makes predicates of Foundation's own classes.
    @Test
    func `Foundation's predicates are converted`() throws {
        let a = NSPredicate(format: "age = 85"), b = NSPredicate(format: "name = 'x'")
        let foreign = Foundation.NSCompoundPredicate(orPredicateWithSubpredicates: [a, b])
        #expect(NSPredicate(foreign).predicateFormat == "age == 85 OR name == \"x\"")
        #expect(NSPredicate(foreign).evaluate(with: Self.subject))
        #expect(foreign.evaluate(with: Self.subject))
        #expect(NSPredicate(Foundation.NSCompoundPredicate(notPredicateWithSubpredicate: a)).predicateFormat == "NOT age == 85")
        #expect(NSPredicate(Foundation.NSPredicate(value: true)).predicateFormat == "TRUEPREDICATE")
        let block = Foundation.NSPredicate(block: { subject, _ in (subject as? [String: Any])?["age"] as? Int == 85 })
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [a, block]).evaluate(with: Self.subject))
        #expect((NSArray(array: [Self.subject, ["age": 1]]).filtered(using: a)).count == 1)
    }

    @Test
    func `Predicates are equal when their content is`() {
        #expect(NSPredicate(format: "a = 1") == NSPredicate(format: "(a == %d)", 1))
        #expect(NSPredicate(format: "a = 1").hash == NSPredicate(format: "a == 1").hash)
        #expect(NSPredicate(format: "a = 1") != NSPredicate(format: "a = 2"))
        #expect(NSPredicate(value: true) == NSPredicate(format: "TRUEPREDICATE"))
        let block = NSPredicate(block: { _, _ in true })
        #expect(block == block.copy() as? NSPredicate)
        #expect(block != NSPredicate(block: { _, _ in true }))
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).evaluate(with: nil))
        #expect(!NSCompoundPredicate(orPredicateWithSubpredicates: []).evaluate(with: nil))
    }

    @Test(arguments: StoreKind.allCases)
    func `A key path that begins with SELF is the path behind it`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "red"])
        stack.insert("Person", ["name": "p", "group": group])
        try stack.context.save()
        let child = stack.context.child()
        child.own(group).setValue("rouge", forKey: "title")
        for text in ["group.title", "self.group.title", "SELF.group.title", "group.self.title"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.predicate = compare(path(text), .equalTo, constant("rouge"))
            #expect(try child.fetch(request).count == 1 && child.count(for: request) == 1, "\(text)")
            #expect(try stack.context.count(for: request) == 0, "\(text)")
        }
        #expect(path("self.group.title").keyPath == "group.title")
        #expect(path("self").expressionType == .evaluatedObject)
    }
}
