import HeartwoodPostgreSQLTestSupport

extension Result where Success == PostgreSQLTestServer {
    /// The folder of a private server's socket; nil for a server that tests cannot stand before.
    var privateSocket: String? { PostgreSQLTestServer.isPresent ? (try? get())?.socketFolder : nil }
}

extension PostgreSQLProxy {
    /// The folder of the proxy's socket.
    var folder: String { connectionString.split(separator: " ").first { $0.hasPrefix("host=") }.map { String($0.dropFirst(5)) } ?? "" }
}
