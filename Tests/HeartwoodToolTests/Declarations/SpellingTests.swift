import Testing

@testable import Heartwood
@testable import HeartwoodTool

@Suite struct SpellingTests {
    @Test
    func `The distance of two words is the least number of edits between them`() {
        let distances = [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("query", "query", 0), ("qery", "query", 1), ("qurey", "query", 1),
            ("kitten", "sitting", 3), ("wehre", "where", 1), ("größe", "grosse", 3),
        ]
        for (left, right, distance) in distances {
            #expect(Spelling.distance(left, right) == distance, "\(left) \(right)")
            #expect(Spelling.distance(right, left) == distance, "\(right) \(left)")
        }
    }

    @Test
    func `A word that is like a name is meant to be it, and others are not`() {
        let names = ["query", "inspect", "export", "log"]
        #expect(Spelling.closest(to: "Querry", among: names) == "query")
        #expect(Spelling.closest(to: "exprot", among: names) == "export")
        #expect(Spelling.closest(to: "lgo", among: names) == "log")
        for word in ["x", "explode", "", "zzzz", String(repeating: "q", count: 10_000)] {
            #expect(Spelling.closest(to: word, among: names) == nil, "\(word.prefix(20))")
        }
    }

    @Test
    func `The tool asks whether a misspelled command, option, entity or choice is meant`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        let questions = [
            (["qurey", store, "Package"], "query"), (["query", store, "Package", "--wher", "1 == 1"], "--where"),
            (["query", store, "Pakage"], "Package"), (["query", store, "Package", "--format", "jsn"], "json"),
            (["query", store, "Package", "--select", "nmae"], "name"), (["query", store, "Package", "--sort", "-nmae"], "name"),
            (["query", store, "Package", "--where", "section.nmae == 'x'"], "name"),
            (["import", store, "--entity", "Package", "--key", "nmae", ToolProcess.excerpt], "name"),
        ]
        for (words, meant) in questions {
            let result = try ToolProcess.runWords(words)
            #expect(result.status == 2 && result.error.contains("(did you mean \(meant)?)"), "\(result.error)")
        }
    }
}
