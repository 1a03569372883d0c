import Foundation
import Synchronization

/// Stands between clients and a server, on a socket of its own. It counts and delays messages, cuts connections, and changes what passes.
package final class PostgreSQLProxy: Sendable {
    package enum Direction: Sendable, CaseIterable { case toServer, toClient }

    /// What happens behind a message.
    package struct Fault: Sendable {
        package enum Action: Sendable, Equatable {
            /// Both sides see the connection's end.
            case cut
            /// Half of the next message passes before the end.
            case cutInside
            /// Nothing passes any more, in either direction. Both sides see nothing of it.
            case hold
            /// The client sees the end, the server nothing of it: the next message, and what the client sends behind it, arrive once so many messages
            /// have passed on other connections, and then the end. So a client that tries again has two requests on the way.
            case leave(others: Int)
            /// As `hold`, until so many messages have passed on other connections.
            case late(others: Int)
        }

        let direction: Direction
        let messages: Int
        let action: Action
        let counts: @Sendable ([UInt8]) -> Bool

        /// - Parameter messages: so many messages of the direction still pass.
        /// - Parameter counts: the messages that count. Notices pass at any time, so a count of all messages may be met earlier than it was measured.
        package init(
            _ action: Action, after messages: Int, _ direction: Direction, counts: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
        ) {
            self.direction = direction
            self.messages = messages
            self.action = action
            self.counts = counts
        }

        /// Holds the server's next answer from within a transaction (ReadyForQuery with the state T).
        package static var holdingTransaction: Fault {
            Fault(.hold, after: 1, .toClient) { $0.first == UInt8(ascii: "Z") && $0.last == UInt8(ascii: "T") }
        }
    }

    package typealias Rewriting = @Sendable (Direction, [UInt8]) -> [UInt8]

    struct State {
        var links: [ProxyLink] = []
        var delay = Duration.zero
        var fault: Fault?
        /// Called once the fault has happened.
        var onFault: (@Sendable () -> Void)?
        /// Messages of the fault's direction since it was set.
        var passed = 0
        var rewrite: Rewriting?
        var trips = 0
        var last = Direction.toClient
        var messages: [Direction: [UInt8]] = [:]
        var isRefusing = false
        /// The connection that its client has left, and the messages of others that it still waits for.
        var left: (link: ProxyLink, others: Int)?
        /// The most bytes that arrive at once; nil for any number.
        var piece: Int?
        var isClosed = false
    }

    let state = Mutex(State())
    private let target: String
    private let folder: String
    private let listening: CInt
    /// As libpq takes it.
    package let connectionString: String

    /// - Parameter socketFolder: the folder of the server's socket.
    package init(to socketFolder: String) throws(PostgreSQLTestServer.Failure) {
        target = socketFolder + "/.s.PGSQL.5432"
        folder = NSTemporaryDirectory() + "hw-px-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        guard mkdir(folder, 0o700) == 0, let listening = UnixSocket.listen(at: folder + "/.s.PGSQL.5432") else {
            throw PostgreSQLTestServer.Failure(description: "no socket can be made in \(folder): errno \(errno)")
        }
        self.listening = listening
        connectionString = "host=\(folder) user=postgres dbname=postgres"
        Thread.detachNewThread { [weak self, listening] in
            while case let client = accept(listening, nil, nil), client >= 0 {
                guard let self else { return }
                take(client)
            }
        }
    }

    deinit { close() }

    private func take(_ client: CInt) {
        let isRefusing = state.withLock { $0.isRefusing || $0.isClosed }
        guard !isRefusing, let server = UnixSocket.connect(to: target) else {
            _ = Foundation.close(client)
            return
        }
        let link = ProxyLink(client: client, server: server)
        state.withLock { $0.links.append(link) }
        link.begin(self)
    }

    /// Ends all connections, and takes no further ones.
    package func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        cutAll()
        shutdown(listening, CInt(SHUT_RDWR))
        _ = Foundation.close(listening)
        try? FileManager.default.removeItem(atPath: folder)
    }

    // MARK: What it does to messages

    /// The time that each message takes in each direction. A round trip takes twice as long.
    package func setDelay(_ delay: Duration) { state.withLock { $0.delay = delay } }

    /// Sets the next fault, which happens once. nil takes a fault back, and lets held messages pass.
    /// - Parameter then: called once it has happened.
    package func setFault(_ fault: Fault?, then: (@Sendable () -> Void)? = nil) {
        let links = state.withLock { state in
            state.fault = fault
            state.onFault = then
            state.passed = 0
            return state.links
        }
        if fault == nil { for link in links { link.release() } }
        if let fault, fault.messages == 0, fault.action == .cut { cutAll() }
    }

    /// Sets the most bytes that arrive at once; nil for any number.
    package func setPiece(_ count: Int?) { state.withLock { $0.piece = count } }

    /// Changes messages. A message has its type's byte, its length and its content.
    package func setRewriting(_ rewrite: Rewriting?) { state.withLock { $0.rewrite = rewrite } }

    /// While it refuses, a new connection ends at once.
    package func setRefusing(_ isRefusing: Bool) { state.withLock { $0.isRefusing = isRefusing } }

    /// Ends all connections.
    package func cutAll() {
        let links = state.withLock { state in
            defer { state.links = [] }
            return state.links
        }
        for link in links { link.cut() }
    }

    // MARK: What it counts

    package struct Count: Sendable {
        /// Changes of the direction from answers to requests.
        package var roundTrips = 0
        /// The types of the messages in their order: a letter of the protocol each.
        package var toServer = ""
        package var toClient = ""
    }

    /// Counts what passes while `body` runs.
    package func count(_ body: () throws -> Void) rethrows -> Count {
        state.withLock { state in
            state.trips = 0
            state.last = .toClient
            state.messages = [:]
        }
        try body()
        return state.withLock { state in
            func types(_ direction: Direction) -> String { String(decoding: state.messages[direction] ?? [], as: UTF8.self) }
            return Count(roundTrips: state.trips, toServer: types(.toServer), toClient: types(.toClient))
        }
    }
}
