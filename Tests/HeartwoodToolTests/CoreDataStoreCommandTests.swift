import Foundation
import Testing

/// The commands on stores of Core Data's, as a user runs them.
@Suite struct CoreDataStoreCommandTests {
    private static func isOneLine(_ text: String) -> Bool { text.hasSuffix("\n") && text.dropLast().contains("\n") == false }

    // MARK: Models

    @Test
    func `A store's model is shown in every form, under any name of the file`() throws {
        let store = CoreDataStores.golden("inheritance-duplicates")
        let table = try ToolProcess.run("model", store)
        #expect(table.status == 0 && table.error.isEmpty, "\(table.error)")
        #expect(table.output.hasPrefix("inheritance-duplicates: 6 entities, "), "\(table.output)")
        #expect(table.output.contains("\nFilm (inherits from Item") && table.output.contains("\n  title  Binary"), "\(table.output)")
        let json = try ToolProcess.run("model", store, "--format", "json")
        let document = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((document["entities"] as? [Any])?.count == 6)
        #expect(try ToolProcess.run("model", store, "--format", "mermaid").output.hasPrefix("classDiagram"))
        #expect(try ToolProcess.run("model", store, "--format", "svg").output.hasPrefix("<svg"))
        try CoreDataStores.withFolder { folder in
            let other = folder.appendingPathComponent("Data.bin").path
            try FileManager.default.copyItem(atPath: store, toPath: other)
            let drawn = folder.appendingPathComponent("model.svg").path
            #expect(try ToolProcess.run("model", other, "--svg", drawn).status == 0)
            #expect(FileManager.default.fileExists(atPath: drawn))
        }
        let same = try ToolProcess.run("model", "diff", store, store)
        #expect(same.status == 0, "\(same.output)\(same.error)")
    }

    @Test
    func `A store's model becomes Xcode's source, of which classes are written and with which the store is converted`() throws {
        let store = CoreDataStores.golden("swiftdata")
        try CoreDataStores.withFolder { folder in
            let source = folder.appendingPathComponent("Carts.xcdatamodeld").path, new = folder.appendingPathComponent("Carts.heartwood").path
            let written = try ToolProcess.run("model", store, "--source", source)
            #expect(written.status == 0 && written.output.isEmpty && written.error.isEmpty, "\(written.output)\(written.error)")
            let classes = folder.appendingPathComponent("Classes").path
            #expect(try ToolProcess.run("generate", source, "-o", classes).status == 0)
            #expect(FileManager.default.fileExists(atPath: classes + "/CartModel+CoreDataProperties.swift"))
            #expect(try ToolProcess.run("model", "diff", store, source).status == 0)
            #expect(try ToolProcess.run("convert", store, "-o", new, "--model", source).status == 0)
            #expect(try ToolProcess.run("query", new, "CartModel", "--count").output == "2\n")
            let again = try ToolProcess.run("model", store, "--source", source)
            #expect(again.status == 2 && again.error.contains("already"), "\(again.error)")
            #expect(try ToolProcess.run("model", store, "--source", folder.appendingPathComponent("Carts.txt").path).status == 2)
        }
    }

    @Test
    func `A model that is guessed is said to be guessed, on standard error`() throws {
        let store = CoreDataStores.golden("old-without-cache")
        let shown = try ToolProcess.run("model", store, "--format", "json")
        #expect(shown.status == 0 && shown.error.contains("warning: the model is guessed from the tables"), "\(shown.error)")
        #expect(shown.error.contains("The spelling of all names"), "\(shown.error)")
        #expect((try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])?["entities"] != nil)
        let counted = try ToolProcess.run("query", store, "Person", "--count")
        #expect(counted.status == 0 && counted.output == "2\n", "\(counted.error)")
        #expect(Self.isOneLine(counted.error) && counted.error.contains("--model names the store's model"), "\(counted.error)")
    }

    @Test
    func `A model file is used for a store without a cache, and one of another store is refused`() throws {
        let store = CoreDataStores.golden("old-without-cache")
        let source = try ModelCommandTests.write("""
            <entity name="Person"><attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="photo" optional="YES" attributeType="Binary"/>
            <relationship name="team" optional="YES" maxCount="1" destinationEntity="Team" inverseName="people" inverseEntity="Team"/></entity>
            <entity name="Boss" parentEntity="Person"><attribute name="salary" optional="YES" attributeType="Decimal"/></entity>
            <entity name="Team"><attribute name="founded" optional="YES" attributeType="Date"/>
            <relationship name="people" optional="YES" toMany="YES" destinationEntity="Person" inverseName="team" inverseEntity="Person"/></entity>
            """)
        let other = try ModelCommandTests.write("<entity name=\"Animal\"><attribute name=\"legs\" attributeType=\"Integer 16\"/></entity>")
        defer { ToolProcess.cleanUp(source, other) }
        let shown = try ToolProcess.run("model", store, "--model", source)
        #expect(shown.status == 0 && shown.error.isEmpty, "\(shown.error)")
        #expect(shown.output.contains("salary  Decimal"), "\(shown.output)")
        let rows = try ToolProcess.run(
            "query", store, "Person", "--select", "name,team.founded", "--sort", "name", "--format", "csv", "--model", source)
        #expect(rows.output == "name,team.founded\nAnn,2001-01-01T00:00:01.500Z\nBob,\n", "\(rows.output)\(rows.error)")
        let exported = try ToolProcess.run("export", store, "--entity", "Boss", "--model", source)
        #expect(exported.output == "{\"name\":\"Bob\",\"salary\":\"10.5\"}\n", "\(exported.output)\(exported.error)")
        let refused = try ToolProcess.run("query", store, "Person", "--model", other)
        #expect(refused.status == 1 && Self.isOneLine(refused.error) && !refused.error.contains("␊"), "\(refused.error)")
        #expect(refused.error.contains("no version of the model has the tables of the store"), "\(refused.error)")
        let missing = try ToolProcess.run("verify", store, "--model", other + "x")
        #expect(missing.status == 2 && missing.error.contains("there is no"), "\(missing.error)")
    }

    @Test
    func `Classes are generated from a store: named by its model, or like its entities`() throws {
        try CoreDataStores.withFolder { folder in
            let out = folder.appendingPathComponent("Sources").path
            let made = try ToolProcess.run("generate", CoreDataStores.golden("swiftdata"), "-o", out)
            #expect(made.status == 0 && made.output == "4 files, 4 of them written to \(out).\n", "\(made.output)\(made.error)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: out).sorted() == [
                "CartModel+CoreDataClass.swift", "CartModel+CoreDataProperties.swift", "ItemModel+CoreDataClass.swift",
                "ItemModel+CoreDataProperties.swift",
            ])
            func text(_ name: String) throws -> String { try String(contentsOfFile: "\(out)/\(name).swift", encoding: .utf8) }
            #expect(try text("CartModel+CoreDataClass").contains("public class CartModel: NSManagedObject {}"))
            let properties = try text("CartModel+CoreDataProperties")
            #expect(properties.contains("public var id: String?") && properties.contains("public var price: [String: Any]?"), "\(properties)")
            #expect(properties.contains("items: NSSet?") || properties.contains("items: Set<ItemModel>"), "\(properties)")
            #expect(try ToolProcess.run("generate", CoreDataStores.golden("swiftdata"), "-o", out).output.contains("4 files, 0 of them"))
            let inherited = folder.appendingPathComponent("Inherited").path
            #expect(try ToolProcess.run("generate", CoreDataStores.golden("inheritance-duplicates"), "-o", inherited).status == 0)
            let film = try String(contentsOfFile: inherited + "/Film+CoreDataClass.swift", encoding: .utf8)
            #expect(film.contains("public class Film: Item {}"), "\(film)")
        }
    }

    // MARK: Objects

    @Test
    func `Every golden store is exported whole, and its objects and history are as its maker says`() throws {
        let folder = CoreDataStores.folder.appendingPathComponent("Goldens")
        for name in try CoreDataStores.goldens() {
            let lines = try CoreDataStores.lines(name, in: folder)
            let exported = try ToolProcess.run("export", CoreDataStores.golden(name), "--all")
            #expect(exported.status == 0, "\(name): \(exported.error)")
            #expect(exported.error.contains("1 value is left out, since its file is missing:") == (name == "external"), "\(exported.error)")
            let objects = exported.output.split(separator: "\n").compactMap { line in
                try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            }
            let uuid = lines[0]["uuid"] as? String ?? ""
            #expect(Set(objects.compactMap { $0["@id"] as? String }) == Set(lines.dropFirst().map { line in
                "x-coredata://\(uuid)/\(line["entity"] as? String ?? "")/p\(line["pk"] as? Int ?? 0)"
            }), "\(name)")
        }
        let rows = try ToolProcess.run("query", CoreDataStores.golden("external"), "Photo")
        #expect(rows.status == 0 && rows.error.contains("/.external_SUPPORT/_EXTERNAL_DATA/"), "\(rows.error)")
    }

    @Test
    func `A pipe is said to be no model, and nobody waits for a writer`() throws {
        try CoreDataStores.withFolder { folder in
            let pipe = folder.appendingPathComponent("App.sqlite").path
            #expect(mkfifo(pipe, 0o600) == 0)
            for call in [["model", pipe], ["inspect", pipe], ["export", pipe, "--all"], ["convert", pipe, "--dry-run"]] {
                let result = try ToolProcess.runWords(call)
                #expect(result.status == 2 && Self.isOneLine(result.error), "\(call): \(result.error)")
            }
        }
    }

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func `The table that a database lacks is named`() throws {
        try CoreDataStores.withFolder { folder in
            let store = folder.appendingPathComponent("App.sqlite").path
            try FileManager.default.copyItem(atPath: CoreDataStores.golden("composites"), toPath: store)
            try CoreDataStores.execute("DROP TABLE Z_PRIMARYKEY", at: store)
            let result = try ToolProcess.run("verify", store)
            #expect(result.status == 2 && result.error.contains("it has no table Z_PRIMARYKEY. Its tables are "), "\(result.error)")
        }
    }

    @Test
    func `The history of a store is listed, and is not deleted`() throws {
        let store = CoreDataStores.golden("history")
        let expected = try CoreDataStores.lines("history", in: CoreDataStores.folder.appendingPathComponent("Goldens"), "-history")
        let listed = try ToolProcess.run("history", store, "--json")
        #expect(listed.status == 0, "\(listed.error)")
        let numbers = try listed.output.split(separator: "\n").map { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["number"] as? Int
        }
        #expect(numbers.count == expected.count && !numbers.contains(nil))
        #expect(try ToolProcess.run("history", store, "--limit", "1").output.contains("x-coredata://D2F19860-2255-573B-A7F1-ABC41AF06200/"))
        let deleted = try ToolProcess.run("history", store, "--delete-before", "2")
        #expect(deleted.status == 2 && deleted.error.contains("only reads") && Self.isOneLine(deleted.error), "\(deleted.error)")
        let object = try ToolProcess.run("inspect", store, "--object", "x-coredata://D2F19860-2255-573B-A7F1-ABC41AF06200/Team/p1", "--json")
        #expect(object.status == 0 && object.output.contains("\"name\":\"t\""), "\(object.output)\(object.error)")
    }

    @Test
    func `A command that would change a store says in one line what to do instead, and changes nothing`() throws {
        try CoreDataStores.withFolder { folder in
            let store = folder.appendingPathComponent("App.store").path, new = folder.appendingPathComponent("new.heartwood").path
            try FileManager.default.copyItem(atPath: CoreDataStores.golden("history"), toPath: store)
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            let calls = [
                ["import", store, "--entity", "Team", ToolProcess.excerpt], ["compact", store], ["compact", store, "--to", new],
                ["migrate", store, "--to", ToolProcess.model], ["salvage", store, "-o", new], ["inspect", store, "--commit", "1"],
            ]
            for call in calls {
                let result = try ToolProcess.runWords(call)
                #expect(result.status == 2 && result.output.isEmpty && Self.isOneLine(result.error), "\(call): \(result.error)")
                #expect(result.error.contains("is an SQLite database, which Heartwood only reads"), "\(call): \(result.error)")
            }
            for name in ["import", "compact", "migrate"] {
                let error = try ToolProcess.runWords(calls.first { $0[0] == name } ?? []).error
                #expect(error.contains("`heartwood convert \(store) -o App.heartwood`"), "\(error)")
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["App.store"], "nothing is beside it")
        }
    }

    @Test
    func `A database of another program and an encrypted one are said to be so by every command`() throws {
        let foreign = ToolProcess.root.appendingPathComponent("Tests/SQLiteFileTests/Goldens/plain").path
        try CoreDataStores.withFolder { folder in
            let encrypted = folder.appendingPathComponent("App.sqlite").path, out = folder.appendingPathComponent("out").path
            var random = SystemRandomNumberGenerator()
            try Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: URL(fileURLWithPath: encrypted))
            for (path, text) in [(foreign, "is no Core Data store: it has no table Z_METADATA. Its tables are "), (encrypted, "encrypted")] {
                for call in [
                    ["model", path], ["generate", path, "-o", out], ["inspect", path], ["inspect", path, "--json"], ["verify", path],
                    ["history", path], ["query", path, "Person"], ["export", path, "--all"],
                ] {
                    let result = try ToolProcess.runWords(call)
                    #expect(result.status == 2 && result.output.isEmpty && Self.isOneLine(result.error), "\(call): \(result.error)\(result.output)")
                    #expect(result.error.contains(text), "\(call): \(result.error)")
                }
            }
        }
    }

    @Test
    func `--model is refused for a store that carries its model`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        let refused = try ToolProcess.run("query", store, "Package", "--model", ToolProcess.model)
        #expect(refused.status == 2 && refused.error.contains("carries its model"), "\(refused.error)")
        try CoreDataStores.withFolder { folder in
            let made = try ToolProcess.run("generate", store, "-o", folder.path)
            #expect(made.status == 0, "\(made.error)")
            #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package+CoreDataProperties.swift").path))
        }
    }
}
