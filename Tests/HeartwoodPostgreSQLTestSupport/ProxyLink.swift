import Foundation
import Synchronization

/// One connection through the proxy.
final class ProxyLink: Sendable {
    private let client: CInt
    private let server: CInt
    private let toServer: ProxyLane
    private let toClient: ProxyLane
    /// The threads that use the descriptors. After the last one their numbers may belong to others.
    private let users = Mutex(0)

    init(client: CInt, server: CInt) {
        self.client = client
        self.server = server
        toServer = ProxyLane(from: client, to: server, .toServer)
        toClient = ProxyLane(from: server, to: client, .toClient)
    }

    func begin(_ proxy: PostgreSQLProxy) {
        users.withLock { $0 = 4 }
        for lane in [toServer, toClient] {
            lane.begin(proxy, self) { [self] in
                cut()
                leave()
            }
        }
    }

    private func leave() {
        users.withLock { users in
            users -= 1
            guard users == 0 else { return }
            close(client)
            close(server)
        }
    }

    /// Both sides see the end.
    func cut() {
        users.withLock { users in
            guard users > 0 else { return }
            shutdown(client, CInt(SHUT_RDWR))
            shutdown(server, CInt(SHUT_RDWR))
        }
        toServer.end()
        toClient.end()
    }

    /// The client sees the end, and may still send.
    func leaveClient() {
        users.withLock { users in if users > 0 { shutdown(client, CInt(SHUT_WR)) } }
    }

    func hold() {
        toServer.hold()
        toClient.hold()
    }

    /// Holds what passes in the opposite direction.
    func hold(against direction: PostgreSQLProxy.Direction) {
        switch direction {
        case .toServer: toClient.hold()
        case .toClient: toServer.hold()
        }
    }

    func release() {
        toServer.release()
        toClient.release()
    }
}
