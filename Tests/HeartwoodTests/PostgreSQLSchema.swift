import Foundation
import HeartwoodPostgreSQLClient

/// The tables of a stack's store on a PostgreSQL server, beside the store.
struct PostgreSQLSchema {
    private let url: URL

    init(of stack: TestStack) { url = stack.url }

    private func execute(_ connection: PostgreSQLConnection, _ text: String) throws -> PostgreSQLResult {
        try connection.execute(PostgreSQLStatement(text, isPrepared: false))
    }

    /// The number of pairs in the tables of all relationships.
    func pairCount() throws -> Int {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) ?? URLComponents()
        let schema = parts.queryItems?.first { $0.name == "schema" }?.value ?? ""
        parts.queryItems?.removeAll { $0.name == "schema" }
        let connection = try PostgreSQLConnection(PostgreSQLConfiguration(parts.string ?? ""))
        defer { connection.close() }
        let tables = try execute(
            connection,
            "SELECT table_name::text FROM information_schema.columns WHERE table_schema = '\(schema)' AND column_name = 'destination_e'")
        return try (0..<tables.count).reduce(0) { sum, line in
            try sum + Int(execute(connection, "SELECT count(*) FROM \"\(schema)\".\"\(tables.text(line, 0))\"").int64(0, 0))
        }
    }
}
