import Foundation
import RecordLog
import Synchronization
import Testing

@Suite struct MigrateCommandTests {
    private static func model(_ attributes: String) -> String {
        "<entity name=\"Book\">\(attributes)</entity>"
    }

    private static let old = model(
        "<attribute name=\"title\" attributeType=\"String\"/><attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"/>")
    private static let new = model("""
        <attribute name="name" attributeType="String" elementID="title"/><attribute name="pages" attributeType="Integer 32" defaultValueString="1"/>
        """)
    private static let odd = model("<attribute name=\"title\" attributeType=\"Integer 16\"/>")

    /// One process migrates. The others find the migration done, or, if they look before that, the store in use.
    @Test("Several processes migrate at once") func severalProcessesMigrateAtOnce() throws {
        let old = try ModelCommandTests.write(Self.old), new = try ModelCommandTests.write(Self.new)
        let store = ToolProcess.temporaryPath(), input = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(old, new, store, input) }
        let lines = (0..<500).map { "{\"title\":\"\($0)\",\"pages\":\($0)}\n" }.joined()
        try Data(lines.utf8).write(to: URL(fileURLWithPath: input))
        #expect(try ToolProcess.run("import", store, "--model", old, "--entity", "Book", "--key", "title", "--format", "jsonl", input).status == 0)
        let results = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let result = try? ToolProcess.run("migrate", store, "--to", new)
            results.withLock { $0.append(result.map { "\($0.status) \($0.output)\($0.error)" } ?? "not run") }
        }
        for text in results.withLock({ $0 }) { #expect(text.hasPrefix("0 "), "\(text)") }
        let count = try ToolProcess.run("query", store, "Book", "--where", "name != nil", "--select", "count:(name) AS n", "--format", "csv")
        #expect(count.output.contains("500"), "\(count.output)\(count.error)")
        #expect(try ToolProcess.run("verify", store).status == 0)
    }

    @Test("A store is migrated to another version") func aStoreIsBroughtToAnotherVersion() throws {
        let old = try ModelCommandTests.write(Self.old), new = try ModelCommandTests.write(Self.new), odd = try ModelCommandTests.write(Self.odd)
        let store = ToolProcess.temporaryPath(), input = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(old, new, odd, store, input) }
        try Data("{\"title\":\"Emma\",\"pages\":300}\n{\"title\":\"Pip\"}\n".utf8).write(to: URL(fileURLWithPath: input))
        let imported = try ToolProcess.run("import", store, "--model", old, "--entity", "Book", "--key", "title", "--format", "jsonl", input)
        #expect(imported.status == 0, "\(imported.error)")
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let dry = try ToolProcess.run("migrate", store, "--to", new, "--dry-run")
        #expect(
            dry.status == 0 && dry.output.contains("Book.name   renamed, was title") && dry.output.contains("A migration can be inferred."),
            "\(dry.output)")
        let impossible = try ToolProcess.run("migrate", store, "--to", odd, "--dry-run")
        #expect(impossible.status == 1 && impossible.output.contains("No migration can be inferred"))
        let refused = try ToolProcess.run("migrate", store, "--to", odd)
        #expect(refused.status != 0 && refused.error.contains("types are incompatible"), "\(refused.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        let done = try ToolProcess.run("migrate", store, "--to", new)
        #expect(done.status == 0 && done.output.contains("2 objects"), "\(done.output)\(done.error)")
        let exported = try ToolProcess.run("export", store, "--entity", "Book", "--sort", "name")
        #expect(exported.output == "{\"name\":\"Emma\",\"pages\":300}\n{\"name\":\"Pip\",\"pages\":1}\n", "\(exported.output)")
        #expect(try ToolProcess.run("verify", store).status == 0)
        #expect(try ToolProcess.run("migrate", store, "--to", new).output.contains("already"))
        #expect(try ToolProcess.run("migrate", store).status == 2)
        #expect(try ToolProcess.run("migrate", store, "--to", new, "--mapping", "/nowhere.xcmappingmodel").status == 2)
    }
}
