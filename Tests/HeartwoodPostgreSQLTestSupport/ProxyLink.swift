import Foundation
import Synchronization

/// One connection through the proxy.
final class ProxyLink: Sendable {
    private let client: CInt
    private let server: CInt
    private let toServer: ProxyLane
    private let toClient: ProxyLane

    init(client: CInt, server: CInt) {
        self.client = client
        self.server = server
        toServer = ProxyLane(from: client, to: server, .toServer)
        toClient = ProxyLane(from: server, to: client, .toClient)
    }

    /// The lanes close the descriptors when both have ended: a number must not come again while a lane uses it.
    func begin(_ proxy: PostgreSQLProxy) {
        let rest = Mutex(4)
        let ended: @Sendable () -> Void = { [self] in
            cut()
            let isLast = rest.withLock { rest in
                rest -= 1
                return rest == 0
            }
            guard isLast else { return }
            close(client)
            close(server)
        }
        for lane in [toServer, toClient] { lane.begin(proxy, self, ended) }
    }

    /// Both sides see the end.
    func cut() {
        shutdown(client, CInt(SHUT_RDWR))
        shutdown(server, CInt(SHUT_RDWR))
        toServer.end()
        toClient.end()
    }

    func hold() {
        toServer.hold()
        toClient.hold()
    }

    func release() {
        toServer.release()
        toClient.release()
    }
}
