import Foundation
import Heartwood
import Testing

/// An import that is refused names the line, and leaves what was there before it.
@Suite struct RefusedImportTests {
    private static let model = #"""
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Event" representedClassName="Event" syncable="YES">
                <attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="day" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
                <attribute name="count" optional="YES" attributeType="Integer 16" usesScalarValueType="NO"/>
                <attribute name="size" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
                <attribute name="price" optional="YES" attributeType="Decimal"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
        </model>
        """#

    /// Calls `body` with a folder that has the model `M.xcdatamodel`.
    private func withFolder(_ body: (URL) throws -> Void) throws {
        try CoreDataStores.withFolder { folder in
            let model = folder.appendingPathComponent("M.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            try Data(Self.model.utf8).write(to: model.appendingPathComponent("contents"))
            try body(folder)
        }
    }

    private func run(_ folder: URL, _ store: String, _ format: String, _ text: String, _ more: String...) throws -> ToolProcess.Result {
        try ToolProcess.runWords(
            ["import", folder.appendingPathComponent(store).path, "--model", folder.appendingPathComponent("M.xcdatamodel").path, "--entity", "Event",
                "--key", "name", "--format", format, "-"] + more, input: text)
    }

    @Test(arguments: [
        ("jsonl", "{\"name\":\"a\"}\n{\"name\":\"0123456789\"}\n", "line 2 is longer than 20 bytes"),
        ("jsonl", "{\"name\":\"a\"}\n{\"name\":\"0123456789\"}", "line 2 is longer than 20 bytes"),
        ("jsonl", String(repeating: " ", count: 1 << 20), "line 1 is longer than 20 bytes"),
        ("csv", "name,day\r\n01234567890123456789,\r\n", "line 2 is longer than 20 bytes"),
        ("csv", "name,day\n\"0123456789\n0123456789\n0123456789\",\n", "the record that begins in line 2 is longer than 20 bytes"),
    ])
    func `A line that is longer than allowed is refused by its length`(format: String, text: String, message: String) throws {
        try withFolder { folder in
            let result = try run(folder, "new", format, text, "--line-max", "20")
            #expect(result.status == 1 && result.error.contains(message) && result.error.contains("--line-max"), "\(result.error)")
        }
    }

    @Test
    func `A line of just the allowed length is taken, with either end`() throws {
        try withFolder { folder in
            for (number, end) in ["\n", "\r\n", ""].enumerated() {
                let result = try run(folder, "new\(number)", "jsonl", "{\"name\":\"01234567\"}" + end, "--line-max", "19")
                #expect(result.status == 0, "\(result.error)")
            }
            #expect(try run(folder, "huge", "jsonl", "{\"name\":\"a\"}\n", "--line-max", "\(Int.max)").status == 0)
            #expect(try run(folder, "none", "jsonl", "{\"name\":\"a\"}\n", "--line-max", "0").status == 2)
        }
    }

    @Test(arguments: [
        ("csv", "name,day\na,2024-02-29T00:00:00Z\nb,2023-02-29T00:00:00Z\n", "line 3: day is a date"),
        ("csv", "name,day\na,24-01-01T00:00:00Z\n", "line 2: day is a date"), ("tsv", "name\tday\na\t2024-01-01T25:00:00Z\n", "line 2: day is a date"),
        ("csv", "name,count\na,40000\n", "line 2: count is a 16-bit integer"), ("jsonl", "{\"name\":\"a\"}\n\n{\"name\":\"b\",\"size\":1e-400}\n", "line 3: size"),
        ("jsonl", "{\"name\":\"b\",\"price\":0.12345678901234567890123456789012345678901}\n", "line 1: price is a decimal number"),
        ("csv", "name,day\n\"a\"b,\n", "line 2: text stands behind the closing quote of field 1"),
        ("csv", "name,day\n\"a\nb\" ,\n", "line 3: text stands behind the closing quote of field 1"),
        ("csv", "name,day\na,\"\"x\n", "line 2: text stands behind the closing quote of field 2"),
        ("csv", "name,day\na,\"\" \"\"\n", "line 2: text stands behind the closing quote of field 2"),
        ("csv", "\"name\"x,day\n", "line 1: text stands behind the closing quote of field 1"),
    ])
    func `A value that fits no type is refused with its line; no store is left, and an empty file stays empty`(
        format: String, text: String, message: String
    ) throws {
        try withFolder { folder in
            let empty = folder.appendingPathComponent("empty")
            try Data().write(to: empty)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: empty.path)
            for store in ["new", "empty"] {
                let result = try run(folder, store, format, text)
                #expect(result.status == 1 && result.error.contains(message), "\(result.error)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["M.xcdatamodel", "empty"])
            let attributes = try FileManager.default.attributesOfItem(atPath: empty.path)
            #expect(attributes[.size] as? Int == 0 && attributes[.posixPermissions] as? Int == 0o600)
            // The corrected file, by the same path.
            let again = try run(folder, "new", "csv", "name\na\n")
            #expect(again.status == 0 && again.output.contains("1 inserted"), "\(again.error)")
        }
    }

    @Test
    func `A store that was there, and one with saved batches, stay as they were`() throws {
        try withFolder { folder in
            #expect(try run(folder, "store", "csv", "name\na\n").status == 0)
            let store = folder.appendingPathComponent("store"), before = try Data(contentsOf: store)
            #expect(try run(folder, "store", "csv", "name,count\nb,40000\n").status == 1)
            #expect(try Data(contentsOf: store) == before)
            let batches = try run(folder, "batches", "csv", "name,count\nb,1\nc,40000\n", "--batch", "1")
            #expect(batches.status == 1 && batches.error.contains("Lines before 3 are saved"), "\(batches.error)")
            let quotes = try run(folder, "quotes", "csv", "name,count\nb,1\n\"c\"x,2\n", "--batch", "1")
            #expect(quotes.status == 1 && quotes.error.contains("Lines before 3 are saved"), "\(quotes.error)")
            #expect(try ToolProcess.run("query", folder.appendingPathComponent("batches").path, "Event", "--count").output == "1\n")
        }
    }

    @Test
    func `A closing quote at the end of a field, doubled quotes and quotes inside of a field are text`() throws {
        try withFolder { folder in
            let text = "\"name\",day\r\n\"a\"\"b\",\r\n\"\"\"\",\"\"\r\nc\"d\"e,\n\"f\ng\",\n"
            // An empty text is no date.
            #expect(try run(folder, "store", "csv", text).status == 1)
            let result = try run(folder, "store", "csv", text.replacing(",\"\"\r\n", with: ",\r\n"))
            #expect(result.status == 0, "\(result.error)")
            let found = try ToolProcess.run("query", folder.appendingPathComponent("store").path, "Event", "--select", "name", "--format", "jsonl")
            #expect(found.output == "{\"name\":\"a\\\"b\"}\n{\"name\":\"\\\"\"}\n{\"name\":\"c\\\"d\\\"e\"}\n{\"name\":\"f\\ng\"}\n")
        }
    }
}
