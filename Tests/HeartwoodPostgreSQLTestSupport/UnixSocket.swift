import Foundation

/// Sockets of the local machine, by calls that wait.
enum UnixSocket {
    #if canImport(Glibc)
        private static let stream = CInt(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// - Returns: nil if the system refuses.
    static func listen(at path: String) -> CInt? {
        opened { descriptor in
            named(path) { bind(descriptor, $0, $1) } == 0 && Foundation.listen(descriptor, 64) == 0
        }
    }

    static func connect(to path: String) -> CInt? {
        opened { descriptor in named(path) { Foundation.connect(descriptor, $0, $1) } == 0 }
    }

    private static func opened(_ body: (CInt) -> Bool) -> CInt? {
        let descriptor = socket(AF_UNIX, stream, 0)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if body(descriptor) { return descriptor }
        close(descriptor)
        return nil
    }

    private static func named(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { space in
            guard path.utf8.count < space.count else { return false }
            space.copyBytes(from: path.utf8)
            return true
        }
        guard isShort else { return -1 }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// Makes writes to a closed socket fail, where they would end the process.
    static func ignoreBrokenPipes(_ descriptor: CInt) {
        #if canImport(Darwin)
            var on: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }

    /// - Returns: false if the other side is gone.
    static func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        #if canImport(Darwin)
            let flags: CInt = 0
        #else
            let flags = CInt(MSG_NOSIGNAL)
        #endif
        return bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Foundation.send(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, flags)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }
}
