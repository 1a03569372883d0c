import Foundation
import Testing

/// `-o` and `--format`, which mean the same in all commands that print.
@Suite struct OutputFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID())")
    private var store: String { folder.appendingPathComponent("store.heartwood").path }
    private var file: String { folder.appendingPathComponent("out.txt").path }

    private func make() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try ToolProcess.importExcerpt(to: store)
    }

    private func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    @Test
    func `A command writes to a file what it would print`() throws {
        try make()
        defer { try? FileManager.default.removeItem(at: folder) }
        for words in [
            ["query", store, "Package", "--sort", "name"], ["export", store, "--entity", "Package"], ["export", store, "--all"], ["log", store],
            ["log", store, "--format", "json"], ["diff", store, "--from", "1"], ["inspect", store], ["model", store, "--format", "svg"],
            ["model", "diff", store, ToolProcess.model],
        ] {
            let printed = try ToolProcess.runWords(words), written = try ToolProcess.runWords(words + ["-o", file])
            #expect(written.status == printed.status && written.output == "" && written.error == printed.error, "\(words): \(written)")
            #expect(try text() == printed.output, "\(words)")
            #expect(try ToolProcess.runWords(words + ["-o", "-"]).output == printed.output, "\(words)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["out.txt", "store.heartwood"])
    }

    @Test
    func `A command that fails leaves the file as it was, and no input or store is replaced`() throws {
        try make()
        defer { try? FileManager.default.removeItem(at: folder) }
        try "old".write(toFile: file, atomically: true, encoding: .utf8)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store)), copy = folder.appendingPathComponent("copy.heartwood").path
        #expect(try ToolProcess.run("query", store, "Package", "--sort", "none-such", "-o", file).status == 2)
        #expect(try ToolProcess.run("query", store, "NoneSuch", "-o", file).status == 2)
        #expect(try ToolProcess.run("query", store, "Package", "-o", folder.appendingPathComponent("none/x").path).status == 1)
        #expect(try text() == "old")
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        for path in [store, copy] {
            let refused = try ToolProcess.run("query", store, "Package", "-o", path)
            #expect(refused.status == 2 && refused.error.contains("--output would replace"), "\(refused)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        }
        let model = try ToolProcess.run("model", file, "-o", file)
        #expect(model.status == 2 && model.error.contains("an input"), "\(model)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["copy.heartwood", "out.txt", "store.heartwood"])
    }

    @Test
    func `The forms of a command's output are told by --format, and --json is one of them`() throws {
        try make()
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try ToolProcess.run("inspect", store, "--format", "json").output == ToolProcess.run("inspect", store, "--json").output)
        #expect(try ToolProcess.run("inspect", store, "--format", "json", "--json").error.contains("exclude each other"))
    }
}
