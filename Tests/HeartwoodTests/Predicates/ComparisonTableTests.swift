import Foundation
import Testing

@testable import Heartwood

/// Every comparison of every type of attribute with each of its values, null and the ends of the type included. What is expected comes from Swift's
/// own operators over Swift's own values, and from nothing of Heartwood.
@Suite struct ComparisonTableTests {
    /// A type of attribute, with values in Swift's types; all of them are different.
    struct Column: CustomTestStringConvertible, Sendable {
        let type: NSAttributeType
        let values: [any Sendable]
        let isEqual: @Sendable (Any, Any) -> Bool
        /// Nil for types whose values are in no order.
        let isLess: (@Sendable (Any, Any) -> Bool)?
        let testDescription: String

        static func of<Value: Equatable & Sendable>(
            _ type: NSAttributeType, _ values: [Value], _ isLess: (@Sendable (Value, Value) -> Bool)? = nil
        ) -> Column {
            @Sendable func typed(_ value: Any) -> Value { value as? Value ?? values[0] }
            return Column(
                type: type, values: values, isEqual: { typed($0) == typed($1) },
                isLess: isLess.map { isLess in { @Sendable in isLess(typed($0), typed($1)) } }, testDescription: "\(Value.self), \(type.rawValue)")
        }

        static func ordered<Value: Comparable & Sendable>(_ type: NSAttributeType, _ values: [Value]) -> Column { of(type, values) { $0 < $1 } }
    }

    static let columns: [Column] = [
        .ordered(.integer16AttributeType, [0, 1, -1, Int16.min, .max]), .ordered(.integer32AttributeType, [0, 1, -1, Int32.min, .max]),
        .ordered(.integer64AttributeType, [0, 1, -1, Int64.min, .max, 1 << 53, 1 << 53 + 1]),
        .ordered(.doubleAttributeType, [0, 0.1, -1.5, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e16]),
        .ordered(.floatAttributeType, [0, 0.5, -1.25, Float.infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude]),
        .ordered(
            .decimalAttributeType,
            ["0", "0.1", "-0.1", "1e-100", "1e100", "-1e100", "123456789012345678901234567890", "123456789012345678901234567891"]
                .compactMap { Decimal(string: $0) }),
        Column(
            type: .stringAttributeType, values: texts, isEqual: { bytes($0) == bytes($1) },
            isLess: { bytes($0).lexicographicallyPrecedes(bytes($1)) }, testDescription: "String"),
        .of(.booleanAttributeType, [false, true]) { !$0 && $1 },
        .ordered(
            .dateAttributeType,
            [0, -978_307_200.5, -1e11, 1e12, 0.001].map(Date.init(timeIntervalSinceReferenceDate:)) + [.distantPast, .distantFuture]),
        .of(.binaryDataAttributeType, [Data(), Data([0]), Data([0, 0]), Data([255]), Data(repeating: 7, count: 300)]),
        .of(
            .UUIDAttributeType,
            ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-0000-0000-0000-000000000009"].compactMap(UUID.init(uuidString:))),
        .of(.URIAttributeType, ["https://example.org/a", "https://example.org/A", "file:///tmp/%C3%A9"].compactMap(URL.init(string:))),
    ]

    /// Swift's own comparison takes composed and decomposed letters as one.
    private static func bytes(_ text: Any) -> [UInt8] { Array((text as? String ?? "").utf8) }

    /// Composed and decomposed letters are different texts, as are letters of either case.
    static let texts = [
        "", "a", "A", "ab", "b", "\u{E9}", "e\u{301}", "\u{C9}", "\u{1F44D}", "\u{1F44D}\u{1F3FD}", "\u{1F468}\u{200D}\u{1F469}", "\u{FFFD}", " a",
        "a'\"*?\\%",
        String(repeating: "x", count: 300),
    ]

    /// Four attributes with the same value: without an index, with one up, with one down, and one that may not be null.
    private func model(_ type: NSAttributeType, filling: Any) -> NSManagedObjectModel {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "Row"
        entity.properties =
            ["plain", "up", "down", "other"].map { TestStack.attribute($0, type) }
            + [TestStack.attribute("required", type, optional: false, default: filling), TestStack.attribute("number", .integer32AttributeType)]
        entity.indexes = [
            TestStack.index("up", [("up", true)], among: entity.propertiesByName),
            TestStack.index("down", [("down", false)], among: entity.propertiesByName),
            TestStack.index("required", [("required", true)], among: entity.propertiesByName),
        ]
        model.entities = [entity]
        return model
    }

    /// A comparison's format, and whether it holds for a pair of values.
    private typealias Comparison = (format: String, holds: (Any?, Any?) -> Bool)

    private func comparisons(_ column: Column) -> [Comparison] {
        func same(_ a: Any?, _ b: Any?) -> Bool {
            if let a, let b { column.isEqual(a, b) } else { a == nil && b == nil }
        }
        var all: [Comparison] = [("==", same), ("!=", { !same($0, $1) })]
        if let isLess = column.isLess {
            func less(_ a: Any?, _ b: Any?) -> Bool { if let a, let b { isLess(a, b) } else { false } }
            func atMost(_ a: Any?, _ b: Any?) -> Bool { a != nil && b != nil && (less(a, b) || same(a, b)) }
            all += [("<", less), (">", { less($1, $0) }), ("<=", atMost), (">=", { atMost($1, $0) })]
        }
        return all
    }

    /// Expects the rows for which a predicate should hold from every place that answers: the store, unsaved objects, objects and dictionaries.
    private func expect(_ predicate: NSPredicate, in places: [NSManagedObjectContext], _ rows: [[String: Any]], _ wanted: [Int]) throws {
        for (number, context) in places.enumerated() {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Row")
            request.predicate = predicate
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            let found = try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int }
            #expect(found == wanted, "\(predicate) in place \(number)")
            #expect(try context.count(for: request) == wanted.count, "\(predicate) counted in place \(number)")
        }
        let evaluated = rows.filter { predicate.evaluate(with: $0) }.compactMap { $0["number"] as? Int }
        #expect(evaluated == wanted, "\(predicate) of dictionaries")
    }

    @Test(arguments: StoreKind.recordLogs, columns)
    func `Each comparison of each type finds what Swift's operators say`(kind: StoreKind, column: Column) throws {
        let stack = try TestStack(kind, model: model(column.type, filling: column.values[0]))
        let values: [Any?] = [nil] + column.values
        var rows: [[String: Any]] = []
        for (number, value) in (values + values).enumerated() {
            var row: [String: Any] = ["number": number, "required": value ?? column.values[0]]
            for key in ["plain", "up", "down"] { row[key] = value }
            row["other"] = values[number * 3 % values.count]
            rows.append(row)
            stack.insert("Row", row)
        }
        let unsaved = stack.context, saved = try TestStack(kind, model: model(column.type, filling: column.values[0]))
        for row in rows { saved.insert("Row", row) }
        try saved.context.save()
        let places = [unsaved, saved.context, saved.newContext()]
        for (operation, holds) in comparisons(column) {
            func wanted(_ body: ([String: Any]) -> Bool) -> [Int] { rows.filter(body).compactMap { $0["number"] as? Int } }
            for key in ["plain", "up", "down", "required"] {
                for value in values {
                    let argument = value ?? NSNull()
                    let one = NSPredicate(format: "%K \(operation) %@", argumentArray: [key, argument])
                    let other = NSPredicate(format: "%@ \(operation) %K", argumentArray: [argument, key])
                    try expect(one, in: places, rows, wanted { holds($0[key], value) })
                    try expect(other, in: places, rows, wanted { holds(value, $0[key]) })
                }
                try expect(NSPredicate(format: "%K \(operation) other", key), in: places, rows, wanted { holds($0[key], $0["other"]) })
            }
        }
        for key in ["plain", "up", "down", "required"] {
            for (a, b) in zip(values.dropFirst(), values.dropFirst(2)).map({ ($0 ?? NSNull(), $1 ?? NSNull()) }) {
                let isIn = { (row: [String: Any]) in row[key].map { column.isEqual($0, a) || column.isEqual($0, b) } ?? false }
                try expect(
                    NSPredicate(format: "%K IN %@", argumentArray: [key, [a, b]]), in: places, rows,
                    rows.filter(isIn).compactMap { $0["number"] as? Int })
                guard let isLess = column.isLess else { continue }
                let isBetween = { (row: [String: Any]) in row[key].map { !isLess($0, a) && !isLess(b, $0) } ?? false }
                try expect(
                    NSPredicate(format: "%K BETWEEN %@", argumentArray: [key, [a, b]]), in: places, rows,
                    rows.filter(isBetween).compactMap { $0["number"] as? Int })
            }
        }
    }

    @Test(arguments: StoreKind.recordLogs, columns.filter { $0.isLess != nil })
    func `Each order of each type is that of Swift's operators, with null first`(kind: StoreKind, column: Column) throws {
        let isLess = try #require(column.isLess), stack = try TestStack(kind, model: model(column.type, filling: column.values[0]))
        let values: [Any?] = [nil] + column.values
        for (number, value) in values.enumerated() {
            var row: [String: Any] = ["number": number]
            for key in ["plain", "up", "down"] { row[key] = value }
            stack.insert("Row", row)
        }
        let sorted = values.indices.sorted { a, b in
            guard let x = values[a], let y = values[b] else { return values[a] == nil && values[b] != nil }
            return isLess(x, y)
        }
        for isSaved in [false, true] {
            if isSaved { try stack.context.save() }
            for context in [stack.context] + (isSaved ? [stack.anew()] : []) {
                for (key, ascending) in ["plain", "up", "down"].flatMap({ [($0, true), ($0, false)] }) {
                    let found = try stack.fetch("Row", sort: [NSSortDescriptor(key: key, ascending: ascending)], in: context)
                    let numbers = found.compactMap { $0.value(forKey: "number") as? Int }
                    #expect(numbers == (ascending ? sorted : sorted.reversed()), "\(key) \(ascending)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Each comparison of texts finds what Swift's functions say`(kind: StoreKind) throws {
        func contains(_ a: [UInt8], _ b: [UInt8]) -> Bool { b.isEmpty || a.indices.contains { a[$0...].starts(with: b) } }
        func folded(_ text: String, _ options: String) -> [UInt8] {
            // With an option composed and decomposed letters are the same.
            var text = options.isEmpty ? text : text.decomposedStringWithCanonicalMapping
            if options.contains("d") {
                let bare = text.unicodeScalars.filter { $0.properties.generalCategory != .nonspacingMark }
                text = String(String.UnicodeScalarView(bare))
            }
            if options.contains("c") { text = text.unicodeScalars.map(\.properties.lowercaseMapping).joined() }
            return Array(text.utf8)
        }
        let operations: [(String, ([UInt8], [UInt8]) -> Bool)] = [
            ("BEGINSWITH", { $0.starts(with: $1) }), ("ENDSWITH", { $0.reversed().starts(with: $1.reversed()) }), ("CONTAINS", contains),
            ("==", ==), ("!=", !=),
        ]
        let stack = try TestStack(kind, model: model(.stringAttributeType, filling: ""))
        let values: [String?] = [nil] + Self.texts + ["E\u{301}", "xay", "XAY"]
        let rows = values.enumerated().map { number, value in
            var row: [String: Any] = ["number": number]
            for key in ["plain", "up", "down"] { row[key] = value }
            return row
        }
        for row in rows { stack.insert("Row", row) }
        for isSaved in [false, true] {
            if isSaved { try stack.context.save() }
            for (operation, holds) in operations {
                for (options, argument) in ["", "[c]", "[d]", "[cd]"].flatMap({ options in values.compactMap { $0 }.map { (options, $0) } }) {
                    let wanted = values.indices.filter { number in
                        guard let value = values[number] else { return operation == "!=" }
                        return holds(folded(value, options), folded(argument, options))
                    }
                    for key in ["plain", "up", "down"] {
                        let predicate = NSPredicate(format: "%K \(operation)\(options) %@", argumentArray: [key, argument])
                        try expect(predicate, in: isSaved ? [stack.context, stack.newContext()] : [stack.context], rows, wanted)
                    }
                }
            }
        }
    }
}
