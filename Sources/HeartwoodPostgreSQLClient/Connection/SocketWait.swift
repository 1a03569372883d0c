internal import Foundation
#if canImport(WinSDK)
    internal import WinSDK
#endif

/// Waits until a socket can be read or written.
enum SocketWait {
    struct Events: OptionSet {
        let rawValue: Int
        static let read = Events(rawValue: 1)
        static let write = Events(rawValue: 2)
    }

    #if canImport(WinSDK)
        private typealias Descriptor = WSAPOLLFD
        private static func descriptor(_ socket: CInt, _ events: Int16) -> Descriptor {
            WSAPOLLFD(fd: SOCKET(truncatingIfNeeded: socket), events: events, revents: 0)
        }
        private static func wait(_ list: inout [Descriptor], _ milliseconds: CInt) -> CInt { WSAPoll(&list, ULONG(list.count), milliseconds) }
    #else
        private typealias Descriptor = pollfd
        private static func descriptor(_ socket: CInt, _ events: Int16) -> Descriptor { pollfd(fd: socket, events: events, revents: 0) }
        private static func wait(_ list: inout [Descriptor], _ milliseconds: CInt) -> CInt { poll(&list, nfds_t(list.count), milliseconds) }
    #endif

    /// Waits for any of the events on the socket, or for bytes on `wake`.
    /// - Parameter deadline: nil to wait without an end.
    /// - Returns: false after the deadline. A signal may end the wait early, with true.
    static func wait(_ socket: CInt, for events: Events, wake: CInt? = nil, until deadline: ContinuousClock.Instant?) -> Bool {
        var bits: Int16 = 0
        if events.contains(.read) { bits |= Int16(POLLIN) }
        if events.contains(.write) { bits |= Int16(POLLOUT) }
        var list = [descriptor(socket, bits)]
        if let wake { list.append(descriptor(wake, Int16(POLLIN))) }
        return wait(&list, milliseconds(until: deadline)) != 0
    }

    /// True if the socket has bytes, or its end.
    static func isReadable(_ socket: CInt) -> Bool { wait(socket, for: .read, until: .now) }

    /// Rounded up, so that the deadline has passed when the wait ends.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
        guard let deadline else { return -1 }
        let rest = max(.zero, ContinuousClock.now.duration(to: deadline)).components
        guard rest.seconds < 1_000_000 else { return 1_000_000_000 }
        return CInt(rest.seconds * 1000 + (rest.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
