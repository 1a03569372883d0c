/// Text in lines of at most a number of columns.
enum WrappedText {
    /// Puts words into lines. Line ends of the text count as spaces; a word that is longer than a line has one to itself.
    static func lines(_ text: String, width: Int) -> [String] {
        join(text.split(whereSeparator: \.isWhitespace).map(String.init), width: width)
    }

    /// Puts parts that stay whole into lines.
    static func join(_ parts: [String], width: Int) -> [String] {
        var lines: [String] = [], column = 0
        for part in parts {
            let partWidth = DisplayWidth.of(part)
            if !lines.isEmpty, column + 1 + partWidth <= width {
                lines[lines.count - 1] += " " + part
                column += 1 + partWidth
            } else {
                lines.append(part)
                column = partWidth
            }
        }
        return lines
    }

    /// The paragraphs of a text, between which lines are empty.
    static func paragraphs(_ text: String) -> [String] { text.split(separator: "\n\n").map(String.init) }
}
