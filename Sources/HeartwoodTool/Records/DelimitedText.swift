/// CSV as RFC 4180 has it, but for the end of a line, which is a line feed alone.
enum DelimitedText {
    /// A line with its end. No value is an empty field, an empty text one of two quotes.
    static func line(_ fields: [String?]) -> String {
        fields.map { $0.map(quoted) ?? "" }.joined(separator: ",") + "\n"
    }

    private static func quoted(_ field: String) -> String {
        // By bytes: a character may be a quote with an accent on it.
        let bytes = field.utf8
        guard bytes.isEmpty || bytes.contains(where: { [0x2C, 0x22, 0x0A, 0x0D].contains($0) }) else { return field }
        var result = "\""
        for scalar in field.unicodeScalars {
            if scalar == "\"" { result.unicodeScalars.append(scalar) }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
