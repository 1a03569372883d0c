internal import HeartwoodDigests
internal import HeartwoodPostgreSQLClient

/// Names of tables, columns and indexes.
enum SQLName {
    /// A bounded name as it stands in a statement.
    static func quoted(_ name: String) -> String { PostgreSQLName.quoted(sound: name) }

    /// A text as it stands in a statement that takes no parameters.
    static func literal(_ text: String) -> String {
        let quoted = text.replacing("\0", with: "\u{FFFD}").replacing("\\", with: "\\\\").replacing("'", with: "''")
        return " E'" + quoted + "'"
    }

    /// A name that the server takes: a longer one, or one with the character NUL, is cut and ends in a digest of the whole.
    static func bounded(_ name: String) -> String {
        guard name.utf8.count > PostgreSQLName.bytesMax || name.isEmpty || name.utf8.contains(0) else { return name }
        let end = "_" + Hexadecimal.text(MD5.hash(name.utf8).prefix(4))
        var start = ""
        for scalar in name.unicodeScalars where scalar != "\0" {
            guard start.utf8.count + UTF8.width(scalar) + end.utf8.count <= PostgreSQLName.bytesMax else { break }
            start.unicodeScalars.append(scalar)
        }
        return start + end
    }
}

/// Gives names of which each is there once.
struct NameSpace {
    private var taken: Set<String>

    /// - Parameter reserved: names that are never given.
    init(reserved: Set<String> = []) { taken = reserved }

    /// The bounded name, with a number behind it if it is taken.
    mutating func take(_ name: String) -> String {
        var given = SQLName.bounded(name), number = 2
        while !taken.insert(given).inserted {
            given = SQLName.bounded("\(name)_\(number)")
            number += 1
        }
        return given
    }
}
