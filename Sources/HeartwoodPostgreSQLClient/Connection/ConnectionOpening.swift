internal import Foundation

/// Opens connections. libpq reads the connection string, service files, the password file and the environment.
struct ConnectionOpening {
    let library: LibPQ
    let configuration: PostgreSQLConfiguration

    init(_ library: LibPQ, _ configuration: PostgreSQLConfiguration) {
        self.library = library
        self.configuration = configuration
    }

    func open() throws(PostgreSQLError) -> LibPQ.Connection {
        let secrets = try ConnectionString(library, configuration.connectionString).check()
        // A later word hides an earlier one: the client takes texts as UTF-8 whatever the environment says.
        var words = [("fallback_application_name", "heartwood")]
        if !setsTimeout { words.append(("connect_timeout", "\(max(2, configuration.connectTimeout))")) }
        words += [("dbname", configuration.connectionString), ("client_encoding", "UTF8")]
        guard let connection = Self.call(library, words) else {
            throw PostgreSQLError(.cannotConnect, "libpq has no memory for a connection.")
        }
        guard library.status(connection) == 0 else {
            defer { library.finish(connection) }
            let text = library.errorMessage(connection).map { String(cString: $0) } ?? ""
            throw PostgreSQLError(.cannotConnect, secrets.hidden(in: text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
        return connection
    }

    /// A word of ours would hide the value of a service file, so a service says it, or nobody.
    private var setsTimeout: Bool {
        let environment = ProcessInfo.processInfo.environment
        let text = configuration.connectionString
        return text.contains("connect_timeout") || text.contains("service") || environment["PGCONNECT_TIMEOUT"] != nil
            || environment["PGSERVICE"] != nil
    }

    private static func call(_ library: LibPQ, _ words: [(String, String)]) -> LibPQ.Connection? {
        let texts = (words.map(\.0) + words.map(\.1)).map { strdup($0) }
        defer { for text in texts { free(text) } }
        let keywords = texts.prefix(words.count).map { $0.map { UnsafePointer($0) } } + [nil]
        let values = texts.suffix(words.count).map { $0.map { UnsafePointer($0) } } + [nil]
        return library.connect(keywords, values, 1)
    }
}
