import Foundation
import Synchronization

/// Passes the bytes of connections to a server on this machine and back, and breaks those that a test names.
final class Relay: Sendable {
    enum Mode: Sendable {
        case pass
        /// The connection ends after so many bytes to the server.
        case cutUpload(after: Int)
        /// The connection ends after so many bytes from the server.
        case cutDownload(after: Int)
        /// The first request that begins so reaches the server, and the connection ends before its answer.
        case lose(request: String)
        /// No byte goes on.
        case silent
        /// The relay itself answers 503, and ends the connection.
        case throttle
    }

    let port: UInt16
    private let listener: LoopbackSocket
    private let target: UInt16
    private let mode: @Sendable (Int) -> Mode
    private let count = Mutex(0)
    private let isStopped = Mutex(false)
    private let open = Mutex<[Int32: LoopbackSocket]>([:])

    /// - Parameter mode: of each connection, by its number from 0.
    init(to target: UInt16, mode: @escaping @Sendable (Int) -> Mode) throws {
        guard let (listener, port) = LoopbackSocket.listening() else { throw LoopbackServer.NoSocket() }
        self.listener = listener
        self.port = port
        self.target = target
        self.mode = mode
        Thread.detachNewThread { [weak self, listener] in
            while let client = listener.accepted() {
                guard let self else {
                    client.close()
                    break
                }
                Thread.detachNewThread { self.serve(client) }
            }
            listener.close()
        }
    }

    deinit { endListening() }

    /// Once: the thread closes the descriptor afterwards, and another socket may get its number.
    private func endListening() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { listener.shutDown() }
    }

    var connections: Int { count.withLock { $0 } }

    func stop() {
        endListening()
        open.withLock { open in open.values.forEach { $0.shutDown() } }
    }

    private func note(_ socket: LoopbackSocket, isOpen: Bool) { open.withLock { $0[socket.descriptor] = isOpen ? socket : nil } }

    private func serve(_ client: LoopbackSocket) {
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        note(client, isOpen: true)
        defer {
            note(client, isOpen: false)
            client.shutDown()
            client.close()
        }
        let mode = mode(number)
        switch mode {
        case .silent: while client.receive() != nil {}
        case .throttle:
            _ = client.receive()
            let body = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
            client.send(Array("HTTP/1.1 503 Slow Down\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)".utf8))
        default: pass(client, mode)
        }
    }

    private func pass(_ client: LoopbackSocket, _ mode: Mode) {
        guard let server = LoopbackSocket.connected(to: target) else { return }
        note(server, isOpen: true)
        let done = DispatchSemaphore(value: 0)
        let isLost = Mutex(false)
        Thread.detachNewThread { [self] in
            back(server, client, mode, isLost: { isLost.withLock { $0 } })
            done.signal()
        }
        var sent = 0
        while let bytes = client.receive() {
            if case .lose(let start) = mode, bytes.starts(with: start.utf8) { isLost.withLock { $0 = true } }
            sent += bytes.count
            guard server.send(bytes) else { break }
            if case .cutUpload(after: let limit) = mode, sent >= limit { break }
        }
        server.shutDown()
        client.shutDown()
        done.wait()
        note(server, isOpen: false)
        server.close()
    }

    private func back(_ server: LoopbackSocket, _ client: LoopbackSocket, _ mode: Mode, isLost: () -> Bool) {
        var received = 0
        while let bytes = server.receive() {
            if isLost() { break }
            received += bytes.count
            guard client.send(bytes) else { break }
            if case .cutDownload(after: let limit) = mode, received >= limit { break }
        }
        client.shutDown()
        server.shutDown()
    }
}
