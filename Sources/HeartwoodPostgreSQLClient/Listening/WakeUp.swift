internal import Foundation
internal import Synchronization

/// Wakes a thread that waits for a socket.
final class WakeUp: Sendable {
    private let closed = Atomic(false)

    #if os(Windows)
        // A wait on Windows takes sockets alone, so it ends each quarter of a second and looks.
        let descriptor: CInt? = nil

        init() throws(PostgreSQLError) {}
        func close() { closed.store(true, ordering: .releasing) }
    #else
        private let ends: (read: CInt, write: CInt)

        var descriptor: CInt? { ends.read }

        init() throws(PostgreSQLError) {
            var pair: [CInt] = [-1, -1]
            guard pipe(&pair) == 0 else { throw PostgreSQLError(.unavailable, "The system has no pipe left: \(String(cString: strerror(errno))).") }
            ends = (pair[0], pair[1])
            for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }

        deinit {
            _ = Foundation.close(ends.read)
            _ = Foundation.close(ends.write)
        }

        /// The byte stays in the pipe, so each later wait ends as well.
        func close() {
            guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
            var byte: UInt8 = 1
            _ = write(ends.write, &byte, 1)
        }
    #endif

    var isClosed: Bool { closed.load(ordering: .acquiring) }
}
