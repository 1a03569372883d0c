import Foundation
import HeartwoodPostgreSQLClient
import Synchronization

/// A server for tests, with a cluster of its own in a temporary folder, on a socket in it. It ends with this process, however that ends.
package final class PostgreSQLTestServer: Sendable {
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    /// As libpq takes it.
    package let connectionString: String
    private let cluster: ServerCluster?

    /// The server that all tests of this process share: the one that HEARTWOOD_POSTGRESQL names, or a private one, which the first use starts.
    package static let shared = Result { () throws(Failure) in
        if let named = ProcessInfo.processInfo.environment["HEARTWOOD_POSTGRESQL"] { return PostgreSQLTestServer(running: named) }
        return try PostgreSQLTestServer()
    }

    /// Why tests with a server cannot run here; nil if they can. A server that is there and does not start is no reason: its tests fail.
    package static let absence: String? = {
        if let fault = PostgreSQLLibrary.fault { return fault.message }
        if ProcessInfo.processInfo.environment["HEARTWOOD_POSTGRESQL"] != nil || ServerPrograms.folder != nil { return nil }
        return "This machine has no server of PostgreSQL. Debian's package is postgresql. HEARTWOOD_POSTGRESQL may name a running one."
    }()

    /// Whether tests with a server can run here.
    package static var isPresent: Bool { absence == nil }

    private init(running connectionString: String) {
        self.connectionString = connectionString
        cluster = nil
    }

    /// Makes a cluster and starts its server, in about a second.
    /// - Parameter preparedMax: the most prepared transactions at once; 0, a server's default, for none.
    package init(preparedMax: Int = 20) throws(Failure) {
        let cluster = try ServerCluster(preparedMax: preparedMax)
        try cluster.start()
        self.cluster = cluster
        connectionString = "host=\(cluster.folder) user=postgres dbname=postgres"
    }

    /// The one user of a private server that needs a password. A test makes it.
    package static let userWithPassword = "user_with_password"

    /// The folder of the server's socket; nil for a server that was running before.
    package var socketFolder: String? { cluster?.folder }

    /// What the server has written so far.
    package var log: String { cluster?.log ?? "" }

    /// Stops the server as a crash does: no process of it writes anything more.
    package func crash() throws(Failure) { try cluster?.perform("crash", until: ServerCluster.stopped) }

    /// Stops the server in order. It ends all connections.
    package func stop() throws(Failure) { try cluster?.perform("stop", until: ServerCluster.stopped) }

    /// Starts the server again.
    package func start() throws(Failure) { try cluster?.start() }
}
