import Foundation
import Testing

/// The commands on a store with external data.
@Suite struct LargeValueCommandTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func makeModel() throws -> String {
        let path = ToolProcess.temporaryPath("xcdatamodel")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try """
            <?xml version="1.0"?>
            <model><entity name="File"><attribute name="name" attributeType="String"/>
            <attribute name="content" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
            </entity></model>
            """.write(toFile: path + "/contents", atomically: true, encoding: .utf8)
        return path
    }

    @Test
    func `Large values go in and come out`() throws {
        let store = ToolProcess.temporaryPath(), new = ToolProcess.temporaryPath(), model = try makeModel()
        defer { ToolProcess.cleanUp(store, new, model) }
        let contents = [("a", 10), ("b", 9000), ("c", 1_500_000)].map { name, count in
            (name, Data(repeating: UInt8(name.utf8.first ?? 0), count: count))
        }
        let lines = contents.map { #"{"content":"\#($0.1.base64EncodedString())","name":"\#($0.0)"}"# }.joined(separator: "\n") + "\n"
        func importing(key: String) throws -> ToolProcess.Result {
            try ToolProcess.run("import", store, "--model", model, "--entity", "File", "--key", key, "-", input: lines)
        }
        let refused = try importing(key: "content")
        #expect(refused.status == 2 && refused.error.contains("cannot be the key"), "\(refused.error)")
        let imported = try importing(key: "name")
        #expect(imported.status == 0, "\(imported.error)")
        #expect(try ToolProcess.run("export", store, "--entity", "File", "--sort", "name").output == lines)
        #expect(try ToolProcess.run("verify", store).output.contains("2 large values"))
        #expect(try ToolProcess.run("inspect", store).output.contains("LARGE VALUES OF"))
        let tables = try json(try ToolProcess.run("inspect", store, "--json").output)["tables"] as? [[String: Any]]
        #expect(tables?.first?["values"] as? Int == 2 && tables?.first?["valueBytes"] as? Int == 1_509_000)

        // One byte of the longest value is damaged: the other two come out, and the loss is reported.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let range = try #require(bytes.range(of: Data(repeating: UInt8(ascii: "c"), count: 1000)))
        bytes[range.lowerBound + 500_000] = 0
        try bytes.write(to: URL(fileURLWithPath: store))
        // A count reads the rows, and not their values.
        #expect(try ToolProcess.run("query", store, "File", "--count").output == "3\n")
        #expect(try ToolProcess.run("query", store, "File").status == 1)
        let salvage = try ToolProcess.run("salvage", store, "-o", new, "--json")
        let lost = try #require(try json(salvage.output)["lostValues"] as? [[String: Any]])
        #expect(salvage.status == 1 && lost.count == 1 && lost[0]["column"] as? String == "content" && lost[0]["bytes"] as? Int == 1_500_000)
        let left = lines.split(separator: "\n").prefix(2).joined(separator: "\n") + "\n{\"name\":\"c\"}\n"
        #expect(try ToolProcess.run("export", new, "--entity", "File", "--sort", "name").output == left)
        ToolProcess.cleanUp(new)
        #expect(try ToolProcess.run("salvage", store, "-o", new).output.contains("1 large value lacks a part"))
    }
}
