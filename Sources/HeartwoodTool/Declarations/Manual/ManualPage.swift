/// The manual page, in the macros `man` of roff.
enum ManualPage {
    static var text: String {
        let lines = [
            #".TH HEARTWOOD 1 "\#(HeartwoodTool.releaseDay)" "heartwood \#(HeartwoodTool.version)""#, ".SH NAME", #"heartwood \- \#(escaped(HeartwoodTool.title))"#,
            ".SH SYNOPSIS", ".B heartwood", #"\fICOMMAND\fR [\fIARGUMENTS\fR]"#, ".SH DESCRIPTION", paragraph(HeartwoodTool.overview),
            ".SH COMMANDS",
        ] + HeartwoodTool.commands.flatMap { section($0.name, $0.declaration) }
        return lines.joined(separator: "\n")
    }

    private static func section(_ name: String, _ declaration: CommandDeclaration) -> [String] {
        var lines = [".SS heartwood \(escaped(name))", paragraph(declaration.summary)]
        for form in declaration.forms { lines += [".PP", ".B heartwood \(escaped(name))", line(form.usage.joined(separator: " "))] }
        for form in declaration.forms { lines += form.keyword.map { tagged($0, form.meaning) } ?? [] }
        for argument in declaration.arguments { lines += tagged(argument.name, declaration.text(of: argument)) }
        for option in declaration.options { lines += tagged(option.heading, declaration.text(of: option)) }
        for text in declaration.paragraphs { lines += [".PP", paragraph(text)] }
        for example in declaration.examples { lines += tagged("heartwood \(example.line)", example.meaning) }
        lines += [".PP", "Exit codes:"]
        for exit in declaration.exits { lines += tagged("\(exit.code)", exit.meaning) }
        return lines
    }

    private static func tagged(_ name: String, _ meaning: String) -> [String] { [".TP", #"\fB"# + escaped(name) + #"\fR"#, paragraph(meaning)] }

    /// Without its line ends: a line that begins with a full stop would be a request.
    private static func paragraph(_ text: String) -> String { line(text.split(whereSeparator: \.isWhitespace).joined(separator: " ")) }

    private static func line(_ text: String) -> String {
        let text = escaped(text)
        return text.hasPrefix(".") || text.hasPrefix("'") ? #"\&"# + text : text
    }

    /// A text without commands of roff. A plain minus would be a hyphen.
    private static func escaped(_ text: String) -> String { text.replacing("\\", with: #"\e"#).replacing("-", with: #"\-"#) }
}
