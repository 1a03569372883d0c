import Foundation
import Testing

/// The destinations of the tool's output, and their failures.
@Suite struct OutputTests {
    /// Runs a shell command line, with the tool as `$0`.
    private func shell(_ line: String, _ arguments: String...) throws -> ToolProcess.Result {
        let (process, output, error) = try ToolProcess.start(
            ["-c", line, ToolProcess.executable.path] + arguments, executable: URL(fileURLWithPath: "/bin/sh"))
        process.waitUntilExit()
        defer { ToolProcess.cleanUp(output.path, error.path) }
        return .init(
            status: process.terminationStatus, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            error: String(decoding: try Data(contentsOf: error), as: UTF8.self))
    }

    private func filled() throws -> String {
        let store = ToolProcess.temporaryPath()
        try ToolProcess.importExcerpt(to: store)
        return store
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
    func `Output that cannot be written is an error`() throws {
        let store = try filled()
        defer { ToolProcess.cleanUp(store) }
        for command in [
            "export \"$1\" --entity Package", "export \"$1\" --entity Package --format csv", "query \"$1\" Package",
            "query \"$1\" Package --format json",
            "query \"$1\" Package --count", "inspect \"$1\"", "inspect \"$1\" --json", "verify \"$1\"", "model \"$1\"", "--help", "export --help",
        ] {
            let result = try shell("\"$0\" \(command) > /dev/full", store)
            #expect(result.status == 1 && result.error.contains("standard output could not be written"), "\(command): \(result.error)")
            #expect(try shell("\"$0\" \(command) >&-", store).status == 1, "\(command)")
        }
    }

    @Test
    func `A reader that closes its pipe is no error`() throws {
        let store = try filled()
        defer { ToolProcess.cleanUp(store) }
        // The signal is ignored, so that the tool sees the error.
        let result = try shell("trap '' PIPE; { \"$0\" export \"$1\" --entity Package; echo $? >&2; } | true", store)
        #expect(result.error == "0\n")
    }

    @Test
    func `A store never gets the descriptor of a closed output`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        for closed in ["<&- >&-", "<&- >&- 2>&-", ">&- 2>&-"] {
            #expect(try shell("\"$0\" demo --people 200 --store \"$1\" \(closed)", store).status == 1)
            #expect(try ToolProcess.run("verify", store).status == 0)
            #expect(try ToolProcess.run("query", store, "Contact", "--count").output == "200\n")
        }
        let text = try String(decoding: Data(contentsOf: URL(fileURLWithPath: store)), as: UTF8.self)
        #expect(!text.contains("made and saved"))
    }

    @Test
    func `A demo replaces no existing store`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-demo-\(UUID().uuidString)")
        let model = folder.appendingPathComponent("Mine.xcdatamodel"), store = folder.appendingPathComponent("mine.heartwood").path
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("""
            <?xml version="1.0" encoding="UTF-8"?>
            <model><entity name="Contact"><attribute name="name" optional="YES" attributeType="String"/></entity></model>
            """.utf8).write(to: model.appendingPathComponent("contents"))
        let mine = try ToolProcess.run(
            "import", store, "--model", model.path, "--entity", "Contact", "--key", "name", "-", input: "{\"name\":\"Ada\"}\n")
        #expect(mine.status == 0, "\(mine.error)")
        let result = try ToolProcess.run("demo", "--people", "100", "--store", store)
        #expect(result.status == 1 && result.error.contains("no earlier demo"))
        #expect(try ToolProcess.run("export", store, "--entity", "Contact").output == "{\"name\":\"Ada\"}\n")
    }

    @Test
    func `A drawing does not replace the file that it shows`() throws {
        let store = try filled(), link = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, link) }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
        for option in ["--svg", "--mermaid"] {
            for path in [store, link] {
                #expect(try ToolProcess.run("model", store, option, path).status == 2)
                #expect(try ToolProcess.run("model", path, option, store).status == 2)
            }
        }
        #expect(try ToolProcess.run("verify", store).status == 0)
    }

    /// A terminal obeys escapes in its input.
    @Test
    func `Control characters are shown escaped`() throws {
        let store = try filled()
        defer { ToolProcess.cleanUp(store) }
        let line = "{\"name\":\"a\",\"installedSize\":\"\\u001b[31mred\\n\\u009b0m\"}\n"
        let wrong = try ToolProcess.run("import", store, "--entity", "Package", "--key", "name", "-", input: line)
        #expect(wrong.status == 1 && wrong.error.contains("\"␛[31mred␊\u{FFFD}0m\""), "\(wrong.error)")
        let unknown = try ToolProcess.run(
            "import", store, "--entity", "Package", "--key", "name", "-", input: "{\"name\":\"a\",\"\\u001b[2J\":1}\n")
        #expect(unknown.status == 1 && unknown.error.contains("␛[2J") && !unknown.error.contains("\u{1B}"))
        #expect(try !ToolProcess.run("inspect", "no\u{1B}where").error.contains("\u{1B}"))
        // Output for programs is unchanged.
        let ok = try ToolProcess.run("import", store, "--entity", "Package", "--key", "name", "-", input: "{\"name\":\"\\u0085\"}\n")
        #expect(ok.status == 0)
        #expect(try ToolProcess.run("export", store, "--entity", "Package", "--where", "name == '\u{85}'").output == "{\"name\":\"\u{85}\"}\n")
    }
}
