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

    private let listener: LoopbackListener
    private let target: UInt16
    private let mode: @Sendable (Int) -> Mode
    private let count = Mutex(0)

    /// - Parameter mode: of each connection, by its number from 0.
    init(to target: UInt16, mode: @escaping @Sendable (Int) -> Mode) throws {
        listener = try LoopbackListener()
        self.target = target
        self.mode = mode
        listener.start { [weak self] in self?.serve($0) }
    }

    var port: UInt16 { listener.port }
    var connections: Int { count.withLock { $0 } }

    func stop() { listener.stop() }

    private func serve(_ client: LoopbackSocket) {
        let number = count.withLock { count in
            defer { count += 1 }
            return count
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
        listener.note(server, isOpen: true)
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
        listener.close(server)
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
