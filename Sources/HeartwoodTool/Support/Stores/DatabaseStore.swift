import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite

/// The commands' policy for stores in PostgreSQL databases, which URLs name.
enum DatabaseStore {
    static let help = """
        STORE may be postgresql://user@host/database?schema=NAME. The password comes from PGPASSWORD, ~/.pgpass or a service file.
        """

    static func isOne(_ word: String) -> Bool { StoreTransfer.isURL(word) }

    static func url(_ word: String) throws -> URL {
        guard let url = URL(string: word) else { throw unreadable }
        return url
    }

    static func transfer(_ word: String) throws -> StoreTransfer { try StoreTransfer(url(word)) }

    /// The store's URL as output shows it.
    static func shown(_ word: String) throws -> String { try transfer(word).shown }

    /// Refuses a command that works on files.
    /// - Parameter instead: the advice, as a sentence without its end.
    static func refuse(_ words: [String], _ instead: String) throws {
        guard let word = words.first(where: isOne) else { return }
        throw ToolError.usage("\(try shown(word)) is a store in a PostgreSQL database; \(instead)")
    }

    // MARK: Passwords

    /// Cites nothing: a part of a password may stand anywhere in such a URL.
    private static let unreadable = ToolError.usage(
        "the URL of the PostgreSQL store cannot be read; it is postgresql://user@host:port/database?schema=name, where signs such as @ : / ? # % in a "
            + "part are percent-encoded. Leave the password out: PGPASSWORD, ~/.pgpass or a service file has it")

    /// Takes the passwords out of URLs among a command's arguments, so that no message can show them, and gives them to libpq by its variable.
    /// - Throws: for a URL that cannot be read, and for two passwords.
    static func withoutPasswords(_ words: [String]) throws -> [String] {
        var passwords: Set<String> = []
        let kept = try words.map { word in
            // An option's value may stand behind its name.
            let start = word.hasPrefix("--") ? word.firstIndex(of: "=").map { word.index(after: $0) } ?? word.endIndex : word.startIndex
            let value = String(word[start...])
            guard isOne(value) else { return word }
            return word[..<start] + (try withoutPassword(value, &passwords))
        }
        guard passwords.count < 2 else { throw ToolError.usage("the stores have two passwords; a service file or ~/.pgpass tells them apart") }
        if let password = passwords.first { setenv("PGPASSWORD", password, 1) }
        return kept
    }

    private static func withoutPassword(_ word: String, _ passwords: inout Set<String>) throws -> String {
        let body = word.components(separatedBy: "://").dropFirst().joined(separator: "://").prefix { $0 != "?" }
        // A raw sign of a password would make a part of it the host or the database.
        if let at = body.lastIndex(of: "@") {
            guard body.firstIndex(of: "@") == at, !body[..<at].contains("/") else { throw unreadable }
        }
        guard var parts = URLComponents(string: word), !body.contains("#") else { throw unreadable }
        if let password = parts.password, !password.isEmpty { passwords.insert(password) }
        parts.password = nil
        for item in parts.queryItems ?? [] where item.name == "password" { passwords.insert(item.value ?? "") }
        guard !(parts.queryItems ?? []).contains(where: { $0.name == "sslpassword" }) else {
            throw ToolError.usage("a URL with sslpassword would show it; put it into a service file")
        }
        if parts.queryItems != nil { parts.queryItems?.removeAll { $0.name == "password" } }
        guard let text = parts.string else { throw unreadable }
        return text
    }
}
