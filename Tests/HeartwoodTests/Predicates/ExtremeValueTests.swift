import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Numbers and dates at the ends of their types, and those that are NaN.
@Suite struct ExtremeValueTests {
    private func value(_ format: String) throws -> PredicateValue {
        let node = try PredicateParser.parseExpression(format, arguments: []).node
        return try node.value(PredicateScope(subject: nil, variables: [:]))
    }

    private func isTrue(_ format: String) throws -> Bool { try NSPredicate(parsing: format).evaluate(with: nil) }

    private func decimal(_ text: String) -> String { "CAST('\(text)', 'NSDecimalNumber')" }

    @Test
    func `A product too near to zero for a decimal is null`() throws {
        for (a, b) in [("1e-100", "1e-100"), ("-1e-128", "0.1"), ("-3e-127", "-0.01"), ("340282366920938463463374607431768211455e-128", "1e-50")] {
            #expect(try value("\(decimal(a)) * \(decimal(b))").isNull && value("\(decimal(b)) * \(decimal(a))").isNull, "\(a) \(b)")
        }
        #expect(try isTrue("\(decimal("20e-128")) * \(decimal("-0.5")) == \(decimal("-10e-128"))"), "one that is not")
        #expect(try isTrue("\(decimal("0")) * \(decimal("1e-128")) == 0"))
        for format in ["1e-100 / 1e100", "1e100 * 1e100", "1e100 / 1e-100"] {
            let parts = format.split(separator: " ").map(String.init)
            #expect(try value("\(decimal(parts[0])) \(parts[1]) \(decimal(parts[2]))").isNull)
        }
    }

    @Test
    func `Products and quotients have their signs`() throws {
        for (a, b) in [("6", "3"), ("-6", "3"), ("6", "-3"), ("-6", "-3"), ("0", "-3"), ("1.25", "-0.5")] {
            let x = try #require(Decimal(string: a)), y = try #require(Decimal(string: b))
            for (operation, expected) in [("*", x * y), ("/", x / y), ("+", x + y), ("-", x - y)] {
                let result = try value("\(decimal(a)) \(operation) \(decimal(b))")
                #expect((result.object as? NSDecimalNumber)?.decimalValue == expected, "\(a) \(operation) \(b)")
            }
        }
    }

    @Test(arguments: StoreKind.planning)
    func `The product of a stored decimal may be too small`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let tiny = try #require(Decimal(string: "1e-100"))
        stack.insert("Everything", ["decimal": NSDecimalNumber(decimal: tiny), "int64": 1])
        try stack.context.save()
        for context in [stack.context, stack.newContext()] {
            #expect(try stack.fetch("Everything", "decimal * decimal == nil", in: context).count == 1)
            let found = try context.fetch(TestStack.dictionaries("Everything", ["x = decimal * decimal"]))
            #expect(found.count == 1 && found[0]["x"] == nil)
            let sums = try context.fetch(TestStack.dictionaries("Everything", ["s = sum:(decimal)"]))
            #expect(sums.count == 1 && (sums[0]["s"] as? NSDecimalNumber)?.decimalValue == tiny)
        }
        guard StoreKind.batching.contains(kind) else { return }
        _ = try stack.updateBatch("Everything", nil, ["decimal": NSExpression(format: "decimal * decimal")])
        #expect(try stack.fetch("Everything", in: stack.anew()).allSatisfy { $0.value(forKey: "decimal") == nil })
    }

    /// A double smaller than any positive decimal is still greater than a negative number.
    @Test
    func `A double that no decimal holds is compared as a double`() throws {
        #expect(try isTrue("\(decimal("-5")) < 1e-300 AND \(decimal("5")) > 1e-300 AND \(decimal("0")) < 1e-300"))
        #expect(PredicateCast.decimal.apply(.double(1e-300)).isNull)
    }

    @Test
    func `A date without a text form is cast to null`() throws {
        let none: [(String, Double)] = [
            ("CAST('nan', 'NSNumber')", .nan), ("CAST('inf', 'NSNumber')", .infinity), ("1e300", 1e300), ("-1e300", -1e300),
        ]
        for (text, seconds) in none {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(try NSPredicate(parsing: "CAST(d, 'NSString') == nil").evaluate(with: ["d": date]))
            let error = #expect(throws: PredicateFormatError.self) { try value("CAST(CAST(\(text), 'NSDate'), 'NSString')") }
            #expect(error?.message == "this value cannot be cast to NSString")
        }
        #expect(try isTrue("CAST(CAST(0, 'NSDate'), 'NSString') == '2001-01-01 00:00:00 +0000'"))
    }

    @Test(arguments: StoreKind.batching)
    func `A message may contain a date that is NaN`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ann"])
        try stack.context.save()
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        let expressions = ["CAST(CAST('nan', 'NSNumber'), 'NSDate')", "CAST(age + CAST('nan', 'NSNumber'), 'NSDate')"]
        let computed = expressions.map { ["name": NSExpression(format: $0)] }
        for values in [["name": never], ["group": never], ["tags": [never]]] + computed as [[String: Any]] {
            #expect(throws: NSError.self) { try stack.updateBatch("Person", nil, values) }
        }
        let error = #expect(throws: (any Error).self) { try person.setValue([never], at: person.propertyIndex("name")) }
        #expect(error.map { "\($0)".contains("([nan seconds since 2001])") } == true, "\(error as Any)")
    }

    @Test(arguments: ["min", "max"])
    func `NaN is the least and greatest only of itself`(function: String) throws {
        let lists: [([Double], Double)] = [
            ([.nan, 1, 2], function == "min" ? 1 : 2), ([1, .nan, 2], function == "min" ? 1 : 2), ([2, 1, .nan], function == "min" ? 1 : 2),
            ([.nan, .nan, 3], 3), ([.nan, .nan], .nan),
        ]
        func isSame(_ a: Any?, _ b: Double) -> Bool { (a as? NSNumber).map { $0.doubleValue == b || $0.doubleValue.isNaN && b.isNaN } ?? false }
        for (list, expected) in lists {
            let decimals = list.map { $0.isNaN ? NSDecimalNumber.notANumber : NSDecimalNumber(value: $0) }
            let dates = list.map(Date.init(timeIntervalSinceReferenceDate:))
            #expect(isSame(PredicateKeyPath.value(["@\(function)"], of: list).object, expected), "\(list)")
            #expect(isSame(PredicateKeyPath.value(["@\(function)"], of: decimals).object, expected), "\(list)")
            let stack = try TestStack(.inMemory)
            for (double, (decimal, date)) in zip(list, zip(decimals, dates)) {
                stack.insert("Everything", ["double": double, "decimal": decimal, "date": date])
            }
            stack.insert("Everything", [:])
            let request = TestStack.dictionaries("Everything", ["double", "decimal", "date"].map { "\($0)s = \(function):(\($0))" })
            try stack.context.save()
            for context in [stack.context, stack.newContext()] {
                let found = try #require(try context.fetch(request).first)
                #expect(isSame(found["doubles"], expected) && isSame(found["decimals"], expected), "\(list) \(found)")
                #expect(isSame((found["dates"] as? Date).map { NSNumber(value: $0.timeIntervalSinceReferenceDate) }, expected))
            }
        }
    }

    @Test
    func `NaN can be printed and parsed again`() throws {
        let dates = [Double.nan, .infinity].map(Date.init(timeIntervalSinceReferenceDate:))
        for value in [NSDecimalNumber.notANumber, Double.nan, -Double.infinity] + dates as [Any] {
            let printed = try NSPredicate(parsing: "a == %@", argumentArray: [value]).predicateFormat
            let again = try NSPredicate(parsing: printed)
            #expect(again.predicateFormat == printed)
            let right = try #require(
                try (again as? NSComparisonPredicate)?.rightExpression.node.value(PredicateScope(subject: nil, variables: [:])))
            #expect(right.isNotANumber == PredicateValue(value).isNotANumber && !right.isNull, "\(printed)")
        }
    }
}
