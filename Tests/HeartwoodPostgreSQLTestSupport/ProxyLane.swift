import Foundation
import Synchronization

/// One direction of a connection: a thread reads, another writes what is due.
final class ProxyLane: @unchecked Sendable {
    // Unchecked: the condition guards the queue.

    private enum Piece {
        case bytes([UInt8], due: ContinuousClock.Instant)
        case cut
    }

    private let source: CInt
    private let target: CInt
    private let direction: PostgreSQLProxy.Direction
    private let condition = NSCondition()
    private var queue: [Piece] = []
    private var isHeld = false
    private var isEnded = false

    init(from source: CInt, to target: CInt, _ direction: PostgreSQLProxy.Direction) {
        self.source = source
        self.target = target
        self.direction = direction
        UnixSocket.ignoreBrokenPipes(target)
    }

    /// - Parameter ended: is called by each of the two threads when it ends.
    func begin(_ proxy: PostgreSQLProxy, _ link: ProxyLink, _ ended: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [self, weak proxy] in
            read(link) { proxy }
            // What was read before the end still passes.
            push([.cut])
            waitForEnd()
            ended()
        }
        Thread.detachNewThread { [self] in
            write()
            ended()
        }
    }

    private func waitForEnd() { condition.withLock { while !isEnded { condition.wait() } } }

    func end() { change { isEnded = true } }
    func hold() { change { isHeld = true } }
    func release() { change { isHeld = false } }

    private func change(_ body: () -> Void) {
        condition.withLock {
            body()
            condition.broadcast()
        }
    }

    private func push(_ pieces: [Piece]) { change { queue += pieces } }

    // MARK: Reading

    private func read(_ link: ProxyLink, _ proxy: () -> PostgreSQLProxy?) {
        var frames = MessageFrames(fromClient: direction == .toServer)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
            frames.add(buffer[..<count])
            guard let proxy = proxy(), pass(&frames, proxy, link) else { return }
        }
    }

    /// Passes the whole messages on.
    /// - Returns: false if the connection ends here.
    private func pass(_ frames: inout MessageFrames, _ proxy: PostgreSQLProxy, _ link: ProxyLink) -> Bool {
        var out: [UInt8] = []
        let now = ContinuousClock.now
        var due = now
        let piece = proxy.state.withLock { $0.piece }
        defer { push(Self.pieces(out, piece, due)) }
        while let message = frames.next() {
            let (kept, action, delay) = proxy.state.withLock { $0.pass(message, direction) }
            proxy.noteMessage(of: link)
            due = now + delay
            if case .leave(let others)? = action {
                push(Self.pieces(out, piece, due))
                out = kept
                drained()
                proxy.leave(link, others: others)
                continue
            }
            out += kept
            switch action {
            case nil, .leave?: continue
            case .cut, .cutInside:
                proxy.tellOfFault()
                return false
            case .hold, .late:
                // The bytes before the fault go first. The other lane holds their reader's answer.
                link.hold(against: direction)
                if !out.isEmpty { push([.bytes(out, due: due)]) }
                out = []
                drained()
                link.hold()
                if case .late(let others)? = action { proxy.state.withLock { $0.left = (link, others) } }
                proxy.tellOfFault()
            }
        }
        return true
    }

    private static func pieces(_ bytes: [UInt8], _ size: Int?, _ due: ContinuousClock.Instant) -> [Piece] {
        guard !bytes.isEmpty else { return [] }
        guard let size else { return [.bytes(bytes, due: due)] }
        return stride(from: 0, to: bytes.count, by: size).map { .bytes(Array(bytes[$0..<min($0 + size, bytes.count)]), due: due) }
    }

    private func drained() { condition.withLock { while !queue.isEmpty && !isEnded { condition.wait() } } }

    // MARK: Writing

    private func next() -> Piece? {
        condition.withLock {
            while !isEnded && (queue.isEmpty || isHeld) { condition.wait() }
            return isEnded ? nil : queue.first
        }
    }

    private func write() {
        while case .bytes(let bytes, let due)? = next() {
            let rest = ContinuousClock.now.duration(to: due)
            // The delay is what the proxy is for.
            if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
            guard UnixSocket.send(bytes, to: target) else { return }
            change { queue.removeFirst() }
        }
    }
}

extension PostgreSQLProxy {
    fileprivate func leave(_ link: ProxyLink, others: Int) {
        link.hold()
        state.withLock { $0.left = (link, others) }
        link.leaveClient()
        tellOfFault()
    }

    /// Lets a connection that its client has left go on, once others have passed enough messages.
    fileprivate func noteMessage(of link: ProxyLink) {
        let left: ProxyLink? = state.withLock { state in
            guard let left = state.left, left.link !== link else { return nil }
            state.left?.others -= 1
            guard left.others <= 1 else { return nil }
            state.left = nil
            return left.link
        }
        left?.release()
    }

    fileprivate func tellOfFault() {
        let then = state.withLock { state in
            defer { state.onFault = nil }
            return state.onFault
        }
        then?()
    }
}

extension PostgreSQLProxy.State {
    /// Notes a message.
    /// - Returns: the bytes that pass, and what happens behind them.
    fileprivate mutating func pass(
        _ message: [UInt8], _ direction: PostgreSQLProxy.Direction
    ) -> (bytes: [UInt8], action: PostgreSQLProxy.Fault.Action?, delay: Duration) {
        if direction == .toServer, last == .toClient { trips += 1 }
        last = direction
        messages[direction, default: []].append(message.first ?? 0)
        let bytes = rewrite?(direction, message) ?? message
        // A connection that was closed before the fault was set may end behind it: its farewell does not count.
        guard let fault, fault.direction == direction, message.first != UInt8(ascii: "X"), fault.counts(message) else {
            return (bytes, nil, delay)
        }
        passed += 1
        switch fault.action {
        case .cut, .hold, .late:
            guard passed >= fault.messages else { return (bytes, nil, delay) }
            self.fault = nil
            return (bytes, fault.action, delay)
        case .leave:
            guard passed > fault.messages else { return (bytes, nil, delay) }
            self.fault = nil
            return (bytes, fault.action, delay)
        case .cutInside:
            guard passed > fault.messages else { return (bytes, nil, delay) }
            self.fault = nil
            return (Array(bytes.prefix(bytes.count / 2)), fault.action, delay)
        }
    }
}
