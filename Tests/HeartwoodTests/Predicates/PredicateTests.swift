import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

@Suite struct PredicateTests {
    private static var subject: [String: Any] {
        [
        "name": "Grace Hopper", "age": 85, "ratio": 0.5, "retired": true, "born": Date(timeIntervalSinceReferenceDate: -2_000_000_000),
        "tags": ["navy", "cobol"], "boss": ["name": "Howard Aiken", "age": 73], "scores": [3, 1, 2], "empty": [Int](), "word": "Été",
        "path": "a.b*c",
        ]
    }

    /// Format, arguments, expected result.
    private static var table: [(String, [Any], Bool)] {
        [
        ("age = 85", [], true), ("age == 85", [], true), ("age != 85", [], false), ("age <> 84", [], true), ("age < 86", [], true),
        ("age <= 85", [], true), ("age =< 84", [], false), ("age > 84.5", [], true), ("age >= 85.5", [], false), ("85 = age", [], true),
        ("ratio = 0.5", [], true), ("ratio < 1", [], true), ("retired = YES", [], true), ("retired == true AND age > 1", [], true),
        ("retired = 1", [], true), ("NOT retired = YES", [], false), ("! (age = 85)", [], false), ("age = 1 OR age = 85", [], true),
        ("age = 1 || name = 'x'", [], false), ("age = 85 && name BEGINSWITH 'Grace'", [], true), ("age BETWEEN {80, 90}", [], true),
        ("age BETWEEN {85, 85}", [], true), ("age BETWEEN {1, 84}", [], false), ("age IN {1, 85}", [], true), ("age IN {}", [], false),
        ("NOT age IN {1, 2}", [], true), ("age NOT IN {1, 2}", [], true), ("name IN {'Grace Hopper'}", [], true), ("'navy' IN tags", [], true),
        ("tags CONTAINS 'cobol'", [], true), ("tags CONTAINS 'ada'", [], false), ("name CONTAINS 'ace H'", [], true),
        ("name CONTAINS 'ACE'", [], false),
        ("name CONTAINS[c] 'ACE'", [], true), ("name BEGINSWITH 'Grace'", [], true), ("name ENDSWITH 'per'", [], true),
        ("name ENDSWITH[cd] 'PÉR'", [], true), ("name LIKE 'G*H?pper'", [], true), ("name LIKE 'G?Hopper'", [], false), ("name LIKE '*'", [], true),
        ("name like[c] 'grace*'", [], true), ("path LIKE 'a.b\\\\*c'", [], true), ("name MATCHES 'G.*r'", [], true),
        ("name MATCHES 'G.*p'", [], false),
        ("word =[cd] 'ete'", [], true), ("word =[c] 'été'", [], true), ("word = 'ete'", [], false), ("word BEGINSWITH[d] 'E'", [], true),
        ("missing = nil", [], true), ("missing != nil", [], false), ("missing = 1", [], false), ("missing != 1", [], true),
        ("missing < 1", [], false),
        ("NOT missing < 1", [], true), ("name != nil", [], true), ("boss.name = 'Howard Aiken'", [], true), ("boss.boss.name = nil", [], true),
        ("tags.@count = 2", [], true), ("scores.@max = 3", [], true), ("scores.@min = 1", [], true), ("scores.@sum = 6", [], true),
        ("scores.@avg = 2", [], true), ("empty.@count = 0", [], true), ("ANY scores > 2", [], true), ("ANY scores > 3", [], false),
        ("ALL scores > 0", [], true), ("ALL scores > 1", [], false), ("NONE scores > 3", [], true), ("SOME scores = 1", [], true),
        ("ALL empty > 1", [], true), ("ANY empty > 1", [], false), ("name = %@", ["Grace Hopper"], true), ("%K = %@", ["age", 85], true),
        ("%K.name = %@", ["boss", "x"], false), ("%K = %d", ["boss.age", 73], true), ("age = %i AND ratio < %f", [85, 0.6], true),
        ("age IN %@", [[1, 85]], true), ("born < %@", [Date()], true), ("born > %@", [Date()], false), ("TRUEPREDICATE", [], true),
        ("FALSEPREDICATE OR age = 85", [], true), ("(age = 85)", [], true), ("((age = 85) AND (name = 'x' OR name != 'y'))", [], true),
        ("#name = 'Grace Hopper'", [], true), ("age = 0x55", [], true), ("age = -85", [], false), ("age > -1", [], true),
        ("age = 8.5e1", [], true), ("name = \"Grace Hopper\"", [], true), ("name = 'Grace\\tHopper'", [], false), ("SELF.age = 85", [], true),
        ]
    }

    @Test(arguments: table.indices)
    func `The table of formats holds`(index: Int) throws {
        let (format, arguments, expected) = Self.table[index]
        let predicate = try NSPredicate(parsing: format, argumentArray: arguments)
        #expect(predicate.evaluate(with: Self.subject) == expected, "\(format)")
    }

    @Test(arguments: [
        ("age = ", 6), ("age", 3), ("= 3", 0), ("age = 3 AND", 11), ("(age = 3", 8), ("age = 3)", 7), ("name = 'x", 7), ("age ~ 3", 4),
        ("age BETWEEN 3", 4), ("name MATCHES '('", 5), ("age = %@", 6), ("name =[x] 'a'", 7), ("a..b = 1", 2), ("SUBQUERY(a, $x, $x = 1)", 23),
        ("%Q = 1", 0), ("age = 1 %", 8), ("SUBQUERY(a, x, x = 1).@count = 1", 12), ("foo(age) = 1", 0), ("abs(1, 2) = 1", 0), ("now(1) = 1", 0),
        ("a = sqrt()", 4),
        ("age = 0xFFFFFFFFFFFFFFFFF", 6), ("age = 1.2.3", 6), ("age = 12abc", 6), ("name = 'a\\x4'", 9), ("age IN 5", 4),
        ("age BETWEEN {1, 2, 3}", 4), ("age = $", 6),
        ("CAST(1, 'Foo') = 1", 8), ("CAST('x', 'NSDate') = 1", 0), ("(age = 1) + 2 = 3", 0),
        ("age = (b = 1)", 6), ("AND = 1", 0),
        ("a = 1 AND b", 11), ("a = 1 b = 2", 6), ("TERNARY(a, 1, 2) = 1", 9), ("{1, 2 = 3", 6), ("a[ = 1", 3), ("a:b = 1", 0),
        ("name = 'Zoë' AND ~ = 1", 19), ("ANY (a = 1)", 4),
    ])
    func `A wrong format is marked at the position of the error`(format: String, position: Int) {
        let error = #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(format, arguments: []) }
        #expect(error?.position == position, "\(error.map(\.description) ?? "")")
        #expect(error?.description.contains("\"\(format)\"") == true)
        #expect(error?.description.hasSuffix("    \(format)\n    \(String(repeating: " ", count: position))^") == true)
    }

    /// The second time a format comes from the cache, with the same trees and the same errors.
    @Test
    func `A known format takes other arguments`() throws {
        func printed(_ format: String, _ arguments: [Any?]) throws -> String {
            PredicatePrinter.format(try PredicateParser.parse(format, arguments: arguments))
        }
        for round in 0..<3 {
            #expect(try printed("a = %@ AND b IN {%@, 2, c}", ["x\(round)", round]) == "a == \"x\(round)\" AND b IN {\(round), 2, c}")
            #expect(try printed("SUBQUERY(t, $x, $x.n > %ld).@count = %d", [round, 4]) == "SUBQUERY(t, $x, $x.n > \(round)).@count == 4")
            #expect(try printed("%K = %@", ["k\(round)", nil]) == "k\(round) == nil")
            #expect(try printed("a MATCHES %@", ["x*"]) == "a MATCHES \"x*\"")
            #expect(try printed("a = %@", [NSExpression(forKeyPath: "b.c")]) == "a == b.c")
            #expect(try printed("a = %@", [round]) == "a == \(round)")
            let wrong: [(format: String, arguments: [Any?], position: Int)] = [
                ("a MATCHES %@", ["("], 2), ("a IN %@", [7], 2), ("a = %ld", ["text"], 4), ("a = %@ AND b = %@", [1], 15),
            ]
            for (format, arguments, position) in wrong {
                let error = #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(format, arguments: arguments) }
                #expect(error?.position == position, "\(round), \(format): \(error.map { "\($0)" } ?? "")")
            }
            #expect(try printed("a IN %@", [[1, round]]) == "a IN {1, \(round)}")
            #expect(try printed("a = %ld", [round]) == "a == \(round)")
        }
    }

    @Test
    func `Nesting is bounded`() {
        let deep = String(repeating: "(", count: 10_000) + "a = 1" + String(repeating: ")", count: 10_000)
        #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(deep, arguments: []) }
        #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(String(repeating: "NOT ", count: 10_000) + "a = 1", arguments: []) }
    }

    @Test
    func `A pattern with many stars is fast`() {
        let matcher = TextMatcher(kind: .like, String(repeating: "a*", count: 30) + "b", options: [])
        let clock = ContinuousClock()
        let taken = clock.measure { #expect((try? matcher.matches(String(repeating: "a", count: 20_000))) == false) }
        #expect(taken < .seconds(10))
    }

    /// Random bytes and mutated formats give an error or a tree, never a trap.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `The parser survives any input`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = Self.table.map(\.0) + ["%@", "%K", "{", "}", "(", ")", "'", "\\", "$x", "[cd]", "@count", "..", "é", "\u{0}", "NOT", "IN"]
            + ConformanceRows.all.map(\.format) + ["SUBQUERY(", "TERNARY(", "CAST(", ",", "+", "**", "[FIRST]", "0x", "$x", "#"]
        for _ in 0..<200 {
            var format = (0..<Int.random(in: 1...4, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined(separator: " ")
            for _ in 0..<Int.random(in: 0...3, using: &random) where !format.isEmpty {
                let at = format.indices.randomElement(using: &random)!
                format.remove(at: at)
            }
            if let node = try? PredicateParser.parse(format, arguments: []) { 
                _ = try? node.evaluate(Self.subject)
                // A parsed predicate can be printed and parsed again, and is then printed the same.
                let printed = PredicatePrinter.format(node)
                let again = try PredicateParser.parse(printed, arguments: [])
                #expect(PredicatePrinter.format(again) == printed, "seed \(seed), \(format)")
             }
        }
    }

    /// The parsed form of a format is cached, and takes other values the next time.
    @Test
    func `A format that is used again gives the same as the first time`() throws {
        let cases: [(format: String, arguments: [[Any]], printed: [String])] = [
            ("name == %@", [["a"], [1], [NSNull()], ["b\"c"]], ["name == \"a\"", "name == 1", "name == nil", "name == \"b\\\"c\""]),
            ("ANY tags.name BEGINSWITH[cd] %@", [["x"], ["y"], ["z"]], ["x", "y", "z"].map { "ANY tags.name BEGINSWITH[cd] \"\($0)\"" }),
            ("%@ == name", [["a"], ["b"], ["c"]], ["a", "b", "c"].map { "\"\($0)\" == name" }),
            ("age >= %d AND age < %ld", [[1, 2], [3, 4], [5, 6]], ["age >= 1 AND age < 2", "age >= 3 AND age < 4", "age >= 5 AND age < 6"]),
            ("%K == %@", [["a", 1], ["b", 2], ["c", 3]], ["a == 1", "b == 2", "c == 3"]),
            ("age IN %@", [[[1, 2]], [[3]], [[4, 5]]], ["age IN {1, 2}", "age IN {3}", "age IN {4, 5}"]),
            (
                "age == %@", [[NSExpression(format: "1 + age")], [2], [NSExpression(format: "weight")]],
                ["age == 1 + age", "age == 2", "age == weight"]),
        ]
        for (format, arguments, printed) in cases {
            for (values, expected) in zip(arguments, printed) {
                let predicate = try NSPredicate(parsing: format, argumentArray: values)
                #expect(predicate.predicateFormat == expected)
                #expect(type(of: predicate) == type(of: try NSPredicate(parsing: expected)))
            }
        }
        // An argument that does not fit is detected each time.
        for _ in 0..<3 {
            #expect(throws: (any Error).self) { try NSPredicate(parsing: "name MATCHES %@", argumentArray: ["(["]) }
            #expect(throws: (any Error).self) { try NSPredicate(parsing: "name == %@", argumentArray: []) }
            #expect(throws: (any Error).self) { try NSPredicate(parsing: "age == %d", argumentArray: ["x"]) }
            _ = try NSPredicate(parsing: "name MATCHES %@", argumentArray: ["a+"])
        }
    }

    /// A known format with one argument makes its tree on demand, and otherwise equals a parsed one.
    @Test
    func `A known format with one argument equals a parsed one`() throws {
        let arguments: [any CVarArg] = ["text", "", 3, -1.5, Int32(7), true, Date(timeIntervalSinceReferenceDate: 5), NSNull(), NSNumber(value: 4)]
        for format in ["age == %@", "a.b >= %@", "name BEGINSWITH[c] %@", "ANY tags.name == %@"] {
            for argument in arguments {
                let parsed = try PredicateParser.parse(format, arguments: [argument])
                for _ in 0..<2 {
                    let predicate = NSPredicate(format: format, argument)
                    #expect(predicate.predicateFormat == PredicatePrinter.format(parsed))
                    let again = try NSPredicate(parsing: predicate.predicateFormat)
                    #expect(predicate.depth == parsed.depth && predicate.isEqual(again))
                    let comparison = try #require(predicate as? NSComparisonPredicate)
                    #expect(comparison.rightExpression.expressionType == .constantValue)
                }
            }
        }
        #expect(NSPredicate(format: "age > %ld", 3).predicateFormat == "age > 3" && NSPredicate(format: "age > %lf", 3.5).predicateFormat == "age > 3.5")
    }

    @Test
    func `Several threads may be the first to evaluate a predicate`() async throws {
        for round in 0..<20 {
            nonisolated(unsafe) let predicate = NSPredicate(format: "name LIKE %@", "*\(round)*")
            let counts = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { (0..<100).count { predicate.evaluate(with: ["name": "\($0)"]) } }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: (0..<100).count { "\($0)".contains("\(round)") }, count: 4))
        }
    }

    /// They are equal in Swift, but not in a fetch.
    @Test
    func `Formats that differ only in bytes are different`() throws {
        for literal in ["\u{E9}", "e\u{301}", "K", "\u{212A}"] {
            let predicate = NSPredicate(format: "name == '\(literal)' AND age < %d", 100)
            #expect(predicate.predicateFormat.utf8.elementsEqual("name == \"\(literal)\" AND age < 100".utf8), "\(predicate.predicateFormat)")
        }
    }

    /// Foundation's own arithmetic traps at the first, and its description of a date at the last.
    @Test
    func `A result that no number can hold is null`() {
        let tiny = "CAST('1e-100', 'NSDecimalNumber')", large = "CAST('1e120', 'NSDecimalNumber')"
        for format in [
            "\(tiny) * \(tiny) == nil", "\(large) * \(large) == nil", "\(large) / \(tiny) == nil", "\(tiny) / 0 == nil",
            "CAST(CAST(%K, 'NSDate'), 'NSString') == nil",
            "\(tiny) + \(tiny) == CAST('2e-100', 'NSDecimalNumber')", "\(large) - \(large) == 0", "\(tiny) / \(tiny) == 1",
        ] {
            #expect(
                NSPredicate(format: format, argumentArray: format.contains("%K") ? ["number"] : []).evaluate(with: ["number": Double.nan]),
                "\(format)")
        }
        #expect(throws: PredicateFormatError.self) {
            try PredicateParser.parse("CAST(CAST(CAST('nan', 'NSNumber'), 'NSDate'), 'NSString') == 'a'", arguments: [])
        }
        let digits = ["1", "-3", "12345678901234567890", "99999999999999999999999999999999999999"]
        let numbers = [-128, -100, -64, -40, -2, 0, 1, 40, 64, 100, 127].flatMap { exponent in
            digits.compactMap { Decimal(string: "\($0)e\(exponent)") }
        }
        for a in numbers {
            for b in numbers {
                for function in [PredicateFunction.add, .subtract, .multiply, .divide] {
                    guard case .decimal(let value)? = PredicateNumber.combine(function, .decimal(a), .decimal(b)) else { continue }
                    #expect(!value.isNaN)
                }
            }
        }
    }
}
