internal import Foundation
internal import Synchronization

/// One connection to a server. One thread at a time uses it; `cancel` alone is for any thread.
///
/// idle -> running -> idle; any loss of the connection -> broken. A broken connection throws `connectionLost` for each further statement.
package final class PostgreSQLConnection: @unchecked Sendable {
    // Unchecked: its users agree on who has it, as `PostgreSQLPool` does.

    let library: LibPQ
    /// nil once it is closed.
    var handle: LibPQ.Connection?
    let configuration: PostgreSQLConfiguration
    let canceller: StatementCanceller
    let notices: NoticeBox
    var prepared: PreparedStatements
    /// True once libpq or the server has given the connection up.
    var isBroken = false
    /// The run that `send` has begun. The next `execute` takes its answers.
    var ahead: BatchRun?
    /// The times that this connection has waited for the server, as a proxy between both would count them.
    package internal(set) var roundTrips = 0

    /// Opens a connection and runs `configuration.setUp`.
    /// - Throws: `noLibrary`, `badConnectionString`, `cannotConnect`, or the error of a statement of `setUp`.
    package init(_ configuration: PostgreSQLConfiguration) throws(PostgreSQLError) {
        let library = try LibPQ.loaded.get()
        let opened = try ConnectionOpening(library, configuration).open()
        self.library = library
        self.configuration = configuration
        handle = opened
        canceller = StatementCanceller(library, opened)
        notices = NoticeBox(library, configuration.onNotice)
        prepared = PreparedStatements(max: configuration.preparedMax)
        notices.attach(to: opened)
        _ = library.setNonblocking(opened, 1)
        try setUp()
    }

    deinit { close() }

    private func setUp() throws(PostgreSQLError) {
        guard !configuration.setUp.isEmpty else { return }
        var batch = PostgreSQLBatch()
        for statement in configuration.setUp { batch.add(statement) }
        try execute(batch)
    }

    /// Ends the connection. The server rolls an open transaction back. Further calls do nothing.
    package func close() {
        guard let open = handle else { return }
        handle = nil
        ahead = nil
        isBroken = true
        canceller.end()
        library.finish(open)
    }

    var pipeline: LibPQ.Pipeline? { configuration.usesPipelines ? library.pipeline : nil }

    /// True if the connection serves statements, as far as is known without asking the server.
    package var isOpen: Bool { handle != nil && !isBroken }

    /// Whether the connection lives. Its end that the server has sent is seen without a round trip; a network that is gone is seen by asking.
    package func isAlive(asking: Bool) -> Bool {
        guard isOpen else { return false }
        // Between statements the server sends notices, notifications, and a message before its end. An end stays readable.
        while isOpen, SocketWait.isReadable(library.socket(handle)) { isBroken = library.consumeInput(handle) != 1 }
        guard isOpen, asking else { return isOpen }
        return (try? execute(Self.question)) != nil
    }

    private static let question = PostgreSQLStatement("")

    /// The server's version, as 150018 for 15.18.
    package var serverVersion: Int { Int(library.serverVersion(handle)) }

    /// The number of the server's process.
    package var serverProcess: Int32 { library.backendPID(handle) }

    /// A setting that the server reports by itself, as `server_encoding`, `in_hot_standby`, or another server's `crdb_version`.
    package func setting(_ name: String) -> String? { library.parameterStatus(handle, name).map { String(cString: $0) } }

    package enum TransactionState: Sendable { case idle, open, failed, unknown }

    /// The transaction as the server's last answer has it. `PGTransactionStatusType` of libpq.
    package var transactionState: TransactionState {
        switch library.transactionStatus(handle) {
        case 0: .idle
        case 2: .open
        case 3: .failed
        default: .unknown
        }
    }

    /// Asks the server to give up the statement that runs. The statement then throws `cancelled`. Does nothing when none runs. Any thread.
    package func cancel() { canceller.cancel() }
}
