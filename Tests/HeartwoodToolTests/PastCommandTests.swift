import Foundation
import Testing

@testable import Heartwood

/// The commands that look at a store's past: `log`, `diff`, `cherry-pick`, and `--at` of others.
@Suite struct PastCommandTests {
    /// A store whose commits are: the model; lantern and other; lantern changed and other deleted.
    private final class Scene {
        let path = ToolProcess.temporaryPath()
        private(set) var commits: [UInt64] = []
        private(set) var uris: [String: String] = [:]
        /// Between the second commit and the third.
        let middle: Date

        init() throws {
            let coordinator = NSPersistentStoreCoordinator(
                managedObjectModel: try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: ToolProcess.model)))
            try coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.transactionAuthor = "first"
            let objects = ["lantern", "other"].map { name in
                let object = NSEntityDescription.insertNewObject(forEntityName: "Package", into: context)
                object.setValue(name, forKey: "name")
                object.setValue("1", forKey: "version")
                return object
            }
            try context.save()
            let store = coordinator.persistentStores[0]
            commits.append(store.commitNumber ?? 0)
            for object in objects { uris[object.value(forKey: "name") as? String ?? ""] = object.objectID.uriRepresentation().absoluteString }
            // A time that is later than the first commit's, and earlier than the second's.
            Thread.sleep(forTimeInterval: 0.02)
            middle = Date()
            // The clock goes on.
            Thread.sleep(forTimeInterval: 0.02)
            context.transactionAuthor = "second"
            objects[0].setValue("2", forKey: "version")
            context.delete(objects[1])
            try context.save()
            commits.append(store.commitNumber ?? 0)
            try coordinator.remove(store)
        }

        deinit { ToolProcess.cleanUp(path) }

        var time: String { middle.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
    }

    private func json(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    @Test
    func `log lists the commits, newest first, for people and for programs`() throws {
        let scene = try Scene()
        let shown = try ToolProcess.run("log", scene.path)
        #expect(shown.status == 0 && shown.error.isEmpty, "\(shown.error)")
        let heads = shown.output.split(separator: "\n").filter { $0.hasPrefix("commit ") }
        #expect(heads.count == 3 && heads[0].hasPrefix("commit \(scene.commits[1])  ") && heads[0].hasSuffix("author second"), "\(shown.output)")
        #expect(shown.output.contains("  Package: 1 written, 1 deleted") && shown.output.contains("  Package: 2 written"))
        let found = try json(try ToolProcess.run("log", scene.path, "--entity", "Package", "--format", "json").output)
        #expect(found.map { $0["commit"] as? UInt64 } == scene.commits.reversed() && found.map { $0["author"] as? String } == ["second", "first"])
        let lines = try ToolProcess.run("log", scene.path, "--format", "jsonl", "--limit", "1").output.split(separator: "\n")
        #expect(lines.count == 1)
        let time = try #require(found[0]["time"] as? String)
        #expect(try ToolProcess.run("query", scene.path, "Package", "--count", "--at", time).output == "1\n", "a time of the log finds its commit")
    }

    @Test
    func `log chooses commits by object and time`() throws {
        let scene = try Scene(), other = try #require(scene.uris["other"])
        let all = try json(try ToolProcess.run("log", scene.path, "--object", other, "--format", "json").output)
        #expect(all.map { $0["commit"] as? UInt64 } == scene.commits.reversed())
        #expect(try json(try ToolProcess.run("log", scene.path, "--since", scene.time, "--format", "json").output).count == 1)
        #expect(try json(try ToolProcess.run("log", scene.path, "--until", scene.time, "--format", "json").output).count == 2)
        #expect(try ToolProcess.run("log", scene.path, "--since", "2099-01-01T00:00:00Z", "--format", "json").output == "[]\n")
        for wrong in [["--object", "x"], ["--entity", "Nothing"], ["--since", "soon"], ["--format", "xml"], ["--limit", "0"]] {
            #expect(try ToolProcess.runWords(["log", scene.path] + wrong).status == 2, "\(wrong)")
        }
        #expect(try ToolProcess.run("log", scene.path + "-none").status == 2)
    }

    @Test
    func `query, export and inspect show the store as of a commit or a time`() throws {
        let scene = try Scene()
        for past in ["\(scene.commits[0])", scene.time] {
            let rows = try ToolProcess.run(
                "query", scene.path, "Package", "--select", "name,version", "--sort", "name", "--format", "csv", "--at", past)
            #expect(rows.output == "name,version\nlantern,1\nother,1\n", "\(rows.error)")
            let lines = try ToolProcess.run("export", scene.path, "--entity", "Package", "--at", past).output.split(separator: "\n")
            #expect(lines.count == 2)
            let inspected = try ToolProcess.run("inspect", scene.path, "--json", "--at", past)
            let report = try JSONSerialization.jsonObject(with: Data(inspected.output.utf8)) as? [String: Any]
            #expect(inspected.status == 0 && report?["sequence"] as? UInt64 == scene.commits[0] && report?["tail"] as? String == "clean")
            let object = try ToolProcess.run("inspect", scene.path, "--object", try #require(scene.uris["other"]), "--at", past)
            #expect(object.output.contains("other"), "\(object.error)")
        }
        #expect(try ToolProcess.run("query", scene.path, "Package", "--count").output == "1\n")
        let gone = try ToolProcess.run("query", scene.path, "Package", "--at", "1000")
        #expect(gone.status == 1 && gone.error.contains("no commit 1000 yet"), "\(gone.error)")
        #expect(gone.error.contains("commits 1 to \(scene.commits[1])"), "\(gone.error)")
        for wrong in ["0", "-1", "1.5", "yesterday", ""] {
            #expect(try ToolProcess.run("query", scene.path, "Package", "--at", wrong).status == 2, "\(wrong)")
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `The past stays as it is while another process writes`() throws {
        let scene = try Scene()
        let lines = (0..<20_000).map { #"{"name": "p\#($0)", "version": "1"}"# }.joined(separator: "\n")
        let running = try ToolProcess.start(["import", scene.path, "--entity", "Package", "--key", "name", "-"], input: lines)
        defer { ToolProcess.cleanUp(running.output.path, running.error.path) }
        repeat {
            for (commit, count) in zip(scene.commits, ["2\n", "1\n"]) {
                let found = try ToolProcess.run("query", scene.path, "Package", "--count", "--at", "\(commit)")
                #expect(found.output == count, "\(found.error)")
            }
        } while running.process.isRunning
        #expect(running.process.terminationStatus == 0)
        #expect(try ToolProcess.run("query", scene.path, "Package", "--count").output == "20001\n")
        #expect(try ToolProcess.run("compact", scene.path).status == 0)
        let gone = try ToolProcess.run("query", scene.path, "Package", "--count", "--at", "\(scene.commits[0])")
        #expect(gone.status == 1 && gone.error.contains("backup"), "\(gone.error)")
    }

    @Test
    func `diff shows what came, changed and went, for people and for programs`() throws {
        let scene = try Scene(), (first, second) = (scene.commits[0], scene.commits[1])
        let (lantern, other) = (try #require(scene.uris["lantern"]), try #require(scene.uris["other"]))
        let shown = try ToolProcess.run("diff", scene.path, "--from", "\(first)")
        #expect(shown.status == 0, "\(shown.error)")
        #expect(shown.output.contains("* Package  \(lantern)\n    version: \"1\" -> \"2\"\n"), "\(shown.output)")
        #expect(shown.output.contains("- Package  \(other)\n") && shown.output.hasSuffix("0 inserted, 1 updated, 1 deleted\n"))
        let found = try json(try ToolProcess.run("diff", scene.path, "--from", scene.time, "--to", "\(second)", "--format", "json").output)
        #expect(found.map { $0["change"] as? String } == ["updated", "deleted"])
        let version = (found[0]["properties"] as? [String: Any])?["version"] as? [String: Any]
        #expect(version?["old"] as? String == "1" && version?["new"] as? String == "2")
        #expect(try ToolProcess.run("diff", scene.path, "--from", "\(second)", "--format", "json").output == "[]\n")
        #expect(try ToolProcess.run("diff", scene.path, "--from", "\(first)", "--entity", "Section").output == "0 inserted, 0 updated, 0 deleted\n")
        #expect(try ToolProcess.run("diff", scene.path).status == 2)
        #expect(try ToolProcess.run("diff", scene.path, "--from", "\(first)", "--entity", "Nothing").status == 2)
    }

    @Test
    func `diff compares a store with what a restore has made of its backup, and refuses another store`() throws {
        let scene = try Scene(), backup = ToolProcess.temporaryPath("backup"), copy = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(backup, copy) }
        #expect(try ToolProcess.run("backup", scene.path, backup).status == 0)
        #expect(try ToolProcess.run("restore", backup, "-o", copy, "--commit", "\(scene.commits[0])").status == 0)
        let shown = try ToolProcess.run("diff", copy, scene.path)
        #expect(shown.output.hasSuffix("0 inserted, 1 updated, 1 deleted\n"), "\(shown.output)\(shown.error)")
        let other = try Scene()
        let foreign = try ToolProcess.run("diff", scene.path, other.path)
        #expect(foreign.status != 0 && foreign.error.contains("different stores"))
    }

    @Test(arguments: ["past", "copy", "backup"])
    func `cherry-pick brings a deleted object back, from the store's own past, a copy or a backup`(from source: String) throws {
        let scene = try Scene(), backup = ToolProcess.temporaryPath("backup"), copy = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(backup, copy) }
        var arguments = ["--only", "Package WHERE name == 'other'", "--into", scene.path]
        switch source {
        case "past": arguments = [scene.path, "--at", "\(scene.commits[0])"] + arguments
        case "copy":
            #expect(try ToolProcess.run("backup", scene.path, backup).status == 0)
            #expect(try ToolProcess.run("restore", backup, "-o", copy, "--commit", "\(scene.commits[0])").status == 0)
            arguments = [copy] + arguments
        default:
            #expect(try ToolProcess.run("backup", scene.path, backup).status == 0)
            arguments = [backup, "--at", scene.time] + arguments
        }
        let uri = try #require(scene.uris["other"])
        let dry = try ToolProcess.runWords(["cherry-pick"] + arguments + ["--dry-run"])
        #expect(dry.status == 0 && dry.output.contains("+ \(uri)\n") && dry.output.contains("nothing is saved"), "\(dry.output)\(dry.error)")
        #expect(try ToolProcess.run("query", scene.path, "Package", "--count").output == "1\n")
        let done = try ToolProcess.runWords(["cherry-pick"] + arguments)
        #expect(done.status == 0 && done.output.contains("+ \(uri)\n"), "\(done.output)\(done.error)")
        #expect(done.output.hasSuffix("1 inserted, 0 updated, 0 conflicts; saved\n"), "\(done.output)")
        #expect(try ToolProcess.run("inspect", scene.path, "--object", uri).output.contains("other"))
        #expect(try ToolProcess.run("verify", scene.path).status == 0)
        #expect(try ToolProcess.run("log", scene.path, "--limit", "1").output.contains("author heartwood cherry-pick"))
    }

    @Test
    func `cherry-pick saves nothing at a conflict unless it is told to`() throws {
        let scene = try Scene()
        let arguments = ["cherry-pick", scene.path, "--at", "\(scene.commits[0])", "--only", "Package", "--into", scene.path]
        let refused = try ToolProcess.runWords(arguments)
        #expect(refused.status == 1 && refused.output.contains("! ") && refused.output.contains("changed since: version"), "\(refused.output)")
        let kept = try ToolProcess.runWords(arguments + ["--conflicts", "keep"])
        #expect(kept.status == 0 && kept.output.contains("1 inserted, 0 updated, 1 conflict; saved"), "\(kept.output)")
        let taken = try ToolProcess.runWords(arguments + ["--conflicts", "overwrite"])
        #expect(taken.status == 0 && taken.output.contains("0 inserted, 1 updated, 0 conflicts; saved"), "\(taken.output)")
        let rows = try ToolProcess.run("query", scene.path, "Package", "--select", "name,version", "--sort", "name", "--format", "csv")
        #expect(rows.output == "name,version\nlantern,1\nother,1\n")
        for wrong in [["--only", "Package WHERE"], ["--only", "Nothing"], ["--conflicts", "x"], ["--only", "Package WHERE ("]] {
            #expect(try ToolProcess.runWords(arguments + wrong).status == 2, "\(wrong)")
        }
    }
}
