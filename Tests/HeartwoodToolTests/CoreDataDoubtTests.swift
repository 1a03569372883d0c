import Foundation
import Testing

/// The tool's words about parts of Core Data's stores that are not sure, lost or not to be trusted.
@Suite(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython)) struct CoreDataDoubtTests {
    private static let guessed = """
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        INSERT INTO Z_METADATA VALUES (1, '6F315F5C-6321-58BE-AD08-5ECFF5526A53', NULL);
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Dessert', 0, 2), (2, 'Recipe', 0, 2), (3, 'Step', 0, 1);
        CREATE TABLE ZDESSERT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE ZRECIPE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE ZSTEP (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRECIPE INTEGER, ZSERVED INTEGER);
        CREATE INDEX ZSTEP_ZRECIPE_INDEX ON ZSTEP (ZRECIPE);
        CREATE INDEX ZSTEP_ZSERVED_INDEX ON ZSTEP (ZSERVED);
        INSERT INTO ZDESSERT VALUES (1, 1, 1), (2, 1, 1);
        INSERT INTO ZRECIPE VALUES (1, 2, 1), (2, 2, 1);
        INSERT INTO ZSTEP VALUES (1, 3, 1, 2, 1);
        """

    @Test
    func `Guesses that are not sure have an exit code, and no later command calls the store plainly sound`() throws {
        try CoreDataStores.withFolder { folder in
            let store = folder.appendingPathComponent("S.sqlite").path, new = folder.appendingPathComponent("S.heartwood").path
            try CoreDataStores.execute(Self.guessed, at: store)
            let program = "import plistlib, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('UPDATE Z_METADATA SET Z_PLIST = ?', "
                + "[plistlib.dumps({'NSPersistenceFrameworkVersion': 519}, fmt=plistlib.FMT_BINARY)]); c.commit()"
            try CoreDataStores.run(["-c", program, store])
            let doubt = "Step.served is an integer here: its values are keys of Dessert, Recipe, Step."
            for call in [
                ["convert", store, "--dry-run"], ["convert", store, "-o", new], ["verify", store], ["verify", new],
                ["export", store, "--format", "sqlite", "-o", new + ".sqlite"],
            ] {
                let result = try ToolProcess.runWords(call)
                #expect(result.status == 3 && result.output.contains(doubt), "\(call): \(result.output)\(result.error)")
                #expect(!result.output.contains("sound:"), "\(call): \(result.output)")
            }
            for call in [["inspect", store], ["inspect", new], ["inspect", store, "--json"], ["inspect", new, "--json"]] {
                let result = try ToolProcess.runWords(call)
                #expect(result.status == 0 && result.output.contains(doubt), "\(call): \(result.output)\(result.error)")
            }
            for call in [["export", store, "--all"], ["query", store, "Step"]] {
                let result = try ToolProcess.runWords(call)
                #expect(result.status == 3 && result.error.contains("1 relationship without being sure"), "\(call): \(result.error)")
            }
            #expect(try ToolProcess.run("compact", new).status == 0)
            #expect(try ToolProcess.run("verify", new).status == 3)
            // The model that was right all along takes the doubt away.
            let model = folder.appendingPathComponent("M.xcdatamodel").path
            #expect(try ToolProcess.run("model", new, "--source", model).status == 0)
            let certain = try ToolProcess.run("convert", store, "-o", new + "2", "--model", model)
            #expect(certain.status == 0 && !certain.output.contains("not sure"), "\(certain.output)\(certain.error)")
            #expect(try ToolProcess.run("verify", new + "2").output.contains("sound:"))
        }
    }

    @Test
    func `A store that this tool exported says its model itself`() throws {
        try CoreDataStores.withFolder { folder in
            let store = folder.appendingPathComponent("S.heartwood").path, file = folder.appendingPathComponent("S.sqlite").path
            try ToolProcess.importExcerpt(to: store)
            #expect(try ToolProcess.run("export", store, "--format", "sqlite", "-o", file).status == 0)
            let back = try ToolProcess.run("convert", file, "-o", store + "2")
            #expect(back.status == 0 && back.error.isEmpty && back.output.contains("model: the model that Heartwood wrote into the store"), "\(back)")
            let models = try [store, file, store + "2"].map { try ToolProcess.run("model", $0, "--format", "json").output }
            #expect(models[0] == models[1] && models[0] == models[2])
        }
    }

    @Test
    func `A dry run has the doubts about values that a conversion has`() throws {
        try CoreDataStores.withMade { folder in
            let store = folder.appendingPathComponent("derived.sqlite").path, new = folder.appendingPathComponent("new").path
            try CoreDataStores.execute("UPDATE ZBOOK SET ZPAGECOUNT = 7 WHERE Z_PK = 1", at: store)
            let dry = try ToolProcess.run("convert", store, "--dry-run"), done = try ToolProcess.run("convert", store, "-o", new)
            #expect(done.output.contains("1 statement about the old store's values is doubtful"), "\(done.output)")
            #expect(dry.output.split(separator: "\n").dropLast() == done.output.split(separator: "\n").dropLast(), "\(dry.output)\(done.output)")
        }
    }

    @Test
    func `A conversion to another version says that it migrates, and what changes`() throws {
        try CoreDataStores.withMade { folder in
            let store = folder.appendingPathComponent("one-to-many.sqlite").path, model = folder.appendingPathComponent("M.xcdatamodel")
            #expect(try ToolProcess.run("model", store, "--source", model.path).status == 0)
            let contents = model.appendingPathComponent("contents")
            let text = try String(contentsOf: contents, encoding: .utf8), entity = try #require(text.firstRange(of: "<entity name=\"Team\""))
            let end = try #require(text[entity.upperBound...].firstIndex(of: ">")), next = text.index(after: end)
            let attribute = "<attribute name=\"extra\" optional=\"YES\" attributeType=\"String\"/>"
            try Data((text[..<next] + attribute + text[next...]).utf8).write(to: contents)
            for rest in [["--dry-run"], ["-o", folder.appendingPathComponent("new").path]] {
                let result = try ToolProcess.runWords(["convert", store, "--model", model.path] + rest)
                #expect(
                    result.status == 0 && result.output.contains("migrated: \(store) is of another version than the given model\n  changed: Team\n"),
                    "\(result.output)\(result.error)")
            }
        }
    }

    @Test
    func `An export leaves references out that lead nowhere, with a warning, so that an import takes it`() throws {
        try CoreDataStores.withFolder { folder in
            let store = CoreDataStores.golden("dangling"), lines = folder.appendingPathComponent("all.jsonl")
            let exported = try ToolProcess.run("export", store, "--all")
            #expect(exported.status == 0 && exported.error.contains("lead nowhere and are left out:"), "\(exported.error)")
            try Data(exported.output.utf8).write(to: lines)
            let new = folder.appendingPathComponent("new").path, model = folder.appendingPathComponent("M.xcdatamodel").path
            #expect(try ToolProcess.run("model", store, "--source", model).status == 0)
            let made = try ToolProcess.run("import", new, "--model", model, lines.path)
            #expect(made.status == 0, "\(made.output)\(made.error)")
        }
    }

    @Test(arguments: ["file", "folder"])
    func `A link in the folder of values is not followed`(kind: String) throws {
        try CoreDataStores.withMade { folder in
            let store = folder.appendingPathComponent("external.sqlite").path, secret = folder.appendingPathComponent("secret")
            let values = folder.appendingPathComponent(".external_SUPPORT/_EXTERNAL_DATA"), files = FileManager.default
            let names = try files.contentsOfDirectory(atPath: values.path)
            if kind == "file" {
                try Data("the secret".utf8).write(to: secret)
                for name in names {
                    try files.removeItem(at: values.appendingPathComponent(name))
                    try files.createSymbolicLink(at: values.appendingPathComponent(name), withDestinationURL: secret)
                }
            } else {
                let outside = URL(fileURLWithPath: ToolProcess.temporaryPath("outside"))
                try files.moveItem(at: values, to: outside)
                try files.createSymbolicLink(at: values, withDestinationURL: outside)
            }
            let secretText = Data("the secret".utf8).base64EncodedString()
            for call in [
                ["query", store, "Photo"], ["export", store, "--all"], ["convert", store, "-o", folder.appendingPathComponent("new").path],
                ["convert", store, "--dry-run"], ["export", store, "--format", "sqlite", "-o", folder.appendingPathComponent("new.sqlite").path],
            ] {
                let result = try ToolProcess.runWords(call)
                #expect(result.status == 1 && result.error.contains("symbolic link"), "\(call): \(result.output)\(result.error)")
                #expect(!result.output.contains(secretText) && !result.output.contains("the secret"), "\(call)")
            }
            let found = try ToolProcess.run("verify", store)
            #expect(found.status == 1 && found.output.contains("symbolic link"), "\(found.output)")
        }
    }

    @Test
    func `Members are read by the table where their index has lost entries`() throws {
        try CoreDataStores.withMade { folder in
            let store = folder.appendingPathComponent("one-to-many.sqlite").path
            let before = try ToolProcess.run("export", store, "--all").output
            // An index page without cells.
            let program = """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1])
                size = c.execute('PRAGMA page_size').fetchone()[0]
                page, = c.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ZPERSON_ZTEAM_INDEX'").fetchone()
                c.close()
                with open(sys.argv[1], 'r+b') as f:
                    f.seek((page - 1) * size + 3)
                    f.write(b'\\0\\0')
                """
            try CoreDataStores.run(["-c", program, store])
            #expect(before.contains("\"people\":["))
            #expect(try ToolProcess.run("export", store, "--all").output == before)
            let query = try ToolProcess.run("query", store, "Team", "--where", "people.@count == 2", "--select", "name", "--format", "csv")
            #expect(query.output.contains("two"), "\(query.output)\(query.error)")
            let person = try ToolProcess.run("query", store, "Person", "--where", "team.name == 'two'", "--count")
            #expect(person.output == "2\n", "\(person.output)\(person.error)")
        }
    }

    @Test
    func `A count of a damaged store fails where the list of its rows fails`() throws {
        try CoreDataStores.withMade { folder in
            let log = folder.appendingPathComponent("S.heartwood"), database = folder.appendingPathComponent("attributes-long.sqlite")
            try ToolProcess.importExcerpt(to: log.path)
            let entity = try #require(try ToolProcess.run("export", database.path, "--all").output.firstMatch(of: /"@entity":"(\w+)"/)?.1)
            for (file, entity) in [(log, "Package"), (database, String(entity))] {
                let bytes = try Data(contentsOf: file)
                var failures = 0
                for part in 1..<24 {
                    var damaged = bytes
                    for offset in 0..<16 { damaged[bytes.count * part / 24 + offset] ^= 0xFF }
                    try damaged.write(to: file)
                    let list = try ToolProcess.run("query", file.path, entity), count = try ToolProcess.run("query", file.path, entity, "--count")
                    #expect(list.status == count.status, "\(file.lastPathComponent), part \(part): \(list.error) \(count.output)\(count.error)")
                    if list.status != 0 { failures += 1 }
                }
                #expect(failures > 0, "\(file.lastPathComponent)")
            }
        }
    }

    @Test
    func `A file without the log that its header speaks of says so`() throws {
        try CoreDataStores.withFolder { folder in
            let store = folder.appendingPathComponent("S.sqlite").path
            try CoreDataStores.execute(Self.guessed, at: store)
            #expect(try !ToolProcess.run("inspect", store).output.contains("S.sqlite-wal"))
            try CoreDataStores.execute("PRAGMA journal_mode = WAL; DELETE FROM ZSTEP; UPDATE Z_PRIMARYKEY SET Z_MAX = 0", at: store)
            let shown = try ToolProcess.run("inspect", store)
            #expect(shown.status == 0 && shown.output.contains("S.sqlite-wal, which must be copied"), "\(shown.output)")
            let dry = try ToolProcess.run("query", store, "Step")
            #expect(dry.error.contains("copy S.sqlite-wal together with it"), "\(dry.error)")
        }
    }
}
