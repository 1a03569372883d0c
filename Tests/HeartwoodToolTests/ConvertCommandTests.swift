import Foundation
import Testing

@Suite struct ConvertCommandTests {
    private static let goldens = ToolProcess.root.appendingPathComponent("Tests/CoreDataStores/Goldens")
    private static func store(_ name: String) -> String { goldens.appendingPathComponent("\(name).sqlite").path }

    @Test
    func `A store is converted, with a summary that a dry run gives too`() throws {
        let new = ToolProcess.temporaryPath(), source = Self.store("dangling")
        defer { ToolProcess.cleanUp(new) }
        let dry = try ToolProcess.run("convert", source, "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("nothing was written"), "\(dry.output)\(dry.error)")
        #expect(!FileManager.default.fileExists(atPath: new))
        let done = try ToolProcess.run("convert", source, "-o", new)
        #expect(done.status == 0, "\(done.output)\(done.error)")
        let lines = done.output.split(separator: "\n"), dryLines = dry.output.split(separator: "\n")
        #expect(lines.dropLast() == dryLines.dropLast())
        for text in ["model: the store's model cache", "Person  2", "5 references lead nowhere", "Person p1, team: row 9 of ZTEAM does not exist"] {
            #expect(done.output.contains(text), "\(done.output)")
        }
        #expect(try ToolProcess.run("verify", new).status == 0)
        let names = try ToolProcess.run("export", new, "--entity", "Person", "--sort", "name")
        #expect(names.output.contains("\"name\":\"Ann\""), "\(names.output)\(names.error)")
        let again = try ToolProcess.run("convert", source, "-o", new)
        #expect(again.status == 1 && again.error.contains("already"), "\(again.error)")
    }

    @Test
    func `The history is kept on request, and said to be left out otherwise`() throws {
        let new = ToolProcess.temporaryPath(), source = Self.store("history")
        defer { ToolProcess.cleanUp(new) }
        #expect(try ToolProcess.run("convert", source, "--dry-run").output.contains("--with-history keeps them"))
        #expect(try ToolProcess.run("convert", source, "-o", new, "--with-history").status == 0)
        let shown = try ToolProcess.run("history", new)
        #expect(shown.status == 0 && shown.output.contains("import"), "\(shown.output)\(shown.error)")
    }

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func `Rows of no entity are listed and left out`() throws {
        try CoreDataStores.withFolder { folder in
            let source = folder.appendingPathComponent("App.sqlite").path
            try FileManager.default.copyItem(atPath: Self.store("dangling"), toPath: source)
            try CoreDataStores.execute("UPDATE ZPERSON SET Z_ENT = 77 WHERE ZNAME = 'Ann'", at: source)
            let dry = try ToolProcess.run("convert", source, "--dry-run")
            #expect(dry.status == 0 && dry.output.contains("1 row has no entity and is left out\n  row 1 of ZPERSON: "), "\(dry.output)")
        }
    }

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func `Keys of deleted objects that are too many to state do not hinder a conversion`() throws {
        try CoreDataStores.withFolder { folder in
            let source = folder.appendingPathComponent("App.sqlite").path, new = folder.appendingPathComponent("new").path
            try FileManager.default.copyItem(atPath: Self.store("inheritance-duplicates"), toPath: source)
            // Each entity of a table counts with the table's greatest key.
            try CoreDataStores.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 2147483648 WHERE Z_SUPER = 0", at: source)
            let done = try ToolProcess.run("convert", source, "-o", new)
            #expect(done.status == 0, "\(done.error)")
            #expect(try ToolProcess.run("verify", new).status == 0)
        }
    }

    @Test(.enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func `Values that are to be unique are listed in one line`() throws {
        try CoreDataStores.withMade { folder in
            let source = folder.appendingPathComponent("constraints-indexes.sqlite").path
            let unique = "SELECT name FROM sqlite_master WHERE name LIKE 'Z%UNIQUE%'"
            try CoreDataStores.execute(
                "PRAGMA writable_schema = 1; DELETE FROM sqlite_master WHERE name IN (\(unique)); PRAGMA writable_schema = RESET", at: source)
            try CoreDataStores.execute("UPDATE ZPLACE SET ZCODE = 'same'", at: source)
            let refused = try ToolProcess.run("convert", source, "-o", folder.appendingPathComponent("new").path)
            #expect(refused.status == 1 && refused.error.contains("lacks the constraint: "), "\(refused.error)")
            #expect(!refused.error.contains("␊"), "\(refused.error)")
        }
    }

    @Test
    func `A model guessed from the tables is said to be so`() throws {
        let dry = try ToolProcess.run("convert", Self.store("old-without-cache"), "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("model: the store's tables\n  "), "\(dry.output)\(dry.error)")
    }

    // MARK: Many rows

    private static let rows = 200_000
    private static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/python3" }
        .first(where: FileManager.default.isExecutableFile(atPath:))

    /// A store with many persons, beside no log.
    private static func makeLarge() throws -> String {
        let path = ToolProcess.temporaryPath("sqlite")
        try FileManager.default.copyItem(atPath: store("dangling"), toPath: path)
        let program = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            number = c.execute("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'").fetchone()[0]
            c.executemany("INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZTEAM, ZNAME) VALUES (?, ?, 1, 1, ?)",
                ((n + 9, number, "person %d" % n) for n in range(\(rows))))
            c.commit()
            """
        let made = try ToolProcess.run("-c", program, path, executable: URL(fileURLWithPath: try #require(python)))
        #expect(made.status == 0, "\(made.error)")
        return path
    }

    #if os(Linux)
        /// In KiB; 0 once the process has ended.
        private static func privateMemory(of process: Process) -> Int {
            let text = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
        }

        // A sanitizer has memory of its own.
        #if !THREAD_SANITIZER && !ADDRESS_SANITIZER
            @Test(.enabled(if: python != nil, "needs python3"))
            func `The memory of a conversion is bounded`() throws {
                let source = try Self.makeLarge(), new = ToolProcess.temporaryPath()
                defer { ToolProcess.cleanUp(source, new) }
                let (process, output, error) = try ToolProcess.start(["convert", source, "-o", new])
                defer { ToolProcess.cleanUp(output.path, error.path) }
                var peak = 0
                while process.isRunning {
                    peak = max(peak, Self.privateMemory(of: process))
                    // The system tells the memory, but not its changes.
                    usleep(2000)
                }
                #expect(process.terminationStatus == 0)
                #expect(peak > 0 && peak < 64 << 10, "\(peak) KiB")
            }
        #endif
    #endif

    @Test(.enabled(if: python != nil, "needs python3"))
    func `A conversion that is killed leaves no file under the new name, or a whole one, and the next one succeeds`() throws {
        let source = try Self.makeLarge(), new = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(source, new) }
        for milliseconds in [30, 150, 400, 800, 1500] {
            let (process, output, error) = try ToolProcess.start(["convert", source, "-o", new])
            // The kill comes at this moment of the work.
            usleep(UInt32(milliseconds) * 1000)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            ToolProcess.cleanUp(output.path, error.path)
            guard FileManager.default.fileExists(atPath: new) else { continue }
            #expect(try ToolProcess.run("verify", new).status == 0)
            ToolProcess.cleanUp(new)
        }
        let done = try ToolProcess.run("convert", source, "-o", new)
        #expect(done.status == 0, "\(done.error)")
        #expect(!FileManager.default.fileExists(atPath: new + ".migrating"))
        #expect(try ToolProcess.run("query", new, "Person", "--count").output.contains("\(Self.rows + 2)"))
    }

    @Test(.enabled(if: python != nil, "needs python3"))
    func `A conversion without room leaves no file`() throws {
        let source = try Self.makeLarge(), new = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(source, new) }
        // 512-byte blocks; SIGXFSZ is ignored, so that a write past the limit is an error.
        let script = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" convert \"$1\" -o \"$2\""
        let result = try ToolProcess.run(
            "-c", script, ToolProcess.executable.path, source, new, executable: URL(fileURLWithPath: "/bin/sh"))
        #expect(result.status == 1 && !result.error.isEmpty, "\(result.status) \(result.error)")
        #expect(!FileManager.default.fileExists(atPath: new) && !FileManager.default.fileExists(atPath: new + ".migrating"))
    }

    @Test
    func `A missing file, another program's database and wrong usage give the exit code 2`() throws {
        let new = ToolProcess.temporaryPath(), text = ToolProcess.temporaryPath("txt")
        defer { ToolProcess.cleanUp(new, text) }
        try Data(String(repeating: "no database ", count: 100).utf8).write(to: URL(fileURLWithPath: text))
        for arguments in [["convert", "/nowhere/App.sqlite", "-o", new], ["convert", text, "-o", new], ["convert", Self.store("dangling")]] {
            let result = try ToolProcess.start(arguments)
            result.process.waitUntilExit()
            #expect(result.process.terminationStatus == 2, "\(arguments)")
            ToolProcess.cleanUp(result.output.path, result.error.path)
        }
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    /// A compaction writes the catalog twice. A converted file had it once, so its first compaction made it larger, by 14 in 100 with many tables;
    /// each further one raised the catalog's version, which made its record longer.
    private static func checkCompaction(_ source: String, _ model: String? = nil) throws {
        let new = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(new) }
        let done = try ToolProcess.runWords(["convert", source, "-o", new] + (model.map { ["--model", $0] } ?? []))
        try #require(done.status == 0 || done.status == 3, "\(source): \(done.error)")
        func size() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: new)).count }
        var sizes = [try size()]
        for _ in 0..<3 {
            #expect(try ToolProcess.run("compact", new).status == 0)
            sizes.append(try size())
        }
        #expect(sizes[1] <= sizes[0] && sizes[2] == sizes[1] && sizes[3] == sizes[1], "\(source): \(sizes)")
    }

    @Test(arguments: try CoreDataStores.goldens())
    func `No compaction makes a converted store larger`(name: String) throws {
        try Self.checkCompaction(Self.store(name))
    }

    @Test(.enabled(if: CoreDataStores.hasShared, CoreDataStores.sharedAbsence))
    func `No compaction makes a converted real store larger`() throws {
        for store in try CoreDataStores.sharedStores() { try Self.checkCompaction(store) }
    }
}
