import Foundation
import HeartwoodTestSupport
import Testing

/// `heartwood export --format sqlite`.
@Suite struct DatabaseExportTests {
    private static func withStore(_ body: (_ store: String, _ file: String) throws -> Void) throws {
        let store = ToolProcess.temporaryPath(), file = ToolProcess.temporaryPath("sqlite")
        defer { ToolProcess.cleanUp(store, file) }
        let made = try ToolProcess.run("import", store, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", ToolProcess.excerpt)
        try #require(made.status == 0, "\(made.error)")
        try body(store, file)
    }

    @Test(arguments: [[], ["--plain"]])
    func `The whole store is written, and the command says what is in the file`(flags: [String]) throws {
        try Self.withStore { store, file in
            let result = try ToolProcess.runWords(["export", store, "--format", "sqlite", "-o", file] + flags)
            #expect(result.status == 0 && result.error == "", "\(result.error)")
            #expect(result.output.contains("objects are in \(file)"))
            #expect(result.output.contains("NSIgnorePersistentStoreVersioningOption") == flags.isEmpty)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).starts(with: Data("SQLite format 3\0".utf8)))
            let again = try ToolProcess.runWords(["export", store, "--format", "sqlite", "-o", file] + flags)
            #expect(again.status == 1 && again.error.contains(file))
        }
    }

    @Test(arguments: CoreDataStores.goldensWithCache)
    func `A store of Core Data's is written anew with the same objects, and as plain tables`(name: String) throws {
        try CoreDataStores.withFolder { folder in
            let source = CoreDataStores.golden(name), file = folder.appendingPathComponent("new.sqlite").path
            let plain = folder.appendingPathComponent("plain.sqlite").path
            let made = try ToolProcess.run("export", source, "--format", "sqlite", "-o", file)
            #expect(made.status == 0 && made.error.isEmpty && made.output.contains("objects are in \(file)"), "\(made.output)\(made.error)")
            #expect(!made.output.contains("NSIgnorePersistentStoreVersioningOption"), "it knows its version: \(made.output)")
            #expect(try ToolProcess.run("export", source, "--format", "sqlite", "--plain", "-o", plain).status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["new.sqlite", "plain.sqlite"])
            let models = try [source, file].map { try ToolProcess.run("model", $0, "--format", "json").output }
            #expect(models[0] == models[1])
            let objects = try [source, file].map { try ToolProcess.run("export", $0, "--all").output }
            // Core Data would have a reference that leads nowhere; a new store does not.
            if name != "dangling" { #expect(objects[0] == objects[1]) } else { #expect(made.output.contains("5 references lead nowhere")) }
        }
    }

    @Test
    func `A store of Core Data's without a model is written by the model that is given, and nothing is left of a failure`() throws {
        try CoreDataStores.withFolder { folder in
            let source = CoreDataStores.golden("old-without-cache"), file = folder.appendingPathComponent("new.sqlite").path
            let guessed = try ToolProcess.run("export", source, "--format", "sqlite", "-o", file)
            #expect(guessed.status == 0 && guessed.error.contains("guessed"), "\(guessed.error)")
            #expect(guessed.output.contains("NSIgnorePersistentStoreVersioningOption"), "\(guessed.output)")
            let wrong = try ToolProcess.run(
                "export", source, "--format", "sqlite", "-o", file + "2", "--model", CoreDataStores.golden("composites"))
            #expect(wrong.status != 0 && !wrong.error.isEmpty, "\(wrong.error)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["new.sqlite"])
        }
    }

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython), arguments: ["many-to-many-other-name", "many-to-many-itself"])
    func `Join tables keep the names that they have in the store that --model names`(name: String) throws {
        try CoreDataStores.withMade { folder in
            let source = folder.appendingPathComponent("\(name).sqlite").path, file = folder.appendingPathComponent("new.sqlite").path
            let made = try ToolProcess.run("export", source, "--format", "sqlite", "-o", file)
            #expect(made.status == 0, "\(made.error)")
            let names = try [source, file].map(Self.joinTables)
            #expect(!names[0].isEmpty && names[0] == names[1], "\(names)")
        }
    }

    /// The words of a report that begin as join tables do.
    private static func joinTables(_ path: String) throws -> [String] {
        let report = try ToolProcess.run("inspect", path, "--json").output
        let words = report.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
        return Set(words.filter { $0.hasPrefix("Z_") && !$0.hasSuffix("_INDEX") }).sorted()
    }

    @Test
    func `Wrong options are said to be wrong`() throws {
        try Self.withStore { store, file in
            for words in [
                ["--format", "sqlite"], ["--format", "sqlite", "-o", file, "--entity", "Package"],
                ["--format", "sqlite", "-o", file, "--plain", "--model", store],
                ["--all", "--plain"], ["--format", "sqlite", "-o", file, "--model", file],
            ] {
                let result = try ToolProcess.runWords(["export", store] + words)
                #expect(result.status == 2 && !result.error.isEmpty, "\(words) \(result.output)")
                #expect(!FileManager.default.fileExists(atPath: file))
            }
        }
    }

    /// The statements of the partial indexes of a database.
    private static func partialIndexes(_ path: String) throws -> Set<String> {
        let program = "import sqlite3, sys; c = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro&immutable=1', uri=True)\n"
            + "for row in c.execute(\"SELECT sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'\"): print(row[0])"
        return Set(try Python.run(["-c", program, path]).split(separator: "\n").map(String.init))
    }

    @Test(
        .enabled(if: CoreDataStores.hasShared && CoreDataStores.canBeMade, CoreDataStores.sharedAbsence),
        arguments: ["photos-vuindex-15.4/VUIndex", "photos-13.5.1/Photos"])
    func `Partial indexes of real stores are exported with the statements that Core Data wrote`(name: String) throws {
        try CoreDataStores.withFolder { folder in
            let source = CoreDataStores.shared.appendingPathComponent("\(name).sqlite").path, file = folder.appendingPathComponent("new.sqlite").path
            let made = try ToolProcess.run("export", source, "--format", "sqlite", "-o", file)
            #expect(made.status == 0, "\(made.error)")
            // An element that is the object itself is an expression, and such indexes are not written.
            let wanted = try Self.partialIndexes(source).filter { !$0.contains("Z_PK") }, found = try Self.partialIndexes(file)
            #expect(!wanted.isEmpty && found == wanted, "\(wanted.symmetricDifference(found))")
            #expect(try ToolProcess.run("verify", file).status == 0)
        }
    }
}
