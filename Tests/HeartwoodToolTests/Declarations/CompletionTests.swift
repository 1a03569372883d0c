import Foundation
import Testing

@testable import HeartwoodTool

@Suite struct CompletionTests {
    private static func words(_ line: String...) -> [String] { wordsOf(line) }

    private static func wordsOf(_ line: [String]) -> [String] {
        guard case .words(let candidates) = Completion.of(line) else { return [] }
        return candidates.map(\.word)
    }

    @Test
    func `Commands, options, choices and forms complete as far as a line allows them`() {
        #expect(Self.words("in") == ["inspect"])
        #expect(Self.words("").count == HeartwoodTool.commands.count + 3)
        #expect(Self.words("--v") == ["--version"])
        #expect(Self.words("help", "que") == ["query"])
        #expect(Self.words("none", "") == [])
        #expect(Self.words("query", "s", "E", "--wh") == ["--where"])
        #expect(!Self.words("query", "s", "E", "--where", "x", "--").contains("--where"), "an option that is given is not offered again")
        #expect(Self.words("query", "s", "E", "--format", "j") == ["json", "jsonl"])
        #expect(Self.words("query", "s", "E", "--format=j") == ["--format=json", "--format=jsonl"])
        #expect(Self.words("query", "s", "E", "--count=") == [])
        #expect(Self.words("backup", "pr") == ["prune"])
        #expect(Self.words("backup", "prune", "d", "--keep-m") == ["--keep-monthly"])
        #expect(!Self.words("backup", "list", "d", "--").contains("--follow"))
        #expect(Self.words("completions", "") == ["bash", "zsh", "fish"])
        #expect(Self.words("verify", "--", "--") == [], "two dashes end the options")
        #expect(Completion.of(["verify", "x"]) == .files && Completion.of(["restore", "d", "-o", ""]) == .files)
        #expect(Completion.of(["compile", "m", "-o", ""]) == .folders && Completion.of(["compile", "m", "n", ""]) == .files)
        #expect(Completion.of(["export", "s", "--output=x"]) == .files)
    }

    @Test
    func `Entities, attributes and key paths of the store on the line complete`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        #expect(Self.words("query", store, "Pa") == ["Package"])
        #expect(Self.words("query", store, "Package", "--sort", "ver") == ["version"])
        #expect(Self.words("query", store, "Package", "--sort", "name,-ver") == ["name,-version"])
        #expect(Self.words("query", store, "Package", "--select", "name,section.na") == ["name,section.name"])
        #expect(Self.words("export", store, "--entity", "Sec") == ["Section"])
        #expect(Self.words("import", store, "--entity", "Package", "--key", "na") == ["name"])
        #expect(Self.words("import", "new", "--model", ToolProcess.model, "--entity", "Pac") == ["Package"])
        #expect(Self.words("query", "no.such.file", "Pa") == [])
    }

    /// Runs a line in a shell that has read the tool's script for it.
    private static func run(_ shell: String, _ text: String) throws -> [String]? {
        guard let path = Shell.path(of: shell) else {
            print("\(shell) is not installed, so its script does not run")
            return nil
        }
        let folders = "PATH=\(ToolProcess.executable.deletingLastPathComponent().path):/usr/local/bin:/usr/bin:/bin"
        let option = shell == "fish" ? "--no-config" : shell == "zsh" ? "-f" : "--norc"
        let result = try ToolProcess.runWords([folders, path.path, option, "-c", text], executable: try #require(Shell.path(of: "env")))
        #expect(result.status == 0 && result.error == "", "\(shell): \(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test
    func `The scripts complete in their shells`() throws {
        let folder = ToolProcess.temporaryPath("folder"), store = folder + "/some:store.heartwood"
        defer { ToolProcess.cleanUp(folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try ToolProcess.importExcerpt(to: store)
        let lines: [(words: [String], found: [String])] = [
            (["insp"], ["inspect"]), (["query", store, "Pa"], ["Package"]), (["query", store, "Package", "--format", "csv", "--off"], ["--offset"]),
            (["query", store, "Package", "--sort", "-vers"], ["-version"]), (["verify", folder + "/so"], [store]), (["nonesuch", ""], []),
        ]
        for (words, found) in lines {
            // As readline splits a line.
            let split = words.flatMap { $0.replacing(":", with: "\n:\n").split(separator: "\n", omittingEmptySubsequences: $0 != "").map(String.init) }
            let list = split.map { "'\($0)'" }.joined(separator: " ")
            let bash = try Self.run(
                "bash",
                "source <(heartwood completions bash); COMP_WORDS=(heartwood \(list)); COMP_CWORD=\(split.count); _heartwood; printf '%s\\n' \"${COMPREPLY[@]}\"")
            let quoted = words.map { "'\($0)'" }.joined(separator: " ")
            let zsh = try Self.run(
                "zsh",
                """
                compdef() { }; compset() { }; _files() { print -l -- ${words[CURRENT]}*(N) }
                _describe() { print -l -- ${${(P)4}%%:*} }
                source <(heartwood completions zsh); words=(heartwood \(quoted)); CURRENT=\(words.count + 1); _heartwood
                """)
            let fish = try Self.run("fish", "heartwood completions fish | source; complete -C 'heartwood \(words.joined(separator: " "))'")?
                .map { $0.split(separator: "\t").first.map(String.init) ?? "" }
            for (shell, completed) in [("bash", bash), ("zsh", zsh), ("fish", fish)] {
                guard let completed else { continue }
                #expect(completed.filter { $0 != "" } == found, "\(shell): \(words)")
            }
        }
    }
}
