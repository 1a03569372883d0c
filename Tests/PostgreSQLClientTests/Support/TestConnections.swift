import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Runs where a server and libpq are there.
    static var withServer: Self { .enabled(if: PostgreSQLTestServer.isPresent, "\(PostgreSQLTestServer.absence ?? "")") }

    /// Runs where the server is private: a proxy stands before its socket.
    static var withPrivateServer: Self {
        .enabled(
            if: PostgreSQLTestServer.isPresent && ProcessInfo.processInfo.environment["HEARTWOOD_POSTGRESQL"] == nil,
            "\(PostgreSQLTestServer.absence ?? "A proxy needs a server of the test's own.")")
    }
}

/// A connection to the shared server.
func connect(
    _ connectionString: String? = nil, _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
) throws -> PostgreSQLConnection {
    try PostgreSQLConnection(configuration(connectionString, change))
}

func configuration(
    _ connectionString: String? = nil, _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
) throws -> PostgreSQLConfiguration {
    var configuration = PostgreSQLConfiguration(try connectionString ?? PostgreSQLTestServer.shared.get().connectionString)
    change(&configuration)
    return configuration
}

/// A proxy before the shared server.
func makeProxy() throws -> PostgreSQLProxy {
    try PostgreSQLProxy(to: #require(try PostgreSQLTestServer.shared.get().socketFolder))
}

/// The error that `body` throws.
func failure(of body: () throws -> Void, _ place: SourceLocation = #_sourceLocation) throws -> PostgreSQLError {
    let error = #expect(throws: PostgreSQLError.self, sourceLocation: place) { try body() }
    return try #require(error, sourceLocation: place)
}

extension PostgreSQLParameters {
    init(_ fill: (inout PostgreSQLParameters) throws -> Void) rethrows {
        self.init()
        try fill(&self)
    }
}
