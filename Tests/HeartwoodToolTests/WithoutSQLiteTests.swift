import Foundation
import Heartwood
import Testing

/// A program that depends on the module Heartwood only, as the product HeartwoodCore gives it.
@Suite struct WithoutSQLiteTests {
    @Test
    func `A program without SQLite is told which product has the class, and makes no empty store beside the one of an app`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("SQLite format 3\0".utf8).write(to: folder.appendingPathComponent("App.sqlite"))
        let executable = ToolProcess.executable.deletingLastPathComponent().appendingPathComponent("heartwood-testprocess")
        let (process, output, error) = try ToolProcess.start(["--without-sqlite", folder.path], executable: executable)
        defer { ToolProcess.cleanUp(output.path, error.path) }
        process.waitUntilExit()
        let lines = String(decoding: try Data(contentsOf: output), as: UTF8.self).split(separator: "\n").map(String.init)
        try #require(process.terminationStatus == 0 && lines.count == 7, "\(lines)")
        #expect(lines[0] == "[\"Binary\", \"InMemory\", \"RecordLog\"]" && lines[1] == "types: done")
        for (line, step) in [(lines[2], "metadata"), (lines[3], "add"), (lines[6], "container")] {
            #expect(line.hasPrefix("\(step): NSCocoaErrorDomain \(NSPersistentStoreInvalidTypeError) "))
            #expect(line.contains("\"SQLite\"") && line.contains("HeartwoodCore") && line.contains("Depend on the product Heartwood"))
        }
        #expect(lines[4] == "nowhere: done" && lines[5] == "log: done")
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("App.heartwood").path))
    }
}
