/// What `--help` of a command prints.
struct HelpText {
    private let name: String
    private let declaration: CommandDeclaration
    private let width: Int
    private static let indentation = "  "
    private static let headingMax = 24

    /// - Parameter terminal: the columns of the terminal; nil if the text goes elsewhere.
    init(_ name: String, _ declaration: CommandDeclaration, terminal: Int?) {
        self.name = name
        self.declaration = declaration
        width = min(max(terminal ?? Self.columns, 40), Self.columns)
    }

    static let columns = 100

    var text: String {
        let parts: [[String]] = [
            WrappedText.lines("heartwood \(name): \(declaration.summary)", width: width), usage,
            section("ARGUMENTS", declaration.arguments.map { ($0.name, declaration.text(of: $0)) }),
            section("OPTIONS", declaration.options.map { ($0.heading, declaration.text(of: $0)) } + [("-h, --help", "this text")]),
            section("FORMS", declaration.forms.compactMap { form in form.keyword.map { ($0, form.meaning) } }),
        ] + discussion + [
            section("EXAMPLES", declaration.examples.flatMap { [("heartwood \($0.line)", ""), ("", $0.meaning)] }), section("EXIT CODES", exits),
        ]
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var usage: [String] {
        declaration.forms.enumerated().flatMap { number, form in
            let start = (number == 0 ? "USAGE: " : "       ") + "heartwood \(name)"
            let more = String(repeating: " ", count: start.count + 1)
            let lines = WrappedText.join(form.usage, width: width - start.count - 1)
            return lines.isEmpty ? [start] : lines.enumerated().map { ($0 == 0 ? start + " " : more) + $1 }
        }
    }

    private var discussion: [[String]] {
        declaration.paragraphs.map { WrappedText.lines($0, width: width) }
    }

    private var exits: [(String, String)] { declaration.exits.map { ("\($0.code)", $0.meaning) } }

    /// Lines under a heading: a name each, and beside it what it means.
    private func section(_ title: String, _ entries: [(name: String, meaning: String)]) -> [String] {
        let widest = entries.map(\.name.count).filter { $0 <= Self.headingMax }.max() ?? 0
        let column = Self.indentation.count + (entries.contains { $0.meaning.isEmpty } ? 2 : widest + 2)
        return (entries.isEmpty ? [] : [title]) + entries.flatMap { entry(Self.indentation + $0.name, $0.meaning, column) }
    }

    private func entry(_ name: String, _ meaning: String, _ column: Int) -> [String] {
        let lines = WrappedText.lines(meaning, width: width - column).map { String(repeating: " ", count: column) + $0 }
        guard let first = lines.first, name.count + 2 <= column else { return (name.allSatisfy { $0 == " " } ? [] : [name]) + lines }
        return [DisplayWidth.padded(name, to: column) + first.dropFirst(column)] + lines.dropFirst()
    }
}
