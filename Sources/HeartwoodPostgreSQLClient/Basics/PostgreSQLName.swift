/// A name as SQL text.
package enum PostgreSQLName {
    /// The server cuts longer names off. Source: https://www.postgresql.org/docs/15/sql-syntax-lexical.html
    package static let bytesMax = 63

    /// The name in double quotes, whatever signs it has.
    /// - Throws: `badValue` for an empty name, and for one with U+0000.
    package static func quoted(_ name: String) throws(PostgreSQLError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw PostgreSQLError(.badValue, "A name is empty, or contains U+0000.") }
        return quoted(sound: name)
    }

    /// The same for a name that is known to be neither empty nor to contain U+0000.
    package static func quoted(sound name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}
