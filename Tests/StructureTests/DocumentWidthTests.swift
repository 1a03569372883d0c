import Foundation
import Testing

/// One width for the prose of all documents, so that a change of a sentence changes few lines.
@Suite struct DocumentWidthTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let columnsMax = 150

    @Test
    func `A line of prose in a document has at most 150 columns`() throws {
        let files = try #require(
            FileManager.default.enumerator(at: Self.root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "md" && !$0.pathComponents.contains(".build") }
        #expect(files.count > 50, "the documents are there")
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(Self.tooLong(text).isEmpty, "\(file.path): lines \(Self.tooLong(text))")
        }
    }

    @Test
    func `A long line of prose is found, and one of code or of a table is none`() {
        let long = String(repeating: "word ", count: 40)
        #expect(Self.tooLong("short\n\(long)\n| \(long) |\n```\n\(long)\n```\n# \(long)\n- \(long)") == [2, 8])
    }

    /// The numbers of the lines that wrapping would have made shorter.
    private static func tooLong(_ text: String) -> [Int] {
        var isCode = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let start = line.drop { $0 == " " }
            if start.hasPrefix("```") { isCode.toggle() }
            let isProse = !isCode && !start.hasPrefix("|") && !start.hasPrefix("#") && !start.hasPrefix("<") && start.contains(" ")
            return isProse && line.count > columnsMax ? index + 1 : nil
        }
    }
}
