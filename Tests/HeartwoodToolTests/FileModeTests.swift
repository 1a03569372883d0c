import Foundation
import Testing

/// The table of modes in docs/refusals.md, "Modes", for each command that makes a file.
@Suite struct FileModeTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("modes-\(UUID())")
    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private static func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// A folder's mode for files of a mode.
    private static func folderMode(_ mode: Int) -> Int { 0o700 | mode & 0o066 | (mode & 0o044) >> 2 }

    private func make(_ mode: Int) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = path("store.heartwood")
        try ToolProcess.importExcerpt(to: store)
        #expect(Self.mode(store) == 0o644 & ~Self.mask)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store)
        return store
    }

    private static var mask: Int {
        let mask = umask(0)
        _ = umask(mask)
        return Int(mask)
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    private func run(_ words: String...) throws {
        let result = try ToolProcess.runWords(words)
        #expect(result.status == 0, "\(words): \(result)")
    }

    /// Runs the tool with a file mode creation mask. This process's own holds for all its threads.
    private func run(mask: String, _ words: String...) throws {
        let words = ["-c", "umask \(mask); exec \"$0\" \"$@\"", ToolProcess.executable.path] + words
        let result = try ToolProcess.runWords(words, executable: URL(fileURLWithPath: "/bin/sh"))
        #expect(result.status == 0, "\(words): \(result)")
    }

    /// Everything below a path, with the modes.
    private static func all(_ path: String) -> [(path: String, isFolder: Bool, mode: Int?)] {
        let names = (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []).map { path + "/" + $0 }
        return ([path] + names).map { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: name, isDirectory: &isFolder)
            return (name, isFolder.boolValue, mode(name))
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: [0o600, 0o640, 0o644])
    func `A backup's files and folders, and what is restored from them, follow the store`(mode: Int) throws {
        let store = try make(mode), backups = path("backups")
        defer { cleanUp() }
        func check(_ label: String) {
            for entry in Self.all(backups) {
                #expect(entry.mode == (entry.isFolder ? Self.folderMode(mode) : mode), "\(label): \(entry)")
            }
        }
        try run("backup", store, backups)
        check("a base")
        for number in 0..<3 {
            let lines = path("more\(number).jsonl")
            try Data(#"{"name": "package-\#(number)"}"#.utf8).write(to: URL(fileURLWithPath: lines))
            try run("import", store, "--entity", "Package", "--key", "name", lines)
            try run("backup", store, backups)
        }
        #expect(Self.all(backups).contains { $0.path.hasSuffix(".head") } && Self.all(backups).count(where: { $0.path.hasSuffix(".hwlog") }) == 4)
        check("increments")
        try run("backup", "merge", backups)
        check("merged")
        try run("restore", backups, "-o", path("restored.heartwood"))
        #expect(Self.mode(path("restored.heartwood")) == mode)
        check("pins")
        let replica = try ToolProcess.start(["restore", backups, "-o", path("replica.heartwood"), "--follow", "--interval", "0.05"])
        defer { ToolProcess.cleanUp(replica.output.path, replica.error.path) }
        let end = Date().addingTimeInterval(30)
        // A command that follows prints nothing of what it has done.
        while !FileManager.default.fileExists(atPath: path("replica.heartwood")), Date() < end { Thread.sleep(forTimeInterval: 0.02) }
        replica.process.terminate()
        replica.process.waitUntilExit()
        #expect(Self.mode(path("replica.heartwood")) == mode)
        // A file that replaces another keeps the mode of that one.
        try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: path("restored.heartwood"))
        try run("restore", backups, "-o", path("restored.heartwood"), "--replace")
        #expect(Self.mode(path("restored.heartwood")) == 0o660)
    }

    @Test
    func `A folder that is there keeps its mode, and gets files that follow the store`() throws {
        let store = try make(0o600), backups = path("backups")
        defer { cleanUp() }
        try FileManager.default.createDirectory(atPath: backups, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try run("backup", store, backups)
        #expect(Self.mode(backups) == 0o755)
        for entry in Self.all(backups).dropFirst() { #expect(entry.mode == (entry.isFolder ? 0o700 : 0o600), "\(entry)") }
    }

    @Test(arguments: [0o600, 0o640])
    func `Copies, salvages, conversions and exports follow their source`(mode: Int) throws {
        let store = try make(mode)
        defer { cleanUp() }
        try run("compact", store)
        #expect(Self.mode(store) == mode)
        try run("compact", store, "--to", path("copy.heartwood"))
        try run("salvage", store, "-o", path("salvaged.heartwood"))
        try run("export", store, "--format", "sqlite", "-o", path("export.sqlite"))
        try run("export", store, "--format", "sqlite", "--plain", "-o", path("plain.sqlite"))
        #expect(Self.mode(path("export.sqlite")) == mode)
        try run("convert", path("export.sqlite"), "-o", path("converted.heartwood"))
        for name in ["copy.heartwood", "salvaged.heartwood", "plain.sqlite", "converted.heartwood"] {
            #expect(Self.mode(path(name)) == mode, "\(name)")
        }
    }

    @Test
    func `What is made of no store has the mode of any new file`() throws {
        let store = try make(0o600)
        defer { cleanUp() }
        try run("model", store, "--svg", path("model.svg"))
        #expect(Self.mode(path("model.svg")) == 0o644 & ~Self.mask)
        try run("demo", "--people", "100", "--store", path("demo.heartwood"))
        #expect(Self.mode(path("demo.heartwood")) == 0o644 & ~Self.mask)
    }

    @Test(arguments: [0, 0o002, 0o022, 0o077])
    func `Sources and model files have the modes of a compiler's output; data are never writable for others`(mask: Int) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { cleanUp() }
        let store = path("store.heartwood"), octal = String(mask, radix: 8)
        try run(mask: octal, "import", store, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", ToolProcess.excerpt)
        try run(mask: octal, "model", store, "--svg", path("model.svg"))
        try run(mask: octal, "export", store, "--format", "sqlite", "-o", path("export.sqlite"))
        try run(mask: octal, "backup", store, path("backups"))
        try run(mask: octal, "compact", store)
        for name in ["store.heartwood", "model.svg", "export.sqlite"] { #expect(Self.mode(path(name)) == 0o644 & ~mask, "\(name)") }
        for entry in Self.all(path("backups")) where !entry.isFolder { #expect(entry.mode == 0o644 & ~mask, "\(entry)") }
        try run(mask: octal, "generate", ToolProcess.model, "-o", path("generated"), "--all")
        try run(mask: octal, "compile", ToolProcess.model, "-o", path("compiled"))
        for folder in ["generated", "compiled"] {
            let made = Self.all(path(folder))
            #expect(made.count > 1)
            for entry in made { #expect(entry.mode == (entry.isFolder ? 0o777 : 0o666) & ~mask, "\(entry)") }
        }
        // A file that is written again keeps its mode.
        let file = try #require(Self.all(path("generated")).first { !$0.isFolder }).path
        try Data("old".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try run(mask: octal, "generate", ToolProcess.model, "-o", path("generated"), "--all")
        #expect(Self.mode(file) == 0o600 && FileManager.default.contents(atPath: file) != Data("old".utf8))
    }
}
