import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// Where a store is: a database, and the schema in it that has the store's tables.
struct StoreLocation: Sendable {
    /// The client's connection string. It may have a password, so it stands in no message.
    let connection: String
    let schema: String
    /// The location as messages show it.
    let shown: String

    static let defaultSchema = "heartwood", parameter = "schema"

    /// A table of the store's own, as it stands in statements.
    func table(_ name: String) -> String { SQLName.quoted(schema) + "." + name }

    /// The URL of the schema in which a store is made that takes the place of this one.
    func beside(_ url: URL) throws -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) ?? URLComponents()
        let items = (parts.queryItems ?? []).filter { $0.name != Self.parameter }
        parts.queryItems = items + [URLQueryItem(name: Self.parameter, value: SQLName.bounded(schema + "_migrating"))]
        guard let made = parts.url else { throw CoreDataError.make(NSPersistentStoreOpenError, "\(shown): the URL takes no other schema.") }
        return made
    }

    static func isPlace(_ url: URL) -> Bool { ["postgresql", "postgres"].contains(url.scheme) }

    /// Reads `postgresql://user@host:port/database?schema=name`; the rest of the query is the client's.
    /// - Throws: 134080 for another URL.
    init(_ url: URL?) throws {
        guard let url, Self.isPlace(url), var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "A store of the type \(NSPostgreSQLStoreType) needs a URL such as postgresql://host/database?schema=name; "
                    + "\(url.map { $0.scheme ?? "a path" } ?? "none") was given.")
        }
        let items = parts.queryItems ?? []
        schema = items.last { $0.name == Self.parameter }?.value ?? Self.defaultSchema
        guard !schema.isEmpty, SQLName.bounded(schema) == schema, !schema.hasPrefix("pg_") else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The schema \"\(schema)\" has a name that the server does not take: 1 to \(PostgreSQLName.bytesMax) bytes, "
                    + "not beginning with pg_.")
        }
        let kept = items.filter { $0.name != Self.parameter }
        parts.queryItems = kept.isEmpty ? nil : kept
        connection = parts.string ?? url.absoluteString
        parts.queryItems = (kept.filter { !["password", "sslpassword", "passfile"].contains($0.name) }) + [URLQueryItem(name: Self.parameter, value: schema)]
        parts.password = nil
        shown = parts.string ?? "postgresql:"
    }
}
