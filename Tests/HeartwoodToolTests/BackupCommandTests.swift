import Foundation
import Testing

@testable import HeartwoodTool

@Suite struct BackupCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID())")
    private var store: String { folder.appendingPathComponent("store.heartwood").path }
    private var backups: String { folder.appendingPathComponent("backups").path }
    private var copy: String { folder.appendingPathComponent("copy.heartwood").path }

    private func make() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try ToolProcess.importExcerpt(to: store)
    }

    private func cleanUp() { try? FileManager.default.removeItem(at: folder) }

    private func count(_ path: String) throws -> String { try ToolProcess.run("query", path, "Package", "--count").output }

    @Test
    func `A store is backed up, listed, verified, restored, pruned and merged`() throws {
        try make()
        defer { cleanUp() }
        let first = try ToolProcess.run("backup", store, backups)
        #expect(first.status == 0 && first.output.contains("a full copy among them"), "\(first)")
        #expect(try ToolProcess.run("backup", store, backups).output.contains("nothing new"))
        #expect(try ToolProcess.run("backup", "status", store, backups).output.contains("up to date"))
        let list = try ToolProcess.run("backup", "list", backups)
        #expect(list.status == 0 && list.output.contains("commits that can be restored: 1"), "\(list)")
        #expect(try ToolProcess.run("backup", "verify", backups).output.contains("all whole"))
        let restored = try ToolProcess.run("restore", backups, "-o", copy)
        #expect(restored.status == 0 && restored.output.contains("goes on as lineage"), "\(restored)")
        #expect(try count(copy) == count(store))
        #expect(try ToolProcess.run("verify", copy).status == 0)
        #expect(try ToolProcess.run("restore", backups, "-o", copy).status == 1)
        #expect(try ToolProcess.run("restore", backups, "-o", copy, "--replace", "--commit", "1").status == 0)
        #expect(try ToolProcess.run("backup", "status", copy, backups).output.contains("there is no backup of lineage"))
        #expect(try ToolProcess.run("backup", copy, backups).status == 0)
        #expect(try ToolProcess.run("backup", "status", copy, backups).output.contains("up to date"))
        #expect(try ToolProcess.run("backup", "list", backups).output.contains("which left"))
        #expect(try ToolProcess.run("backup", "prune", backups, "--keep-last", "1").output.contains("kept"))
        #expect(try ToolProcess.run("backup", "merge", backups).status == 0)
        #expect(try ToolProcess.run("promote", copy).output.contains("goes on as lineage"))
    }

    @Test
    func `What is asked wrongly is refused with exit code 2`() throws {
        try make()
        defer { cleanUp() }
        for words in [
            ["backup"], ["backup", store], ["backup", store, "ftp://host"], ["backup", store, backups, "--interval", "1"],
            ["backup", store, backups, "--follow", "--interval", "0"], ["backup", "prune", backups], ["backup", "list", backups, "--follow"],
            ["backup", store, backups, "--keep-last", "1"], ["restore", backups], ["restore", backups, "-o", copy, "--at", "soon"],
            ["restore", backups, "-o", copy, "--commit", "0"], ["restore", backups, "-o", copy, "--at", "1", "--commit", "1"],
            ["restore", backups, "-o", copy, "--follow", "--replace"], ["restore", backups, "-o", copy, "--store", "x"],
        ] {
            let result = try ToolProcess.runWords(words)
            #expect(result.status == 2, "\(words): \(result)")
        }
        #expect(try ToolProcess.run("restore", backups, "-o", copy).status == 1)
        #expect(try ToolProcess.run("backup", "list", backups).status == 1)
    }

    @Test
    func `The second reader of the format reads a base archive and an increment, and finds their commits`() throws {
        guard FormatReader.python != nil else { return print(FormatReader.absence) }
        try make()
        defer { cleanUp() }
        #expect(try ToolProcess.run("backup", store, backups).status == 0)
        #expect(try addPackage(to: store).status == 0)
        #expect(try ToolProcess.run("backup", store, backups).status == 0)
        let found = FileManager.default.enumerator(atPath: backups)?.compactMap { $0 as? String }.filter { $0.hasSuffix(".hwlog") } ?? []
        #expect(found.count == 2)
        for name in found {
            let result = try FormatReader.run([backups + "/" + name, "--log-archive"])
            let parts = URL(fileURLWithPath: name).lastPathComponent.split(separator: "-")
            let first = UInt64(parts[1]) ?? 0, last = UInt64(parts[2]) ?? 0
            let lines = result.output.split(separator: "\n").dropFirst()
            #expect(result.status == 0, "\(result)")
            #expect(lines.compactMap { $0.split(separator: " ").first.flatMap { UInt64($0) } } == Array(first...last))
            #expect(result.output.hasPrefix(name.contains("-base") ? "base of file" : "increment of file"))
        }
        #expect(try ToolProcess.run("restore", backups, "-o", copy).status == 0)
        let checked = try FormatReader.run([copy, "--check"])
        #expect(checked.status == 0, "\(checked)")
    }

    @Test
    func `verify names commits that a compaction took and is content; a file that is missing between others is a failure`() throws {
        try make()
        defer { cleanUp() }
        #expect(try ToolProcess.run("backup", store, backups).status == 0)
        for _ in 0..<2 { #expect(try addPackage(to: store).status == 0) }
        #expect(try ToolProcess.run("compact", store).status == 0)
        for number in 0..<3 {
            if number > 0 { #expect(try addPackage(to: store).status == 0) }
            #expect(try ToolProcess.run("backup", store, backups).status == 0)
        }
        let whole = try ToolProcess.run("backup", "verify", backups)
        #expect(whole.status == 0 && whole.output.contains("no archive has them"), "\(whole)")
        let names = FileManager.default.enumerator(atPath: backups)?.compactMap { $0 as? String }.filter { $0.hasSuffix(".hwlog") } ?? []
        let increments = names.filter { !$0.contains("-base") }.sorted {
            URL(fileURLWithPath: $0).lastPathComponent < URL(fileURLWithPath: $1).lastPathComponent
        }
        #expect(increments.count == 2)
        try FileManager.default.removeItem(atPath: backups + "/" + (try #require(increments.first)))
        let cut = try ToolProcess.run("backup", "verify", backups)
        #expect(cut.status == 1 && cut.output.contains("an archive is missing that 1 archive"), "\(cut)")
        // A day alone: the end of today is behind every commit, the end of a day long ago before all.
        #expect(try ToolProcess.run("restore", backups, "-o", copy, "--at", "2001-01-01").status == 1)
        #expect(try ToolProcess.run("query", store, "Package", "--count", "--at", "2999-12-31").output == count(store))
    }

    /// Commits one more package.
    private func addPackage(to store: String) throws -> ToolProcess.Result {
        let path = folder.appendingPathComponent("\(UUID()).jsonl").path
        try Data(#"{"name": "package-\#(UUID())"}"#.utf8).write(to: URL(fileURLWithPath: path))
        return try ToolProcess.run("import", store, "--entity", "Package", "--key", "name", path)
    }

    @Test(.timeLimit(.minutes(2)))
    func `A backup that follows ends at SIGTERM with every commit, and a replica follows it`() throws {
        try make()
        defer { cleanUp() }
        let backup = try ToolProcess.start(["backup", store, backups, "--follow", "--interval", "0.05"])
        defer { ToolProcess.cleanUp(backup.output.path, backup.error.path) }
        #expect(try wait { try ToolProcess.run("backup", "list", backups).status == 0 })
        let replica = try ToolProcess.start(["restore", backups, "-o", copy, "--follow", "--interval", "0.05"])
        defer { ToolProcess.cleanUp(replica.output.path, replica.error.path) }
        #expect(try addPackage(to: store).status == 0)
        let wanted = try count(store)
        #expect(try wait { try count(copy) == wanted })
        let refused = try addPackage(to: copy)
        #expect(refused.status == 1 && refused.error.contains("heartwood promote"), "\(refused)")
        #expect(try addPackage(to: store).status == 0)
        for process in [backup.process, replica.process] {
            process.terminate()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(try ToolProcess.run("backup", "status", store, backups).output.contains("up to date"))
    }

    /// Before the handler is there the signal ends the process; from then on it is a clean end.
    @Test(.timeLimit(.minutes(2)), arguments: [true, false])
    func `SIGTERM ends a command that follows at whatever moment of its start it comes`(isBackup: Bool) throws {
        try make()
        defer { cleanUp() }
        #expect(try ToolProcess.run("backup", store, backups).status == 0)
        var clean = 0, delay = 0.0
        while delay < 1, clean < 3 {
            let words = isBackup ? ["backup", store, backups, "--follow"] : ["restore", backups, "-o", copy, "--follow"]
            let started = try ToolProcess.start(words)
            defer { ToolProcess.cleanUp(started.output.path, started.error.path) }
            // The signal comes at this moment of the start.
            Thread.sleep(forTimeInterval: delay)
            started.process.terminate()
            guard ToolProcess.ends(started.process, within: 20) else {
                started.process.interrupt()
                started.process.terminate()
                Issue.record("SIGTERM after \(delay) s was lost")
                return
            }
            let isClean = started.process.terminationReason == .exit
            #expect(started.process.terminationStatus == (isClean ? 0 : SIGTERM))
            clean += isClean ? 1 : 0
            delay += clean > 0 ? 0.05 : 0.002
        }
        #expect(clean == 3)
    }

    /// Looks again and again, for half a minute at most.
    private func wait(_ isTrue: () throws -> Bool) throws -> Bool {
        for _ in 0..<150 {
            if try isTrue() { return true }
            // A command that follows prints nothing of what it has done.
            Thread.sleep(forTimeInterval: 0.2)
        }
        return false
    }
}
