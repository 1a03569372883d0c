import Foundation
import Testing

@testable import HeartwoodTool

@Suite struct HelpTests {
    private static let names = HeartwoodTool.commands.map { $0.name }

    @Test(arguments: names)
    func `The help of a command begins by what it does, has each option, and keeps within 100 columns`(name: String) throws {
        let command = try #require(HeartwoodTool.commands.first { $0.name == name }), declaration = command.declaration
        let result = try ToolProcess.run(name, "--help")
        #expect(result.status == 0)
        #expect(result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").hasPrefix("heartwood \(name): \(declaration.summary)"))
        for line in result.output.split(separator: "\n") where line.count > HelpText.columns {
            // Nothing breaks an example.
            #expect(line.hasPrefix("  heartwood "), "\(line)")
        }
        for option in declaration.options { #expect(result.output.contains("\n  \(option.heading)"), "\(option.title)") }
        for form in declaration.forms { #expect(result.output.contains("heartwood \(name)\(form.keyword.map { " \($0)" } ?? "")")) }
        for exit in declaration.exits { #expect(result.output.contains("\n  \(exit.code)  ")) }
        #expect(try ToolProcess.run("help", name).output == result.output)
    }

    @Test(arguments: names)
    func `Help fits a narrow terminal`(name: String) throws {
        let command = try #require(HeartwoodTool.commands.first { $0.name == name })
        let lines = HelpText(name, command.declaration, terminal: 60).text.split(separator: "\n")
        // Words and headings that are longer than the room beside them stay whole.
        let long = lines.filter { $0.count > 60 && !$0.hasPrefix("  heartwood ") && $0.split(separator: " ").count > 3 }
        #expect(long.isEmpty, "\(long)")
    }

    @Test
    func `The version is that of the first heading of the changelog`() throws {
        let log = try String(contentsOf: ToolProcess.root.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
        let heading = log.split(separator: "\n").first { $0.hasPrefix("## ") }
        #expect(heading.map { $0.dropFirst(3) } == HeartwoodTool.version[...])
        let result = try ToolProcess.run("--version")
        #expect(result.status == 0 && result.output == "heartwood \(HeartwoodTool.version)\n")
    }

    @Test
    func `The manual page is faultless to the checkers that are installed`() throws {
        let page = ToolProcess.temporaryPath("1")
        defer { ToolProcess.cleanUp(page) }
        let manual = try ToolProcess.run("manual")
        try manual.output.write(toFile: page, atomically: true, encoding: .utf8)
        for name in HeartwoodTool.commands.map({ $0.name }) {
            #expect(manual.output.contains(".SS heartwood \(name.replacing("-", with: #"\-"#))\n"), "\(name)")
        }
        let checkers = [("mandoc", ["-Tlint", "-Wwarning", page]), ("groff", ["-man", "-ww", "-z", "-Tutf8", "-K", "utf8", page])]
        let found = checkers.compactMap { name, words in Shell.path(of: name).map { ($0, words) } }
        if found.isEmpty { print("neither mandoc nor groff is installed, so nothing checks the manual page") }
        for (checker, words) in found {
            let result = try ToolProcess.runWords(words, executable: checker)
            #expect(result.status == 0 && result.output + result.error == "", "\(checker.path): \(result.output)\(result.error)")
        }
    }

    @Test
    func `The guide has the tables of all options as the tool prints them`() throws {
        let guide = try String(
            contentsOf: ToolProcess.root.appendingPathComponent("Sources/Heartwood/Heartwood.docc/CommandLine.md"), encoding: .utf8)
        #expect(guide.contains("\n\(OptionTables.text)\n"), "the guide is old: run .ci/option-tables")
    }
}
