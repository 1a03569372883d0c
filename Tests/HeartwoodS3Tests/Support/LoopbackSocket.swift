import HeartwoodPlatform

/// A TCP socket on this machine, with blocking calls. Each end of it belongs to a thread of its own.
struct LoopbackSocket: Sendable {
    let descriptor: Int32

    /// A socket that listens at a port which the system chooses.
    static func listening() -> (socket: LoopbackSocket, port: UInt16)? {
        guard let socket = make() else { return nil }
        var address = address(port: 0)
        let isBound = withSocketAddress(&address) { bind(socket.descriptor, $0, $1) } == 0
        guard isBound, listen(socket.descriptor, 64) == 0 else { return nil }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket.descriptor, $0, &size) == 0 }
        }
        return isNamed ? (socket, UInt16(bigEndian: address.sin_port)) : nil
    }

    static func connected(to port: UInt16) -> LoopbackSocket? {
        guard let socket = make() else { return nil }
        var address = address(port: port)
        guard withSocketAddress(&address, { connect(socket.descriptor, $0, $1) }) == 0 else {
            socket.close()
            return nil
        }
        return socket
    }

    private static func make() -> LoopbackSocket? {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return nil }
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return LoopbackSocket(descriptor: descriptor)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress<R>(_ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    func accepted() -> LoopbackSocket? {
        let descriptor = accept(descriptor, nil, nil)
        return descriptor < 0 ? nil : LoopbackSocket(descriptor: descriptor)
    }

    /// nil at the connection's end.
    func receive(_ count: Int = 65536) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, count, 0) }
        return got > 0 ? Array(bytes.prefix(got)) : nil
    }

    /// - Returns: false if the other end is gone.
    @discardableResult func send(_ bytes: some Collection<UInt8>) -> Bool {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { HeartwoodPlatform.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Ends both directions; a thread that waits in a call returns.
    func shutDown() { _ = shutdown(descriptor, 2) }

    func close() { _ = HeartwoodPlatform.close(descriptor) }
}
