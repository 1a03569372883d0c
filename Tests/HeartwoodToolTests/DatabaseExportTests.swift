import Foundation
import Testing

/// `heartwood export --format sqlite`.
@Suite struct DatabaseExportTests {
    private static func withStore(_ body: (_ store: String, _ file: String) throws -> Void) throws {
        let store = ToolProcess.temporaryPath(), file = ToolProcess.temporaryPath("sqlite")
        defer { ToolProcess.cleanUp(store, file) }
        let made = try ToolProcess.run("import", store, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", ToolProcess.excerpt)
        try #require(made.status == 0, "\(made.error)")
        try body(store, file)
    }

    @Test("The whole store is written, and the command says what is in the file", arguments: [[], ["--plain"]])
    func theStoreIsWritten(flags: [String]) throws {
        try Self.withStore { store, file in
            let result = try ToolProcess.runWords(["export", store, "--format", "sqlite", "-o", file] + flags)
            #expect(result.status == 0 && result.error == "", "\(result.error)")
            #expect(result.output.contains("objects are in \(file)"))
            #expect(result.output.contains("NSIgnorePersistentStoreVersioningOption") == flags.isEmpty)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).starts(with: Data("SQLite format 3\0".utf8)))
            let again = try ToolProcess.runWords(["export", store, "--format", "sqlite", "-o", file] + flags)
            #expect(again.status == 1 && again.error.contains(file))
        }
    }

    @Test("Wrong options are said to be wrong") func wrongOptionsAreRefused() throws {
        try Self.withStore { store, file in
            for words in [
                ["--format", "sqlite"], ["--format", "sqlite", "-o", file, "--entity", "Package"],
                ["--format", "sqlite", "-o", file, "--plain", "--model", store],
                ["--entity", "Package", "-o", file], ["--all", "--plain"], ["--format", "sqlite", "-o", file, "--model", file],
            ] {
                let result = try ToolProcess.runWords(["export", store] + words)
                #expect(result.status == 2 && !result.error.isEmpty, "\(words) \(result.output)")
                #expect(!FileManager.default.fileExists(atPath: file))
            }
        }
    }
}
