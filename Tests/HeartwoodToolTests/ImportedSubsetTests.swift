import Foundation
import Heartwood
import Testing

@testable import HeartwoodTool

/// Small records of attributes of all types. A later import clears, empties and changes each pair of attributes, and leaves the others alone. The
/// stack reads the result, and so does the tool's export in a process of its own.
@Suite struct ImportedSubsetTests {
    private struct Column {
        let name: String
        let type: String
        /// Values by state; nil for null.
        let values: [Any?]
    }

    /// Each list has a record's first value, an empty value, a long or extreme one, and null.
    private let columns: [Column] = {
        func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
        func url(_ end: String) -> URL? { URL(string: "https://example.org/" + end) }
        func decimal(_ text: String) -> NSDecimalNumber { NSDecimalNumber(string: text) }
        let ids = ["01020304-0506-0708-090A-0B0C0D0E0F10", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"]
        let external = "Binary\" allowsExternalBinaryDataStorage=\"YES"
        return [
            Column(name: "a", type: "String", values: ["a", "", String(repeating: "aä", count: 200), nil]),
            Column(name: "b", type: "String", values: ["bb", "", "b,\"\n\\", nil]),
            Column(name: "c", type: "String", values: ["ccc", "", String(repeating: "c", count: 70_000), nil]),
            Column(name: "data", type: "Binary", values: [Data("data".utf8), Data(), Data((0...255).map { UInt8($0) }), nil]),
            Column(name: "date", type: "Date", values: [date(1.5), date(0), date(-1e11), nil]),
            Column(name: "dec", type: "Decimal", values: [decimal("1.5"), decimal("0"), decimal("-12345678901234567890.5"), nil]),
            Column(name: "dbl", type: "Double", values: [1.5, 0.0, -Double.greatestFiniteMagnitude, nil]),
            Column(name: "flag", type: "Boolean", values: [true, false, true, nil]),
            Column(name: "flt", type: "Float", values: [Float(1.5), Float(0), -Float.greatestFiniteMagnitude, nil]),
            Column(name: "home.city", type: "", values: ["city", "", String(repeating: "h", count: 300), nil]),
            Column(name: "home.height", type: "", values: [2.5, 0.0, -1e300, nil]),
            Column(name: "i16", type: "Integer 16", values: [Int16(1), Int16(0), Int16.min, nil]),
            Column(name: "i32", type: "Integer 32", values: [Int32(1), Int32(0), Int32.min, nil]),
            Column(name: "i64", type: "Integer 64", values: [Int64(1), Int64(0), Int64.min, nil]),
            Column(name: "large", type: external, values: [Data("large".utf8), Data(), Data(repeating: 7, count: 9000), nil]),
            Column(
                name: "more", type: "Transformable",
                values: [["more"] as NSArray, [] as NSArray, [String(repeating: "m", count: 300)] as NSArray, nil]),
            Column(name: "uri", type: "URI", values: [url("a"), URL(string: "a:"), url(String(repeating: "u", count: 300)), nil]),
            Column(name: "uuid", type: "UUID", values: ids.map { UUID(uuidString: $0) } + [nil]),
            Column(name: "z", type: "String", values: ["zzzz", "", "zé\u{1F600}", nil]),
        ]
    }()

    private var model: String { """
        <?xml version="1.0" encoding="UTF-8"?>
        <model>
        <entity name="Card"><attribute name="key" attributeType="String"/>
          \(columns.filter { !$0.type.isEmpty }.map { "<attribute name=\"\($0.name)\" optional=\"YES\" attributeType=\"\($0.type)\"/>" }.joined())
          <attribute name="home" optional="YES" attributeType="Composite" composite="Place"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="key"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <composite name="Place">
          <attribute name="city" optional="YES" attributeType="String"/><attribute name="height" optional="YES" attributeType="Double"/>
        </composite>
        </model>
        """ }

    /// The new state by column; columns without an entry do not change.
    private typealias Change = [Int: Int]

    /// No change, each column to each state, each pair of columns to null and to a long value and null, and all columns.
    private var changes: [Change] {
        var changes: [Change] = [[:]]
        for first in columns.indices {
            changes += (0..<4).map { [first: $0] }
            for second in columns.indices where second > first {
                changes += [[first: 3, second: 3], second % 2 == 0 ? [first: 3, second: 2] : [first: 2, second: 3]]
            }
        }
        return changes + (0..<4).map { state in Dictionary(uniqueKeysWithValues: columns.indices.map { ($0, state) }) }
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-subsets-\(UUID().uuidString)")

    /// A line for each card, with its stated columns.
    private func lines(_ attributes: [String: NSAttributeDescription], _ state: (Change, Int) -> Int?) throws -> String {
        return try changes.enumerated().map { number, change in
            var members = ["\"key\":\"\(number)\""]
            for (index, column) in columns.enumerated() {
                guard let state = state(change, index) else { continue }
                guard let value = column.values[state] else {
                    members.append("\"\(column.name)\":null")
                    continue
                }
                let json = try attributes[column.name].flatMap { $0.attributeType == .transformableAttributeType ? $0 : nil }.map {
                    AttributeText.json(value, transformable: $0, bytes: try #require(try $0.transformedData(for: value)))
                } ?? AttributeText.json(value)
                members.append("\"\(column.name)\":\(String(decoding: json.line, as: UTF8.self))")
            }
            return "{\(members.joined(separator: ","))}\n"
        }.joined()
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let text as String: "'\(text)'"
        case let decimal as NSDecimalNumber: "\(decimal)"
        case let number as NSNumber: "\(number.doubleValue)"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let data as Data: "bytes " + data.base64EncodedString()
        case let list as [String]: "list \(list)"
        case let value?: "\(value)"
        }
    }

    @Test
    func `A record that clears, empties or changes two attributes of any types leaves the others, and is exported as it is`() throws {
        let model = folder.appendingPathComponent("M.xcdatamodel"), store = folder.appendingPathComponent("a.heartwood")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try self.model.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let loaded = try NSManagedObjectModel.load(contentsOf: model)
        let changes = changes
        let attributes = try #require(loaded.entitiesByName["Card"]).attributesByName
        for state in [{ _, _ in 0 }, { $0[$1] }] as [(Change, Int) -> Int?] {
            let arguments = ["import", store.path, "--model", model.path, "--entity", "Card", "--key", "key", "--batch", "50", "-"]
            let result = try ToolProcess.runWords(arguments, input: lines(attributes, state))
            #expect(result.status == 0, "\(result.error)")
        }
        let expected = changes.map { change in columns.enumerated().map { index, column in column.values[change[index] ?? 0] } }

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: loaded)
        let opened = try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: store, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let cards = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Card"))
        #expect(cards.count == expected.count)
        for card in cards {
            let number = try #require(Int(card.value(forKey: "key") as? String ?? ""))
            for (index, column) in columns.enumerated() {
                let found = Self.text(card.value(forKeyPath: column.name)), wanted = Self.text(expected[number][index])
                #expect(found == wanted, "card \(number), \(changes[number]): \(column.name)")
            }
        }
        try coordinator.remove(opened)

        // A line has no member for null. A transformable's archive differs each time, and was compared above.
        let exported = try ToolProcess.run("export", store.path, "--entity", "Card")
        var found: [String: [String: Any]] = [:]
        for line in exported.output.split(separator: "\n") {
            let members = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            found[members["key"] as? String ?? ""] = members
        }
        #expect(found.count == expected.count)
        for (number, values) in expected.enumerated() {
            for (column, value) in zip(columns, values) {
                let text = found["\(number)"]?[column.name]
                guard column.name != "more", let value else {
                    #expect((text == nil) == (value == nil), "card \(number): \(column.name)")
                    continue
                }
                let wanted = try JSONSerialization.jsonObject(with: JSONValue.list([AttributeText.json(value)]).line) as? [Any]
                #expect(text.map { "\($0)" } == wanted?.first.map { "\($0)" }, "card \(number), \(changes[number]): \(column.name)")
            }
        }
        #expect(try ToolProcess.run("verify", store.path).status == 0)
    }
}
