import Foundation
import Synchronization

/// Accepts connections at a port of this machine. Each one is served on a thread of its own, and closed afterwards.
final class LoopbackListener: Sendable {
    struct NoSocket: Error {}

    let port: UInt16
    private let socket: LoopbackSocket
    private let open = Mutex<[Int32: LoopbackSocket]>([:])
    private let isStopped = Mutex(false)

    init() throws {
        guard let (socket, port) = LoopbackSocket.listening() else { throw NoSocket() }
        (self.socket, self.port) = (socket, port)
    }

    deinit { endListening() }

    /// Accepts connections until `stop`, or while this object lives.
    /// - Parameter serve: of one connection, on its thread. It must not keep this object.
    func start(_ serve: @escaping @Sendable (LoopbackSocket) -> Void) {
        Thread.detachNewThread { [weak self, socket] in
            while let connection = socket.accepted() {
                guard let self else {
                    connection.close()
                    break
                }
                self.note(connection, isOpen: true)
                Thread.detachNewThread {
                    serve(connection)
                    self.close(connection)
                }
            }
            socket.close()
        }
    }

    /// Ends all connections. Later ones are not accepted.
    func stop() {
        endListening()
        open.withLock { open in open.values.forEach { $0.shutDown() } }
    }

    /// Once: the thread closes the descriptor afterwards, and another socket may get its number.
    private func endListening() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        if isFirst { socket.shutDown() }
    }

    /// A connection that ends with the others.
    func note(_ connection: LoopbackSocket, isOpen: Bool) { open.withLock { $0[connection.descriptor] = isOpen ? connection : nil } }

    func close(_ connection: LoopbackSocket) {
        note(connection, isOpen: false)
        connection.shutDown()
        connection.close()
    }
}
