import Foundation
import Testing

@testable import HeartwoodTool

/// `heartwood report`: its page as text. Tests/Report opens such pages in a browser.
@Suite struct ReportCommandTests {
    /// The data of a page, as its script reads them.
    private static func data(_ page: String) throws -> [String: Any] {
        let start = try #require(page.range(of: "<script type=\"application/json\" id=\"data\">")).upperBound
        let end = try #require(page.range(of: "</script>", range: start..<page.endIndex)).lowerBound
        return try #require(try JSONSerialization.jsonObject(with: Data(page[start..<end].utf8)) as? [String: Any])
    }

    private static func page(_ words: String...) throws -> String {
        let file = ToolProcess.temporaryPath("html")
        defer { ToolProcess.cleanUp(file) }
        let result = try ToolProcess.runWords(["report"] + words + ["-o", file])
        #expect(result.status == 0, "\(result.error)")
        return try String(contentsOfFile: file, encoding: .utf8)
    }

    @Test
    func `A page has what the store has`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        let found = try Self.data(
            try Self.page(store, "--rows", "3", "--query", "Package: name == 'lantern'", "--query", "Package: size > 5", "--diff", "--from", "1"))
        let overview = try #require(found["overview"] as? [String: Any])
        #expect((overview["check"] as? [String: Any])?["state"] as? String == "sound")
        let tables = try #require((found["rows"] as? [String: Any])?["tables"] as? [[String: Any]])
        let packages = try #require(tables.first { $0["entity"] as? String == "Package" })
        let rows = try #require(packages["rows"] as? [[String: Any]])
        #expect(rows.filter { $0["isEnd"] == nil }.count == 3 && packages["objects"] as? Int ?? 0 > 3)
        #expect(rows.contains { $0["isEnd"] as? Bool == true }, "rows to which the sample refers")
        let queries = try #require(found["queries"] as? [[String: Any]])
        #expect(queries.count == 2 && queries[0]["matched"] as? Int == 1 && (queries[0]["steps"] as? [Any])?.count == 1)
        let counts = try #require((found["difference"] as? [String: Any])?["counts"] as? [String: Int])
        #expect(counts["inserted"] ?? 0 > 5)
        #expect((found["time"] as? [String: Any])?["noun"] as? String == "commit")
        let parts = try #require((found["space"] as? [String: Any])?["parts"] as? [[String: Any]])
        let sum = parts.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) }
        #expect(sum > 0 && sum == overview["bytes"] as? Int)
        // Both views have the same figure.
        let live = parts.filter { ["rows", "values"].contains($0["kind"] as? String) }.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) }
        let facts = try #require(overview["facts"] as? [[String: String]])
        #expect(facts.first { $0["name"] == "Live rows and values" }?["text"] == Output.bytes(UInt64(live)))
    }

    @Test
    func `The newest commits name the objects that they changed, and the page has those objects`() throws {
        let store = ToolProcess.temporaryPath(), lines = ToolProcess.temporaryPath("jsonl")
        defer { ToolProcess.cleanUp(store, lines) }
        try ToolProcess.importExcerpt(to: store)
        try Data("{\"name\": \"zz-newest\", \"size\": 3}\n".utf8).write(to: URL(fileURLWithPath: lines))
        #expect(try ToolProcess.run("import", store, "--entity", "Package", "--key", "name", lines).status == 0)
        let found = try Self.data(try Self.page(store, "--rows", "2"))
        let points = try #require((found["time"] as? [String: Any])?["points"] as? [[String: Any]])
        let objects = try #require(points[0]["objects"] as? [[String: Any]])
        #expect(objects.count == 1 && objects[0]["kind"] as? String == "written")
        let rows = try Self.rows(found, of: "Package")
        #expect(rows.contains { $0["id"] as? String == objects[0]["id"] as? String && "\($0)".contains("zz-newest") })
    }

    @Test
    func `A commit names its objects also where many links stand before them`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        #expect(try ToolProcess.run("delete", store, "Tag", "--all").status == 0)
        let points = try #require((try Self.data(try Self.page(store))["time"] as? [String: Any])?["points"] as? [[String: Any]])
        let changes = try #require(points[0]["changes"] as? [[String: Any]]), objects = try #require(points[0]["objects"] as? [[String: Any]])
        let deleted = try #require(changes.first { $0["name"] as? String == "Tag" }?["deleted"] as? Int)
        #expect(changes.contains { ($0["name"] as? String)?.hasPrefix("link:") == true } && deleted > 1)
        #expect(objects.count == min(deleted, 24) && objects.allSatisfy { $0["kind"] as? String == "deleted" })
    }

    private static func table(_ found: [String: Any], of entity: String) throws -> [String: Any] {
        let tables = try #require((found["rows"] as? [String: Any])?["tables"] as? [[String: Any]])
        return try #require(tables.first { $0["entity"] as? String == entity })
    }

    private static func rows(_ found: [String: Any], of entity: String) throws -> [[String: Any]] {
        try #require(try table(found, of: entity)["rows"] as? [[String: Any]])
    }

    @Test
    func `An attribute without a value in any row is told from one with a value beyond the sample`() throws {
        let store = ToolProcess.temporaryPath(), lines = ToolProcess.temporaryPath("jsonl")
        defer { ToolProcess.cleanUp(store, lines) }
        let texts = (0..<8).map { "{\"name\": \"p\($0)\"\($0 == 7 ? ", \"summary\": \"late\"" : "")}" }
        try Data(texts.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: lines))
        #expect(
            try ToolProcess.run("import", store, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", lines).status == 0)
        for (count, used) in [("100", Bool?.none), ("3", true)] {
            let model = try #require(try Self.data(try Self.page(store, "--rows", count))["model"] as? [String: Any])
            let package = try #require((model["entities"] as? [[String: Any]])?.first { $0["name"] as? String == "Package" })
            let attributes = try #require(package["attributes"] as? [[String: Any]])
            func isUsed(_ name: String) -> Bool? { attributes.first { $0["name"] as? String == name }?["isUsed"] as? Bool }
            #expect(isUsed("homepage") == false && isUsed("summary") == used && isUsed("name") == nil)
        }
    }

    @Test
    func `A large file is not verified, and its page says so`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        func data(verifies: Bool) throws -> ReportData {
            try ReportGathering(path: store, modelFile: nil, rows: 10, verifies: verifies, queries: [], wholeBytesMax: 1000).data()
        }
        let brief = try data(verifies: false), whole = try data(verifies: true)
        #expect(brief.overview?.check.state == .unchecked && whole.overview?.check.state == .sound)
        #expect(brief.overview?.check.summary.contains("heartwood report --verify") == true)
        #expect(brief.overview?.objects == whole.overview?.objects && brief.overview?.objects ?? 0 > 5)
        #expect(brief.time?.points.count == whole.time?.points.count && brief.space?.segments?.count == 1)
    }

    @Test
    func `A page of several files tells the sound ones from the others, and needs no store among them`() throws {
        let store = ToolProcess.temporaryPath(), text = ToolProcess.temporaryPath("txt")
        defer { ToolProcess.cleanUp(store, text) }
        try ToolProcess.importExcerpt(to: store)
        try Data("no store".utf8).write(to: URL(fileURLWithPath: text))
        let found = try Self.data(try Self.page(store, CoreDataStores.golden("attributes-types"), text))
        let files = try #require(found["files"] as? [[String: Any]])
        #expect(files.compactMap { ($0["check"] as? [String: Any])?["state"] as? String } == ["sound", "sound", "unreadable"])
        #expect(found["overview"] == nil && found["rows"] == nil && files[0]["objects"] as? Int ?? 0 > 5)
    }

    @Test
    func `A damaged Core Data store has a page that says so, also where nothing of it can be read`() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: CoreDataStores.golden("attributes-types"))), file = ToolProcess.temporaryPath("sqlite")
        defer { ToolProcess.cleanUp(file) }
        for step in 1...6 {
            var bytes = whole
            // The page's kind, or the file's end.
            if step < 6 { bytes[step * 4096] ^= 0x55 } else { bytes.removeLast(bytes.count / 2) }
            try bytes.write(to: URL(fileURLWithPath: file))
            let overview = try #require(try Self.data(try Self.page(file))["overview"] as? [String: Any])
            let check = try #require(overview["check"] as? [String: Any])
            let isSound = try ToolProcess.run("verify", file).status == 0
            #expect((check["state"] as? String == "sound") == isSound, "page \(step)")
            #expect(isSound || !(check["lines"] as? [String] ?? []).isEmpty, "page \(step)")
        }
    }

    @Test
    func `Two Core Data files are compared object by object, and two stores by their models and numbers`() throws {
        let golden = CoreDataStores.golden("attributes-types"), other = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(other) }
        let same = try #require(try Self.data(try Self.page(golden, golden, "--diff"))["difference"] as? [String: Any])
        #expect((same["counts"] as? [String: Int])?.isEmpty == true && same["note"] == nil && (same["model"] as? [Any])?.isEmpty == true)
        try ToolProcess.importExcerpt(to: other)
        let different = try #require(try Self.data(try Self.page(golden, other, "--diff"))["difference"] as? [String: Any])
        #expect((different["note"] as? String)?.contains("two stores") == true)
        let counts = try #require(different["entities"] as? [[String: Any]])
        #expect(counts.contains { $0["entity"] as? String == "Package" && $0["old"] == nil && $0["new"] as? Int ?? 0 > 5 })
        let changes = try #require(different["model"] as? [[String: Any]])
        #expect(Set(changes.compactMap { $0["sign"] as? String }).isSuperset(of: ["+", "-"]))
    }

    @Test
    func `Objects that a query finds are on the page, also beyond the sample`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        let table = try Self.table(try Self.data(try Self.page(store)), of: "Package")
        let last = try #require((table["rows"] as? [[String: Any]])?.last { $0["isEnd"] == nil }), label = try #require(table["label"] as? Int)
        let name = try #require((last["cells"] as? [Any])?[label] as? String)
        let found = try Self.data(try Self.page(store, "--rows", "1", "--query", "Package: name == '\(name)'"))
        #expect(try Self.rows(found, of: "Package").contains { $0["id"] as? String == last["id"] as? String }, "\(name)")
    }

    @Test
    func `No text of a store ends an element or begins one`() throws {
        let hostile = "</script><img src=x onerror=alert(1)><!--<script>\u{2028}&lt;'\""
        let inert = ReportPage.inert(try String(decoding: JSONEncoder().encode([hostile]), as: UTF8.self))
        #expect(!inert.contains { "<>&\u{2028}".contains($0) })
        #expect(try JSONDecoder().decode([String].self, from: Data(inert.utf8)) == [hostile])
        #expect(!ModelSVG.escape(hostile).contains { "<>\"'".contains($0) })

        let store = ToolProcess.temporaryPath(), record = try String(decoding: JSONEncoder().encode(["name": hostile]), as: UTF8.self)
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        let lines = ToolProcess.temporaryPath("jsonl")
        defer { ToolProcess.cleanUp(lines) }
        try Data((record + "\n").utf8).write(to: URL(fileURLWithPath: lines))
        #expect(try ToolProcess.run("import", store, "--entity", "Package", "--key", "name", lines).status == 0)
        let page = try Self.page(store)
        #expect(!page.contains("<img") && page.components(separatedBy: "</script>").count == 3)
        let tables = try #require((try Self.data(page)["rows"] as? [String: Any])?["tables"] as? [[String: Any]])
        #expect("\(tables)".contains("onerror"), "the value is there, as a text")
    }

    @Test
    func `A page of a damaged store, of a backup and of a Core Data store says what they are`() throws {
        let store = ToolProcess.temporaryPath(), backup = ToolProcess.temporaryPath("backup")
        defer { ToolProcess.cleanUp(store, backup) }
        try ToolProcess.importExcerpt(to: store)
        #expect(try ToolProcess.run("backup", store, backup).status == 0)
        let kept = try #require(try Self.data(try Self.page(backup))["overview"] as? [String: Any])
        #expect(kept["kind"] as? String == "Backup" && (kept["backups"] as? [Any])?.count == 1)
        #expect((kept["check"] as? [String: Any])?["state"] as? String == "sound")
        let archive = try #require(try FileManager.default.subpathsOfDirectory(atPath: backup).first { $0.hasSuffix(".hwlog") })
        let file = URL(fileURLWithPath: backup).appendingPathComponent(archive)
        var content = try Data(contentsOf: file)
        content[content.count / 2] ^= 1
        try content.write(to: file)
        let broken = try #require(try Self.data(try Self.page(backup))["overview"] as? [String: Any])
        #expect((broken["check"] as? [String: Any])?["state"] as? String == "damaged")
        let lines = try #require(broken["backups"] as? [[String: Any]])
        #expect((lines[0]["archives"] as? [[String: Any]])?.map { $0["isSound"] as? Bool } == [false])

        let other = try #require(try Self.data(try Self.page(CoreDataStores.golden("attributes-types")))["overview"] as? [String: Any])
        #expect((other["kind"] as? String)?.hasPrefix("Core Data store") == true)

        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let row = try #require(bytes.range(of: Data("lantern".utf8)))
        bytes[row.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: store))
        let damaged = try #require(try Self.data(try Self.page(store))["overview"] as? [String: Any])
        #expect((damaged["check"] as? [String: Any])?["state"] as? String == "damaged")
        let advice = "\(damaged["advice"] ?? "")"
        #expect(advice.contains("heartwood salvage") && !advice.contains("heartwood compact"))
        let folder = URL(fileURLWithPath: store).deletingLastPathComponent().path
        #expect(!"\(damaged["check"] ?? "")".contains(folder), "the page names no folder of this machine")
    }

    @Test
    func `A page replaces a page and nothing else`() throws {
        let store = ToolProcess.temporaryPath(), file = ToolProcess.temporaryPath("html")
        defer { ToolProcess.cleanUp(store, file) }
        try ToolProcess.importExcerpt(to: store)
        for _ in 0..<2 { #expect(try ToolProcess.run("report", store, "-o", file).status == 0) }
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let refused = try ToolProcess.run("report", store, "-o", store)
        #expect(refused.status == 2 && refused.error.contains("is no page"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        #expect(try ToolProcess.run("report", store).status == 2)
        #expect(try ToolProcess.run("report", store, "-o", file, "--query", "Package").status == 2)
        #expect(try ToolProcess.run("report", store, "-o", file, "--from", "1").status == 2)
    }

    @Test
    func `An empty page has at most 150 KB`() throws {
        let page = try ReportPage.html(ReportData(
            title: "Nothing", made: 0,
            overview: ReportOverview(kind: "Record log", path: "", bytes: 0, check: ReportOverview.Check(state: .sound, summary: ""))))
        #expect(page.utf8.count < 150_000 && page.utf8.count > 20_000)
    }
}
