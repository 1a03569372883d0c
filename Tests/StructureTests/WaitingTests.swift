import Foundation
import Testing

/// A test that sleeps until something has happened is slow on a fast machine, and fails on a slow one.
@Suite struct WaitingTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test
    func `A sleep in a test has a comment above it that says why it is no signal`() throws {
        let files = try #require(FileManager.default.enumerator(at: Self.tests, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 100, "the tests are there")
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            // Most files have no such word, and an expression for each of their lines takes seconds.
            guard text.contains("leep(") else { continue }
            let lines = text.components(separatedBy: "\n")
            for (before, line) in zip(lines, lines.dropFirst()) where line.contains(/\b(usleep|Thread\.sleep|Task\.sleep)\(/) {
                let isExplained = before.trimmingCharacters(in: .whitespaces).hasPrefix("//")
                #expect(isExplained, "\(file.path): \(line). Wait for a signal, as `Watched` gives, or say why there is none.")
            }
        }
    }
}
