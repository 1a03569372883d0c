import Foundation
import Testing

/// `heartwood update` and `heartwood delete`.
@Suite struct ChangeCommandTests {
    /// The examples' packages, in a store of their own.
    private final class Packages {
        let path = ToolProcess.temporaryPath()

        init() throws { try ToolProcess.importExcerpt(to: path) }

        deinit { ToolProcess.cleanUp(path) }

        func run(_ words: String...) throws -> ToolProcess.Result { try ToolProcess.runWords([words[0], path] + words.dropFirst()) }

        func csv(_ entity: String, _ select: String, _ condition: String = "TRUEPREDICATE") throws -> String {
            try run("query", entity, "--select", select, "--where", condition, "--sort", "name", "--format", "csv").output
        }

        /// The newest commit as `log` has it.
        func newestCommit() throws -> [String: Any] {
            let line = try run("log", "--limit", "1", "--format", "jsonl").output
            return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }
    }

    @Test
    func `An update sets values of the objects that a predicate finds, as one commit with an author`() throws {
        let store = try Packages(), before = try store.newestCommit()["commit"] as? Int ?? 0
        let done = try store.run(
            "update", "Package", "--where", "section.name == \"utils\"", "--set", "installedSize=7", "--set", "priority=null", "--set", "summary=a = b",
            "--author", "Ada")
        #expect(done.status == 0 && done.output == "2 updated\n", "\(done.output)\(done.error)")
        #expect(try store.csv("Package", "name,installedSize,priority,summary", "section.name == 'utils'")
            == "name,installedSize,priority,summary\nlantern,7,,a = b\nsapling,7,,a = b\n")
        let commit = try store.newestCommit()
        #expect(commit["commit"] as? Int == before + 1 && commit["author"] as? String == "Ada" && commit["written"] as? Int == 2)
        let again = try store.run("update", "Package", "--where", "name == \"lantern\"", "--set", "installedSize=7")
        #expect(again.status == 0 && again.output == "0 updated, 1 had these values\n", "\(again.output)\(again.error)")
        #expect(try store.newestCommit()["commit"] as? Int == before + 1)
        _ = try store.run("update", "Package", "--all", "--set", "size=\"8\"")
        #expect(try store.newestCommit()["author"] as? String == "heartwood update")
        #expect(try store.run("query", "Package", "--where", "size == 8", "--count").output == "6\n")
        #expect(try ToolProcess.run("verify", store.path).status == 0)
    }

    @Test
    func `A text that is null or has quotes is written as JSON`() throws {
        let store = try Packages()
        for (written, value) in [("\"null\"", "null"), ("\"\\\"a\\\"\"", "\"\"\"a\"\"\""), ("", "\"\""), ("{\"a\":1}", "\"{\"\"a\"\":1}\""), ("[", "[")] {
            let done = try store.run("update", "Package", "--where", "name == 'lantern'", "--set", "summary=\(written)")
            #expect(done.status == 0, "\(done.error)")
            #expect(try store.csv("Package", "summary", "name == 'lantern'") == "summary\n\(value)\n", "\(written)")
        }
        let wrong = try store.run("update", "Package", "--all", "--set", "summary=\"a\" b")
        #expect(wrong.status == 2 && wrong.error.contains("--set summary") && wrong.error.contains("JSON"), "\(wrong.error)")
    }

    @Test
    func `A relationship is set by unique values and by URIs`() throws {
        let store = try Packages()
        func set(_ text: String, _ entity: String = "Package", _ name: String = "lantern") throws -> ToolProcess.Result {
            try store.run("update", entity, "--where", "name == '\(name)'", "--set", text)
        }
        let moved = try set("section=libs")
        #expect(moved.status == 0 && moved.output == "1 updated\nwith a changed relationship to them: 2 Section\n", "\(moved.output)\(moved.error)")
        #expect(try store.csv("Package", "section.name", "name == 'lantern'") == "section.name\nlibs\n")
        let uri = try #require(try store.csv("Package", "section", "name == 'sapling'").split(separator: "\n").last)
        #expect(try set("section=\(uri)").status == 0)
        #expect(try store.csv("Package", "section.name", "name == 'lantern'") == "section.name\nutils\n")
        #expect(try set("section=null").status == 0)
        #expect(try store.csv("Package", "section.name", "name == 'lantern'") == "section.name\n\n")
        #expect(try set("depends=[\"sapling\", {\"@id\": \"\(try packageURI("libbark", store))\"}]").status == 0)
        #expect(try store.csv("Package", "name", "ANY dependents.name == 'lantern'") == "name\nlibbark\nsapling\n")
        #expect(try set("depends=libroot2").status == 0)
        #expect(try store.csv("Package", "name", "ANY dependents.name == 'lantern'") == "name\nlibroot2\n")
        #expect(try set("depends=[]").output.hasPrefix("1 updated\n"))
        for (text, says) in [
            ("section=nowhere", "no Section has the name \"nowhere\""), ("section=[\"libs\"]", "section leads to one object"),
            ("section=\(try packageURI("sapling", store))", "of the entity Package"), ("depends={\"a\": 1}", "depends"),
            ("depends=[", "JSON"),
        ] {
            let wrong = try set(text)
            #expect(wrong.status != 0 && wrong.error.contains(says), "\(text): \(wrong.error)")
        }
        #expect(try ToolProcess.run("verify", store.path).status == 0)
    }

    private func packageURI(_ name: String, _ store: Packages) throws -> String {
        let line = try store.run("export", "--entity", "Package", "--ids", "--where", "name == '\(name)'").output
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["@id"] as? String)
    }

    @Test
    func `A dry run shows what would change and saves nothing`() throws {
        let store = try Packages(), before = try store.newestCommit()["commit"] as? Int
        let update = try store.run(
            "update", "Package", "--where", "name == 'lantern'", "--set", "size=1", "--set", "section=doc", "--dry-run")
        #expect(update.status == 0 && update.output.hasSuffix("1 updated; a dry run, nothing is saved\nwith a changed relationship to them: 2 Section\n"))
        #expect(update.output.hasPrefix("* Package  x-coredata://") && update.output.contains("    size: 96210 -> 1\n"), "\(update.output)\(update.error)")
        #expect(update.output.contains("    section: x-coredata://"))
        let deletion = try store.run("delete", "Source", "--where", "name == 'lantern'", "--dry-run")
        #expect(deletion.status == 0 && deletion.output.hasPrefix("- Source  x-coredata://"), "\(deletion.output)\(deletion.error)")
        #expect(deletion.output.contains("    name: \"lantern\"\n") && deletion.output.contains("1 deleted; a dry run, nothing is saved\n"))
        #expect(deletion.output.contains("\ndeleted with them, by delete rules: 2 Package\n"), "\(deletion.output)")
        let all = try store.run("delete", "Package", "--all", "--dry-run")
        #expect(all.status == 0 && all.output.contains("6 deleted; a dry run"), "\(all.output)\(all.error)")
        #expect(try store.newestCommit()["commit"] as? Int == before)
        #expect(try store.run("query", "Package", "--count").output == "6\n")
    }

    @Test
    func `A deletion follows the delete rules`() throws {
        let store = try Packages()
        let cascade = try store.run("delete", "Source", "--where", "name == 'lantern'", "--author", "Grace")
        #expect(cascade.status == 0 && cascade.output.hasPrefix("1 deleted\ndeleted with them, by delete rules: 2 Package\n"), "\(cascade.output)\(cascade.error)")
        #expect(try store.run("query", "Package", "--count").output == "4\n")
        #expect(try store.newestCommit()["author"] as? String == "Grace")
        for dry in [["--dry-run"], []] {
            let denied = try ToolProcess.runWords(["delete", store.path, "Section", "--where", "name == 'libs'"] + dry)
            #expect(denied.status == 1 && denied.error.contains("/Section/p") && denied.error.contains("Section cannot be deleted while its packages is not empty"))
            #expect(denied.error.contains("1 refusal; nothing is saved"), "\(denied.error)")
        }
        #expect(try store.run("query", "Section", "--where", "name == 'libs'", "--count").output == "1\n")
        #expect(try store.run("delete", "Package", "--all").status == 0)
        #expect(try store.run("delete", "Section", "--all").output == "3 deleted\n")
        #expect(try store.run("delete", "Section", "--all").output == "0 deleted\n")
        #expect(try ToolProcess.run("verify", store.path).status == 0)
    }

    @Test
    func `A value that the model refuses names its objects, and nothing is saved`() throws {
        let store = try Packages()
        for dry in [["--dry-run"], []] {
            let missing = try ToolProcess.runWords(["update", store.path, "Package", "--all", "--set", "name=null"] + dry)
            #expect(missing.status == 1 && missing.error.contains("/Package/p") && missing.error.contains("Package.name is a required value."), "\(missing.error)")
            #expect(missing.error.contains("6 refusals; nothing is saved"), "\(missing.error)")
        }
        for dry in [["--dry-run"], []] {
            let twice = try ToolProcess.runWords(["update", store.path, "Package", "--where", "name == 'lantern'", "--set", "name=sapling"] + dry)
            #expect(twice.status == 1 && twice.error.contains("/Package/p") && twice.error.contains("same name: sapling"), "\(dry): \(twice.error)")
            let all = try ToolProcess.runWords(["update", store.path, "Package", "--all", "--set", "name=new"] + dry)
            #expect(all.status == 1 && all.error.contains("same name: new"), "\(dry): \(all.error)")
        }
        let own = try store.run("update", "Package", "--where", "name == 'lantern'", "--set", "name=lantern", "--set", "size=3", "--dry-run")
        #expect(own.status == 0, "\(own.error)")
        #expect(try store.run("query", "Package", "--where", "name == 'lantern'", "--count").output == "1\n")
    }

    @Test
    func `A wrong command changes nothing and says why`() throws {
        let store = try Packages(), before = try store.newestCommit()["commit"] as? Int
        let cases: [(words: [String], says: String)] = [
            (["update", "Package", "--set", "size=1"], "--all"), (["delete", "Package"], "--all"), (["update", "Package", "--all"], "--set"),
            (["delete", "Package", "--all", "--where", "size > 1"], "exclude"), (["update", "Package", "--all", "--set", "size"], "NAME=VALUE"),
            (["update", "Package", "--all", "--set", "sise=1"], "no property \"sise\""), (["update", "Packet", "--all", "--set", "size=1"], "no entity \"Packet\""),
            (["update", "Package", "--all", "--set", "size=many"], "size is a 64-bit integer, and \"many\" does not fit"),
            (["delete", "Package", "--where", "size > \"big\""], "size is a 64-bit integer, and \"big\" is none"),
            (["delete", "Package", "--where", "size >"], "^"),
        ]
        for (words, says) in cases {
            let wrong = try ToolProcess.runWords([words[0], store.path] + words.dropFirst())
            #expect(wrong.status != 0 && wrong.output.isEmpty && wrong.error.contains(says), "\(words): \(wrong.error)")
        }
        #expect(try store.newestCommit()["commit"] as? Int == before)
    }

    @Test
    func `A store of Core Data is refused with the command that converts it`() throws {
        let store = try Packages(), database = ToolProcess.temporaryPath("sqlite")
        defer { ToolProcess.cleanUp(database) }
        #expect(try store.run("export", "--format", "sqlite", "-o", database).status == 0)
        for dry in [["--dry-run"], []] {
            let refused = try ToolProcess.runWords(["delete", database, "Package", "--all"] + dry)
            #expect(refused.status == 2 && refused.error.contains("heartwood convert"), "\(refused.error)")
        }
    }
}
