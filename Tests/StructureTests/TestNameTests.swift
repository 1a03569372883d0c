import Foundation
import Testing

/// A display name beside a function's name is a second name, and the two drift apart.
@Suite struct TestNameTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test
    func `A test has one name, which its function has`() throws {
        let files = try #require(FileManager.default.enumerator(at: Self.tests, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 100, "the tests are there")
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            let names = text.matches(of: /@(?:Test|Suite)\(\s*"([^"]*)"/).map { String($0.output.1) }
            #expect(names.isEmpty, "\(file.path): \(names)")
        }
    }
}
