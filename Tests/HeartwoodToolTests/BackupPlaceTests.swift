import Foundation
import Testing

@testable import HeartwoodTool

/// Where stores, destinations and restored stores may be, and what the commands say of a backup.
@Suite struct BackupPlaceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backup places \(UUID())")

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func make(_ name: String = "store.heartwood") throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try ToolProcess.importExcerpt(to: path(name))
        return path(name)
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    private func count(_ path: String) throws -> String { try ToolProcess.run("query", path, "Package", "--count").output }

    /// Commits one more package.
    private func addPackage(to store: String) throws {
        let lines = path("\(UUID()).jsonl")
        try Data(#"{"name": "package-\#(UUID())"}"#.utf8).write(to: URL(fileURLWithPath: lines))
        #expect(try ToolProcess.run("import", store, "--entity", "Package", "--key", "name", lines).status == 0)
    }

    @Test
    func `Names with spaces, links to stores and to directories, and a destination beside the store are places like others`() throws {
        let store = try make("a store of ünits.heartwood"), manager = FileManager.default
        defer { cleanUp() }
        try manager.createSymbolicLink(atPath: path("link"), withDestinationPath: store)
        try manager.createDirectory(atPath: path("a disk"), withIntermediateDirectories: true)
        try manager.createSymbolicLink(atPath: path("disk link"), withDestinationPath: path("a disk"))
        for (source, destination) in [(store, "a backup"), (path("link"), "a backup"), (store, "disk link"), (store, "a disk/deeper/still/")] {
            let result = try ToolProcess.run("backup", source, path(destination))
            // The directories above the destination have to be there.
            if destination.contains("deeper") {
                #expect(result.status == 1 && result.error.contains("deeper"), "\(result)")
                continue
            }
            #expect(result.status == 0, "\(destination): \(result)")
        }
        #expect(try ToolProcess.run("backup", "list", path("a backup")).output.contains("1 archive,"))
        // A link stays a link to the store, which is replaced.
        try manager.createSymbolicLink(atPath: path("copy link"), withDestinationPath: path("copy.heartwood"))
        #expect(try ToolProcess.run("restore", path("a backup"), "-o", path("copy link")).status == 1)
        #expect(try ToolProcess.run("restore", path("disk link"), "-o", path("copy.heartwood")).status == 0)
        try addPackage(to: path("copy.heartwood"))
        #expect(try ToolProcess.run("restore", path("a backup"), "-o", path("copy link"), "--replace").status == 0)
        #expect(try manager.destinationOfSymbolicLink(atPath: path("copy link")) == path("copy.heartwood"))
        #expect(try count(path("copy link")) == count(store) && count(path("copy.heartwood")) == count(store))
    }

    @Test
    func `A destination that is a file, or that lies behind one, is refused with what to do`() throws {
        let store = try make()
        defer { cleanUp() }
        try Data("text".utf8).write(to: URL(fileURLWithPath: path("file")))
        for destination in [path("file"), path("file") + "/backups", store] {
            for words in [["backup", store, destination], ["restore", destination, "-o", path("copy")], ["backup", "list", destination]] {
                let result = try ToolProcess.runWords(words)
                #expect(result.status == 2 && result.error.contains("path of a directory"), "\(words): \(result)")
            }
        }
        #expect(try count(store) != "")
    }

    /// verify said "0 archives, all whole", with exit code 0, of a directory on which no disk was mounted.
    @Test
    func `A directory without archives is no sound backup: list, verify, prune, merge and status fail; of two stores a restore asks which`() throws {
        let store = try make(), other = try make("other.heartwood")
        defer { cleanUp() }
        try FileManager.default.createDirectory(atPath: path("empty"), withIntermediateDirectories: true)
        for place in ["empty", "none"] {
            for words in [["list"], ["verify"], ["merge"], ["prune", "--keep-last", "1"]] {
                let result = try ToolProcess.runWords(["backup", words[0], path(place)] + words.dropFirst())
                #expect(result.status == 1 && result.error.contains("there are no log archives in"), "\(words) \(place): \(result)")
            }
            #expect(try ToolProcess.run("backup", "status", store, path(place)).status == 1)
        }
        for one in [store, other] { #expect(try ToolProcess.run("backup", one, path("both")).status == 0) }
        let unclear = try ToolProcess.run("restore", path("both"), "-o", path("copy"))
        #expect(unclear.status == 2 && unclear.error.contains("--store ID"), "\(unclear)")
    }

    /// The signal ended an import with exit code 153 and no word, and a backup was told to make room.
    @Test
    func `Past the file size limit a command ends with an error that names the limit, and by no signal; what was there stays`() throws {
        let store = try make()
        defer { cleanUp() }
        func run(_ blocks: Int, _ words: [String]) throws -> ToolProcess.Result {
            let script = "ulimit -f \(blocks); exec \"$0\" \"$@\""
            return try ToolProcess.runWords(["-c", script, ToolProcess.executable.path] + words, executable: URL(fileURLWithPath: "/bin/sh"))
        }
        let model = ["--model", ToolProcess.model, "--entity", "Package", "--key", "name", ToolProcess.excerpt]
        for words in [["import", path("new.heartwood")] + model, ["backup", store, path("backups")], ["compact", store, "--to", path("copy")]] {
            let result = try run(8, words)
            #expect(result.status == 1 && result.error.contains("ulimit -f") && !result.error.contains("prune"), "\(words[0]): \(result)")
        }
        #expect(try ToolProcess.run("backup", store, path("backups")).status == 0)
        let restored = try run(8, ["restore", path("backups"), "-o", path("restored.heartwood")])
        #expect(restored.status == 1 && restored.error.contains("ulimit -f"), "\(restored)")
        #expect(try ToolProcess.run("restore", path("backups"), "-o", path("restored.heartwood")).status == 0)
        #expect(try count(path("restored.heartwood")) == count(store))
    }

    @Test
    func `The commands tell sizes, times, gaps, and since when a backup is behind`() throws {
        let store = try make(), backups = path("backups")
        defer { cleanUp() }
        #expect(try ToolProcess.run("backup", store, backups).status == 0)
        for _ in 0..<3 {
            try addPackage(to: store)
            #expect(try ToolProcess.run("backup", store, backups).status == 0)
        }
        let list = try ToolProcess.run("backup", "list", backups).output
        #expect(list.contains("full copy: commits 1 to ") || list.contains("full copy: commit 1,"), "\(list)")
        #expect(list.contains("3 increments: commits ") && list.contains("Z\n"), "\(list)")
        try addPackage(to: store)
        let behind = try ToolProcess.run("backup", "status", store, backups)
        #expect(behind.status == 1 && behind.output.contains("behind by 1 commit, since 2"), "\(behind)")
        let all = FileManager.default.enumerator(atPath: backups)?.compactMap { $0 as? String }.filter { $0.hasSuffix(".hwlog") }.sorted() ?? []
        #expect(all.count == 4)
        let trial = try ToolProcess.run("backup", "prune", backups, "--keep-last", "1", "--dry-run")
        #expect(trial.status == 0 && trial.output.contains("0 archives would be deleted"), "\(trial)")
        let lost = try #require(all.first { !$0.hasSuffix("-base.hwlog") })
        try FileManager.default.removeItem(atPath: backups + "/" + lost)
        let verified = try ToolProcess.run("backup", "verify", backups)
        #expect(verified.status == 1 && verified.output.contains("cannot be restored") && verified.output.contains("all whole"), "\(verified)")
        #expect(try ToolProcess.run("backup", "list", backups).output.contains("gaps: "))
        #expect(try ToolProcess.run("backup", "status", store, backups).status == 1)
        // The next backup closes the gap.
        #expect(try ToolProcess.run("backup", store, backups).status == 0)
        #expect(try ToolProcess.run("backup", "verify", backups).status == 0)
        #expect(try ToolProcess.run("backup", "status", store, backups).output.contains("up to date"))
    }
}
