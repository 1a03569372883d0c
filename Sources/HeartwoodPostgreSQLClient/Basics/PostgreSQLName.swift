/// A name as SQL text.
package enum PostgreSQLName {
    /// The server cuts longer names off.
    package static let bytesMax = 63

    /// The name in double quotes, whatever signs it has.
    /// - Throws: `badValue` for an empty name, and for one with U+0000.
    package static func quoted(_ name: String) throws(PostgreSQLError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw PostgreSQLError(.badValue, "A name is empty, or contains U+0000.") }
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" { text.unicodeScalars.append(scalar) }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}
