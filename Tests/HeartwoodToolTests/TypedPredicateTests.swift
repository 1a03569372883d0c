import Foundation
import Heartwood
import HeartwoodTestSupport
import Testing

@testable import HeartwoodTool

/// Constants of a predicate that a person writes are read as values of the attribute's type.
@Suite struct TypedPredicateTests {
    /// An attribute of each type, with values in ascending order, their texts, and texts that are none.
    // Unchecked: it is immutable.
    struct Sample: CustomTestStringConvertible, @unchecked Sendable {
        let type: NSAttributeType
        let values: [Any]
        let texts: [String]
        var bad: [String] = []
        /// The name of the attribute.
        var name: String { "value\(type.rawValue)" }
        var testDescription: String { "\(type)" }

        /// The place of an object's value among the values; the third object of a type with two values has the second.
        func rank(_ object: Int) -> Int { min(object, values.count - 1) }
    }

    private static let dates = ["2025-01-01T12:00:00Z", "2025-03-01T00:00:00.5Z", "2025-12-31T23:59:59Z"]
    private static let uuids = ["00000000-0000-0000-0000-00000000000A", "7F000000-0000-0000-0000-000000000000", "FF000000-0000-0000-0000-000000000000"]
    private static let uris = ["https://a.example/", "https://b.example/?q=1", "mailto:c@d.example"]

    static let samples = [
        Sample(type: .stringAttributeType, values: ["", "2025-01-01", "beta"], texts: ["", "2025-01-01", "beta"]),
        Sample(type: .integer16AttributeType, values: [-1, 42, 300], texts: ["-1", "42", "300"], bad: ["", "x", "4 2", "0x1", "1,5"]),
        Sample(type: .integer32AttributeType, values: [-1, 42, 70_000], texts: ["-1", "42", "70000"], bad: ["", "YES"]),
        Sample(type: .integer64AttributeType, values: [-1, 42, Int64.max], texts: ["-1", "42.0", "9223372036854775807"], bad: ["", "2025-01-01"]),
        Sample(type: .doubleAttributeType, values: [-0.5, 0.1, 1e300], texts: ["-0.5", "0.1", "1e300"], bad: ["", "x", "1e400"]),
        Sample(type: .floatAttributeType, values: [Float(0.1), Float(0.2), Float(3e38)], texts: ["0.1", "0.2", "3e38"], bad: ["", "1e39"]),
        Sample(
            type: .decimalAttributeType, values: ["-1.10", "0.1", "12345678901234567890.5"].map { NSDecimalNumber(string: $0) },
            texts: ["-1.1", "0.10", "12345678901234567890.5"], bad: ["", "x"]),
        Sample(type: .booleanAttributeType, values: [false, true], texts: ["no", "YES"], bad: ["", "2", "maybe"]),
        Sample(
            type: .dateAttributeType, values: dates.compactMap { DateText.date($0) }, texts: dates,
            bad: ["", "soon", "2025-02-30", "2025-13", "2025-01-01T25:00", "01.02.2025"]),
        Sample(type: .UUIDAttributeType, values: uuids.compactMap { UUID(uuidString: $0) }, texts: uuids.map { $0.lowercased() }, bad: ["", "7F"]),
        Sample(type: .URIAttributeType, values: uris.compactMap { URL(string: $0) }, texts: uris, bad: ["", "a b"]),
        Sample(type: .binaryDataAttributeType, values: [[1], [2, 0], [0xFF]].map { Data($0) }, texts: ["AQ==", "AgA=", "/w=="], bad: ["*", "AQ"]),
    ]

    /// Three readings with the values of each sample in ascending order, and one without, each in a group of its own.
    final class Store {
        let path = ToolProcess.temporaryPath()
        let open: OpenStore

        init() throws {
            open = try OpenStore(path: path, model: Self.model(), isReadOnly: false)
            for number in 0..<4 {
                let reading = NSEntityDescription.insertNewObject(forEntityName: "Reading", into: open.context)
                let group = NSEntityDescription.insertNewObject(forEntityName: "Group", into: open.context)
                group.setValue("\(number)", forKey: "name")
                reading.setValue("\(number)", forKey: "name")
                reading.setValue(group, forKey: "group")
                guard number < 3 else { continue }
                for sample in samples { reading.setValue(sample.values[sample.rank(number)], forKey: sample.name) }
                reading.setValue(["kind": "k\(number)"], forKey: "kind")
                reading.setValue(["city": "c\(number)", "since": Date(timeIntervalSinceReferenceDate: Double(number) * 86400)], forKey: "place")
            }
            try open.context.save()
        }

        deinit {
            try? open.close()
            ToolProcess.cleanUp(path)
        }

        private static func model() -> NSManagedObjectModel {
            let reading = NSEntityDescription(), group = NSEntityDescription(), readings = NSRelationshipDescription(), owner = NSRelationshipDescription()
            (reading.name, group.name) = ("Reading", "Group")
            (readings.name, readings.destinationEntity, readings.inverseRelationship, readings.isOptional) = ("readings", reading, owner, true)
            (owner.name, owner.destinationEntity, owner.inverseRelationship, owner.maxCount) = ("group", group, readings, 1)
            reading.properties = samples.map { attribute($0.name, $0.type) } + [
                attribute("name", .stringAttributeType), owner, composite("kind", [attribute("kind", .stringAttributeType)]),
                composite("place", [attribute("city", .stringAttributeType), attribute("since", .dateAttributeType)]),
            ]
            group.properties = [attribute("name", .stringAttributeType), readings]
            let model = NSManagedObjectModel()
            model.entities = [reading, group]
            return model
        }

        private static func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSAttributeDescription {
            let attribute = NSCompositeAttributeDescription()
            (attribute.name, attribute.elements, attribute.isOptional) = (name, elements, true)
            return attribute
        }

        private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }

        /// The numbers of the objects that a written predicate finds; the last one has no values.
        func find(_ format: String, _ entity: String = "Reading") throws -> [Int] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = try open.meant(try QueryText.predicate(format), about: try open.entity(entity))
            return try open.context.fetch(request).compactMap { ($0.value(forKey: "name") as? String).flatMap(Int.init) }.sorted()
        }
    }

    private static let operators: [(text: String, mirrored: String, holds: @Sendable (Int, Int) -> Bool)] = [
        ("==", "==", { $0 == $1 }), ("!=", "!=", { $0 != $1 }), ("<", ">", { $0 < $1 }), ("<=", ">=", { $0 <= $1 }), (">", "<", { $0 > $1 }),
        (">=", "<=", { $0 >= $1 }),
    ]

    @Test(arguments: samples)
    func `A text compares with an attribute of each type as a value of this type`(sample: Sample) throws {
        let store = try Store(), name = sample.name
        for (wanted, text) in sample.texts.enumerated() {
            for (symbol, mirrored, holds) in Self.operators {
                // An object without a value differs from each value, and has no order.
                let expected = (0..<3).filter { holds(sample.rank($0), wanted) } + (symbol == "!=" ? [3] : [])
                let literal = "\"\(text)\""
                #expect(try store.find("\(name) \(symbol) \(literal)") == expected, "\(symbol) \(literal)")
                #expect(try store.find("\(literal) \(mirrored) \(name)") == expected, "\(literal) \(mirrored)")
                #expect(try store.find("NOT (\(name) \(symbol) \(literal))") == [0, 1, 2, 3].filter { !expected.contains($0) }, "NOT \(symbol) \(literal)")
                #expect(try store.find("ANY readings.\(name) \(symbol) \(literal)", "Group") == expected, "ANY \(symbol) \(literal)")
                #expect(try store.find("SUBQUERY(readings, $r, $r.\(name) \(symbol) \(literal)).@count > 0", "Group") == expected, "SUBQUERY \(symbol) \(literal)")
            }
            let equal = (0..<3).filter { sample.rank($0) == wanted }
            #expect(try store.find("\(name) IN {\"\(text)\", nil}") == equal + [3], "IN")
            #expect(try store.find("\"\(text)\" IN {\(name), nil}") == equal, "IN, mirrored")
            #expect(try store.find("\(name) BETWEEN {\"\(sample.texts[0])\", \"\(text)\"}") == (0..<3).filter { sample.rank($0) <= wanted }, "BETWEEN")
            #expect(try store.find("group.readings.@count == 1 AND \(name) == \"\(text)\"") == equal)
        }
        #expect(try store.find("\(name) == nil") == [3])
        #expect(try store.find("\(name) != NULL") == [0, 1, 2])
    }

    @Test(arguments: samples)
    func `A text that is no value of an attribute's type is an error that names both`(sample: Sample) throws {
        let store = try Store(), name = sample.name
        for text in sample.bad {
            let literal = "\"\(text)\""
            for (symbol, mirrored, _) in Self.operators {
                for format in ["\(name) \(symbol) \(literal)", "\(literal) \(mirrored) \(name)", "ANY {\(literal)} \(mirrored) \(name)"] {
                    try expectRefusal(store, format, name, literal)
                }
                try expectRefusal(store, "ANY readings.\(name) \(symbol) \(literal)", name, literal, "Group")
                try expectRefusal(store, "SUBQUERY(readings, $r, $r.\(name) \(symbol) \(literal)).@count > 0", name, literal, "Group")
            }
            try expectRefusal(store, "\(name) IN {nil, \(literal)}", name, literal)
            try expectRefusal(store, "\(name) BETWEEN {\(literal), \(literal)}", name, literal)
            try expectRefusal(store, "\(name) == TERNARY(name == \"1\", \(literal), nil)", name, literal)
        }
    }

    private func expectRefusal(
        _ store: Store, _ format: String, _ name: String, _ literal: String, _ entity: String = "Reading",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        do {
            let found = try store.find(format, entity)
            Issue.record("\(format) finds \(found)", sourceLocation: sourceLocation)
        } catch ToolError.usage(let message) {
            #expect(message.contains(name) && message.contains(literal), "\(format): \(message)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: samples)
    func `An operator for texts takes texts and URIs only`(sample: Sample) throws {
        let store = try Store(), name = sample.name
        for symbol in ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES"] {
            let format = "\(name) \(symbol) \"\(sample.texts[1])\""
            switch sample.type {
            case .stringAttributeType: #expect(try store.find(format) == [1], "\(symbol)")
            case .URIAttributeType: #expect(try store.find("\(name) \(symbol) \"\(symbol == "LIKE" ? "*a.example/" : Self.uris[0])\"") == [0], "\(symbol)")
            default: try expectRefusal(store, format, name, symbol)
            }
        }
    }

    // MARK: Dates

    @Test(arguments: [
        ("== \"2025-01-01\"", [0]), ("== \"2025-01\"", [0]), ("== \"2025\"", [0, 1, 2]), ("!= \"2025-01-01\"", [1, 2, 3]), ("!= \"2025\"", [3]),
        ("< \"2025-01-01\"", []), ("<= \"2025-01-01\"", [0]), ("> \"2025-01-01\"", [1, 2]), (">= \"2025-01-01\"", [0, 1, 2]),
        ("< \"2025-03-01\"", [0]), ("<= \"2025-03\"", [0, 1]), ("> \"2025-03\"", [2]), ("> \"2025\"", []), (">= \"2025-12-31\"", [2]),
        ("< \"2025-01-01T12:00:00.001\"", [0]), ("== \"2025-01-01 12:00\"", [0]), ("== \"2025-01-01T13:00+01:00\"", [0]),
        ("BETWEEN {\"2025-01-01\", \"2025-03-01\"}", [0, 1]), ("BETWEEN {\"2025-01-02\", \"2025-12-31\"}", [1, 2]),
        ("BETWEEN {\"2025-01-01T12:00:01Z\", \"2025-12\"}", [1, 2]),
        ("IN {\"2025-01-01\", \"2025-12-31\"}", [0, 2]), ("IN {\"2025-03-01T00:00:00.5Z\", \"2025-12-31\", nil}", [1, 2, 3]), ("IN {\"2024\"}", []),
        ("== \"1735732800\"", [0]), ("== 1735732800", [0]), ("> 1735732800.5", [1, 2]), ("> CAST(757382400, \"NSDate\")", [0, 1, 2]),
    ])
    func `A day, a month and a year stand for all of their times by UTC`(condition: String, expected: [Int]) throws {
        let store = try Store(), name = "value\(NSAttributeType.dateAttributeType.rawValue)"
        #expect(try store.find("\(name) \(condition)") == expected)
        #expect(try store.find("ANY readings.\(name) \(condition)", "Group") == expected)
        #expect(try store.find("NOT \(name) \(condition)") == [0, 1, 2, 3].filter { !expected.contains($0) })
        #expect(try store.find("SUBQUERY(readings, $r, $r.\(name) \(condition)).@count == 1", "Group") == expected)
    }

    @Test
    func `A day may stand on the left side, in a list of dates and for all members`() throws {
        let store = try Store(), name = "value\(NSAttributeType.dateAttributeType.rawValue)"
        let cases: [(String, String, [Int])] = [
            ("\"2025-03-01\" == \(name)", "Reading", [1]), ("\"2025-03-01\" < \(name)", "Reading", [2]), ("\"2025-03-01\" >= \(name)", "Reading", [0, 1]),
            ("\"2025-03-01\" IN {\(name)}", "Reading", [1]), ("\"2025-03-01\" BETWEEN {\(name), \(name)}", "Reading", [1]),
            ("\"2025-03\" IN readings.\(name)", "Group", [1]), ("readings.\(name) CONTAINS \"2025-03-01\"", "Group", [1]),
            ("ALL readings.\(name) == \"2025-03-01\"", "Group", [1]), ("ALL readings.\(name) != \"2025-03-01\"", "Group", [0, 2, 3]),
            ("ALL readings.\(name) IN {\"2025-03\"}", "Group", [1]), ("readings.@max.\(name) > \"2025-03-01\"", "Group", [2]),
            ("\(name) + 86400 == \"2025-03-02\"", "Reading", [1]), ("noindex:(\(name)) == \"2025-03-01\"", "Reading", [1]),
        ]
        for (format, entity, expected) in cases { #expect(try store.find(format, entity) == expected, "\(format)") }
        for format in ["\(name) == TERNARY(name == \"1\", \"2025\", nil)", "ALL {\"2025\"} == \(name)"] {
            try expectRefusal(store, format, "value", "2024-02-29T12:30:00Z")
        }
        try expectRefusal(store, "ALL readings.\(name) IN {\"2025-03\", \"2025-01\"}", name, "2024-02-29T12:30:00Z", "Group")
    }

    // MARK: Other constants

    @Test(arguments: samples)
    func `A number beside an attribute that holds none is an error, not an empty answer`(sample: Sample) throws {
        let store = try Store()
        switch sample.type {
        case .stringAttributeType, .UUIDAttributeType, .URIAttributeType, .binaryDataAttributeType:
            for format in ["\(sample.name) == 42", "42 < \(sample.name)", "\(sample.name) IN {42}"] { try expectRefusal(store, format, sample.name, "42") }
        default: #expect(try store.find("\(sample.name) == 42") == ([1, 2, 3].contains(Int(sample.type.rawValue) / 100) ? [1] : []))
        }
    }

    @Test
    func `An enumeration is compared by its raw value, and an element of a composite by its type`() throws {
        let store = try Store()
        #expect(try store.find("kind == \"k1\"") == [1])
        #expect(try store.find("kind == nil") == [3])
        #expect(try store.find("kind BEGINSWITH \"k\"") == [0, 1, 2])
        #expect(try store.find("ANY readings.kind IN {\"k0\", \"k2\"}", "Group") == [0, 2])
        #expect(try store.find("SUBQUERY(readings, $r, $r.kind == \"k2\").@count == 1", "Group") == [2])
        #expect(try store.find("place.since == \"2001-01-02\"") == [1])
        #expect(try store.find("ANY readings.place.since > \"2001-01-02\"", "Group") == [2])
        try expectRefusal(store, "place == \"c1\"", "place", "composite")
        try expectRefusal(store, "place.since == \"soon\"", "place.since", "\"soon\"")
    }

    @Test
    func `The URI of an object names it, and another text beside a relationship is an error`() throws {
        let store = try Store()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Reading")
        request.predicate = NSPredicate(format: "name == '2'")
        let found = try #require(try store.open.context.fetch(request).first)
        let uri = found.objectID.uriRepresentation().absoluteString
        let group = try #require(found.value(forKey: "group") as? NSManagedObject).objectID.uriRepresentation().absoluteString
        for format in ["SELF == \"\(uri)\"", "objectID == \"\(uri)\"", "SELF IN {\"\(uri)\"}", "group == \"\(group)\""] {
            #expect(try store.find(format) == [2], "\(format)")
        }
        #expect(try store.find("ANY readings == \"\(uri)\"", "Group") == [2])
        #expect(try store.find("readings CONTAINS \"\(uri)\"", "Group") == [2])
        try expectRefusal(store, "group == \"north\"", "group", "\"north\"")
        try expectRefusal(store, "group == \"x-coredata://elsewhere/Group/p1\"", "x-coredata://elsewhere", "object of this store")
    }
}
