/// CSV as in RFC 4180, except that a line ends with a line feed only.
enum DelimitedText {
    /// A line with its end. null is an empty field, an empty text two quotes.
    static func line(_ fields: [String?]) -> String {
        fields.map { $0.map(quoted) ?? "" }.joined(separator: ",") + "\n"
    }

    private static func quoted(_ field: String) -> String {
        // Bytes, because a character may be a quote with a combining accent.
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
