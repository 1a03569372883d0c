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
            try Self.page(store, "--rows", "3", "--query", "Package: name == 'lantern';;Package: size > 5", "--diff", "--from", "1"))
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

        let other = try #require(try Self.data(try Self.page(CoreDataStores.golden("attributes-types")))["overview"] as? [String: Any])
        #expect((other["kind"] as? String)?.hasPrefix("Core Data store") == true)

        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let row = try #require(bytes.range(of: Data("lantern".utf8)))
        bytes[row.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: store))
        let damaged = try #require(try Self.data(try Self.page(store))["overview"] as? [String: Any])
        #expect((damaged["check"] as? [String: Any])?["state"] as? String == "damaged")
        #expect("\(damaged["advice"] ?? "")".contains("heartwood salvage"))
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
