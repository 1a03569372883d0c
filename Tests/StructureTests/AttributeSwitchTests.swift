import Foundation
import Testing

/// A type of attribute is described in one place, `AttributeCodec`. What is left of switches over types is listed here.
@Suite struct AttributeSwitchTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    /// The files with such switches, and the reason of each. By name: a file may move to another folder.
    private static let known = [
        "AttributeCodec.swift": "leads from a type to its codec: the compiler checks that each type has one",
        "AttributeTextForm.swift": "the words and forms of text files, which only the tool knows, in one value for each type",
        "BatchUpdateValue.swift": "runs for each row, and takes a computed value without an object around it",
        "CellReading.swift": "runs for each column of a batch of rows, whose loop is then one of its type",
        "ColumnDefault.swift": "the engine has no types of attributes; a default is checked by its column",
        "ColumnType.swift": "the facts of the engine's own types of columns",
        "CoreDataRows.swift": "runs for each value that a SQLite store reads",
        "KeyBuilder.swift": "runs for each part of each index entry",
        "ManagedValue.swift": "runs for each value that a program passes to key-value coding or to a batch insertion",
        "ManagedValue+Rows.swift": "runs for each value that is read from a row",
        "NSManagedObject+Values.swift": "runs for each number that generated code sets",
        "ObjectForm.swift": "values of JSON, which has fewer types, become those of an attribute",
        "Parameter.swift": "runs for each value of a look-up by a kept plan",
        "PredicateCompiler+Columns.swift": "chooses the filter of a type: each is a class of its own, so that a scan has no switch",
        "PreservedValues.swift": "the texts of a server's history, in one value for each type",
        "QueryArguments.swift": "runs for each argument of a query by a kept statement",
        "RowAudit.swift": "runs for each value that is verified",
        "RowEncoder.swift": "runs for each value that goes from a record log to a server",
        "RowExpression.swift": "runs for each row of a computed condition or result",
        "RowSelection.swift": "runs for each value of a server's answer",
        "SQLType.swift": "leads from a type to its column on a server: the compiler checks that each type has one",
        "SQLiteCodec.swift": "leads from a type to its form in files of SQLite: the compiler checks that each type has one",
        "SwiftLiteral.swift": "how code spells a type and its values, which only the tool knows",
        "StoredForm.swift": "values of SwiftData's attributes as the JSON of Codable types, which the stack does not know",
        "UnsafeRowView.swift": "runs for each number that is read from a row",
    ]

    private static func name(_ file: SwiftSource) -> String { String(file.path.split(separator: "/").last ?? "") }

    @Test
    func `Only the listed files switch over types of attributes, and each of them does`() throws {
        let found = try Layers.files(in: Self.sources).filter { !AttributeSwitches($0.tokens).lines.isEmpty }
        for file in found where Self.known[Self.name(file)] == nil {
            let lines = AttributeSwitches(file.tokens).lines.map(String.init).joined(separator: ", ")
            Issue.record(
                "Sources/\(file.path) switches over types of attributes in line \(lines): ask AttributeCodec, or list the file with a reason")
        }
        let names = Set(found.map(Self.name))
        for name in Self.known.keys.sorted() where !names.contains(name) {
            Issue.record("\(name) has no switch over types of attributes any more: take it off the list")
        }
    }

    @Test
    func `One file spells the types as models do`() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.sources.path).filter { $0.hasSuffix(".swift") }
        let spelling = try paths.filter {
            try String(contentsOf: Self.sources.appendingPathComponent($0), encoding: .utf8).contains("\"Integer 16\"")
        }
        #expect(spelling.map { $0.split(separator: "/").last } == ["ModelAttributeType.swift"])
    }

    @Test
    func `A switch over three types is found by its line, one over values or two types is not`() {
        func lines(_ text: String) -> [Int] { AttributeSwitches(SwiftTokens(Array(text.utf8))).lines }
        #expect(lines("let a = 1\nswitch kind {\ncase .int16, .int32: 1\ncase .date where x.isDate: 2\ndefault: 3\n}") == [2])
        #expect(lines("switch type {\ncase .stringAttributeType: f { $0.a }\ncase .dateAttributeType, .UUIDAttributeType: 2\n}") == [1])
        #expect(lines("switch value {\ncase .text: switch kind {\ncase .float, .double, .uri: 1\n}\ncase .date, .data: 2\n}") == [2])
        #expect(lines("switch (kind, value) {\ncase (.float, .double(let x)), (.date, .date(let x)): 1\n}") == [1])
        #expect(lines("switch value {\ncase .text, .date, .data, .uuid, .bool: 1\n}") == [])
        #expect(lines("switch kind {\ncase .int16, .int32: use(.float)\ndefault: g(.date)\n}") == [])
        #expect(lines("if case .int16 = kind { use(.date, .float) }\nlet all = [.int16, .int32, .float]") == [])
    }
}
