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
    @Test
    func `Several processes migrate at once`() throws {
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

    @Test
    func `A store is migrated to another version`() throws {
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

    private static let name = "<attribute name=\"name\" attributeType=\"String\"/>"
    private static let library = "<entity name=\"Book\">\(name)</entity><entity name=\"Shelf\">\(name)</entity>"

    private func library(_ store: String, _ model: String) throws {
        let input = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(input) }
        for (entity, lines) in [("Book", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n"), ("Shelf", "{\"name\":\"s\"}\n")] {
            try Data(lines.utf8).write(to: URL(fileURLWithPath: input))
            let imported = try ToolProcess.run("import", store, "--model", model, "--entity", entity, "--key", "name", "--format", "jsonl", input)
            #expect(imported.status == 0, "\(imported.error)")
        }
    }

    @Test
    func `A dry run and the log count the objects that a migration removes`() throws {
        let old = try ModelCommandTests.write(Self.library), new = try ModelCommandTests.write("<entity name=\"Book\">\(Self.name)</entity>")
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(old, new, store) }
        try library(store, old)
        let dry = try ToolProcess.run("migrate", store, "--to", new, "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("Would be removed, since no entity takes them over: 1 object: 1 of Shelf"), "\(dry.output)")
        let done = try ToolProcess.run("migrate", store, "--to", new)
        #expect(done.status == 0 && done.error.contains("removed 1 object: 1 of Shelf"), "\(done.output)\(done.error)")
        #expect(try ToolProcess.run("migrate", store, "--to", old).error == "")
    }

    @Test
    func `An unrelated model is refused, and accepted on request`() throws {
        let old = try ModelCommandTests.write(Self.library), new = try ModelCommandTests.write("<entity name=\"Account\">\(Self.name)</entity>")
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(old, new, store) }
        try library(store, old)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        for arguments in [["--dry-run"], []] {
            let refused = try ToolProcess.runWords(["migrate", store, "--to", new] + arguments)
            let text = refused.output + refused.error
            #expect(refused.status == 1 && text.contains("Book, Shelf") && text.contains("Account") && text.contains("--allow-unrelated"), "\(text)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        }
        let dry = try ToolProcess.run("migrate", store, "--to", new, "--dry-run", "--allow-unrelated")
        #expect(dry.status == 0 && dry.output.contains("3 objects: 2 of Book, 1 of Shelf"), "\(dry.output)")
        let done = try ToolProcess.run("migrate", store, "--to", new, "--allow-unrelated")
        #expect(done.status == 0 && done.error.contains("removed 3 objects"), "\(done.output)\(done.error)")
    }

    @Test
    func `A conversion to an unrelated model is refused, and accepted on request`() throws {
        let source = ToolProcess.root.appendingPathComponent("Tests/CoreDataStores/Goldens/dangling.sqlite").path
        let model = try ModelCommandTests.write("<entity name=\"Account\">\(Self.name)</entity>"), new = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(model, new) }
        for place in [["--dry-run"], ["-o", new]] {
            let refused = try ToolProcess.runWords(["convert", source, "--model", model] + place)
            #expect(refused.status == 1 && refused.error.contains("no entity in common") && refused.error.contains("Account"), "\(refused.error)")
            #expect(!FileManager.default.fileExists(atPath: new))
            let done = try ToolProcess.runWords(["convert", source, "--model", model, "--allow-unrelated"] + place)
            #expect(done.status == 0 && done.output.contains("left out, since the given model has no entity for them"), "\(done.output)\(done.error)")
        }
    }

    private static func indexed(_ index: String, on attribute: String) -> String {
        let element = "<fetchIndexElement property=\"\(attribute)\" type=\"Binary\" order=\"ascending\"/>"
        return """
            <entity name="Book"><attribute name="name" attributeType="String"/><attribute name="pages" optional="YES" attributeType="Integer 32"/>
            \(index.isEmpty ? "" : "<fetchIndex name=\"\(index)\">\(element)</fetchIndex>")
            </entity>
            """
    }

    /// A store of a version is not migrated to the same version; its indexes were not looked at either.
    @Test
    func `An index that a model of the same version has is built, and said to be built`() throws {
        let old = try ModelCommandTests.write(Self.indexed("", on: "")), new = try ModelCommandTests.write(Self.indexed("byPages", on: "pages"))
        let named = try ModelCommandTests.write(Self.indexed("byLength", on: "pages"))
        let store = ToolProcess.temporaryPath(), input = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(old, new, named, store, input) }
        try Data("{\"name\":\"a\",\"pages\":7}\n{\"name\":\"b\"}\n".utf8).write(to: URL(fileURLWithPath: input))
        #expect(try ToolProcess.run("import", store, "--model", old, "--entity", "Book", "--key", "name", "--format", "jsonl", input).status == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let dry = try ToolProcess.run("migrate", store, "--to", new, "--dry-run")
        #expect(dry.status == 0, "\(dry.error)")
        #expect(dry.output == "The store has this version already.\nWould be built: the index Book.byPages\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        func migrate(_ model: String) throws -> String { try ToolProcess.run("migrate", store, "--to", model).output }
        #expect(try migrate(new) == "The store has this version already.\nBuilt: the index Book.byPages\n")
        #expect(try ToolProcess.run("inspect", store).output.contains("index:byPages"))
        #expect(try migrate(new) == "The store has this version already.\n")
        #expect(try migrate(named) == "The store has this version already.\nRenamed: the index Book.byPages to Book.byLength\n")
        #expect(try migrate(old) == "The store has this version already.\nDropped: the index Book.byLength\n")
        #expect(try ToolProcess.run("verify", store).status == 0)
    }

    @Test
    func `A migration to another version builds the indexes of that version before it ends`() throws {
        let old = try ModelCommandTests.write(Self.library), new = try ModelCommandTests.write(Self.indexed("byPages", on: "pages"))
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(old, new, store) }
        try library(store, old)
        let done = try ToolProcess.run("migrate", store, "--to", new)
        #expect(done.status == 0, "\(done.output)\(done.error)")
        #expect(try ToolProcess.run("inspect", store).output.contains("index:byPages"))
        #expect(try ToolProcess.run("migrate", store, "--to", new).output == "The store has this version already.\n")
    }
}
