import Foundation
import Testing

@testable import HeartwoodTool

/// A person sees the beginning of a long value, and colours on a terminal.
@Suite struct ReadingCommandTests {
    @Test
    func `An excerpt has the beginning of a text and says how much more there is`() {
        let excerpt = Excerpt(textMax: 3, membersMax: 2)
        #expect(["", "abc", "añb", "日本語"].map(excerpt.text) == ["", "abc", "añb", "日本語"])
        #expect(excerpt.text("abcd") == "abc… 1 more" && excerpt.text("日本語日") == "日本語… 1 more")
        #expect(excerpt.text("abc" + String(repeating: "x", count: 400_002)) == "abc… 400,002 more")
        #expect(excerpt.members([]).isEmpty && excerpt.members(["a", "b"]) == ["a", "b"])
        #expect(excerpt.members((0..<1002).map { "\($0)" }) == ["0", "1", "… 1,000 more"])
        let long = String(repeating: "y", count: 5000)
        #expect(Excerpt.full.text(long) == long && Excerpt.full.members(["a", long]) == ["a", long])
    }

    /// A store of one package with a long text, on which 30 others depend, and the package's URI.
    private final class LongValues {
        let path = ToolProcess.temporaryPath()
        static let summary = String(repeating: "s", count: 1500)
        let uri: String

        init() throws {
            let lines = ["{\"name\":\"a\",\"summary\":\"\(Self.summary)\"}"] + (10..<40).map { "{\"name\":\"p\($0)\",\"depends\":[\"a\"]}" }
            let made = try ToolProcess.run(
                "import", path, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", "-", input: lines.joined(separator: "\n"))
            #expect(made.status == 0, "\(made.error)")
            uri = try Self.uri("a", path)
        }

        private static func uri(_ name: String, _ path: String) throws -> String {
            let line = try ToolProcess.run("export", path, "--entity", "Package", "--ids", "--where", "name == '\(name)'").output
            return try #require((try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["@id"] as? String)
        }

        func uri(_ name: String) throws -> String { try Self.uri(name, path) }

        func newestCommit() throws -> String {
            let line = try run("log", "--limit", "1", "--format", "jsonl")
            return "\(try #require((try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["commit"] as? Int))"
        }

        deinit { ToolProcess.cleanUp(path) }

        func run(_ words: String...) throws -> String {
            let result = try ToolProcess.runWords([words[0], path] + words.dropFirst())
            #expect(result.status == 0, "\(words): \(result.error)")
            return result.output
        }
    }

    @Test
    func `A table cuts a long value unless it is wanted in full, and formats for programs never do`() throws {
        let store = try LongValues()
        let words = ["--select", "summary", "--where", "name == 'a'"]
        func query(_ more: String...) throws -> String { try ToolProcess.runWords(["query", store.path, "Package"] + words + more).output }
        #expect(try query().hasSuffix("\n\(LongValues.summary.prefix(1000))… 500 more\n"))
        #expect(try query("--full").hasSuffix("\n\(LongValues.summary)\n"))
        for format in ["csv", "json", "jsonl"] { #expect(try query("--format", format).contains(LongValues.summary), "\(format)") }
        #expect(try query("--width", "20").hasSuffix("\nsssssssssssssssssss…\n"))
    }

    @Test
    func `An object is a line for each property, and JSON for programs`() throws {
        let store = try LongValues()
        let lines = try store.run("inspect", "--object", store.uri).split(separator: "\n")
        #expect(lines[0] == "Package  \(store.uri)" && lines.contains("  name           a") && lines.contains("  version        nil"))
        #expect(lines.contains { $0.hasPrefix("  summary        sss") && $0.hasSuffix("s… 500 more") })
        let all = try store.run("inspect", "--object", store.uri, "--full")
        #expect(all.contains(LongValues.summary))
        #expect(try store.run("inspect", "--object", store.uri, "--json").hasPrefix("{\"name\":\"a\",\"summary\":\"sss"))
    }

    @Test
    func `Members of a relationship and of a difference are cut`() throws {
        let store = try LongValues()
        let before = try store.newestCommit(), members = (11..<40).map { "\"p\($0)\"" }.joined(separator: ",")
        #expect(try store.run("update", "Package", "--where", "name == 'p10'", "--set", "recommends=[\(members)]").hasPrefix("1 updated\n"))
        let uri = try store.uri("p10"), object = try store.run("inspect", "--object", uri)
        let line = try #require(object.split(separator: "\n").first { $0.hasPrefix("  recommends ") })
        #expect(line.contains("(29) p11 ") && line.hasSuffix(" … 9 more"), "\(line)")
        #expect(try store.run("inspect", "--object", uri, "--full").contains(" p39\n"))
        let change = try store.run("diff", "--from", before, "--entity", "Package")
        #expect(change.split(separator: "\n").contains { $0.hasPrefix("    recommends: +") && $0.hasSuffix(" … 17 more") }, "\(change)")
        #expect(try !store.run("diff", "--from", before, "--full").contains(" more"))
    }

    // MARK: Terminals

    private static let hasTerminals = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    /// The output of a command whose standard output is a terminal, without carriage returns.
    private func onTerminal(_ environment: String, _ words: [String]) throws -> String {
        let line = ([ToolProcess.executable.path] + words).map { "'\($0)'" }.joined(separator: " ")
        let (process, output, error) = try ToolProcess.start(
            ["-c", "\(environment) exec /usr/bin/script -qec \"stty cols 60; \(line)\" /dev/null"], executable: URL(fileURLWithPath: "/bin/sh"))
        process.waitUntilExit()
        defer { ToolProcess.cleanUp(output.path, error.path) }
        return String(decoding: try Data(contentsOf: output).filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }

    @Test(.enabled(if: hasTerminals, "there is no /usr/bin/script"))
    func `Verdicts, differences and errors have colours on a terminal, unless NO_COLOR is set`() throws {
        let store = try LongValues()
        #expect(try onTerminal("unset NO_COLOR; TERM=xterm", ["verify", store.path]).hasPrefix("\u{1B}[32msound: "))
        #expect(try onTerminal("NO_COLOR=1 TERM=xterm", ["verify", store.path]).hasPrefix("sound: "))
        #expect(try onTerminal("unset NO_COLOR; TERM=dumb", ["verify", store.path]).hasPrefix("sound: "))
        #expect(try store.run("verify").hasPrefix("sound: "))
        let before = try store.newestCommit()
        _ = try store.run("delete", "Package", "--where", "name == 'p11'")
        let difference = try onTerminal("unset NO_COLOR; TERM=xterm", ["diff", store.path, "--from", before, "--entity", "Package"])
        #expect(difference.contains("\u{1B}[31m- Package  x-coredata://"), "\(difference)")
        #expect(try onTerminal("unset NO_COLOR; TERM=xterm", ["query", store.path, "Nothing"]).hasPrefix("\u{1B}[31mheartwood query:\u{1B}[0m there is"))
        #expect(try ToolProcess.run("query", store.path, "Nothing").error.hasPrefix("heartwood query: there is"))
    }

    @Test(.enabled(if: hasTerminals, "there is no /usr/bin/script"))
    func `A table's lines fit the terminal`() throws {
        let store = try LongValues()
        let table = try onTerminal("TERM=xterm", ["query", store.path, "Package", "--select", "name,summary,version", "--sort", "name"])
        let lines = table.split(separator: "\n")
        try #require(lines.count == 33, "\(table)")
        #expect(lines.allSatisfy { DisplayWidth.of(String($0)) <= 60 }, "\(table)")
        #expect(lines[2].hasPrefix("a     sss") && lines[2].contains("s…"), "\(lines[2])")
    }

    // MARK: Selected properties

    @Test
    func `An export has the selected properties`() throws {
        let store = try LongValues()
        func export(_ select: String, _ more: String...) throws -> ToolProcess.Result {
            try ToolProcess.runWords(["export", store.path, "--entity", "Package", "--where", "name == 'p10'", "--select", select] + more)
        }
        #expect(try export("depends, name").output == "{\"depends\":[\"a\"],\"name\":\"p10\"}\n")
        #expect(try export("dependents,name").output == "{\"name\":\"p10\"}\n")
        #expect(try export("name,depends,version", "--format", "csv").output == "name,depends,version\np10,a,\n")
        let wrong = try export("name,colour")
        #expect(wrong.status == 2 && wrong.output.isEmpty && wrong.error.contains("no property \"colour\" to select; it has architecture, "), "\(wrong.error)")
        let all = try ToolProcess.run("export", store.path, "--all", "--select", "name")
        #expect(all.status == 2 && all.error.contains("--all"), "\(all.error)")
    }
}
