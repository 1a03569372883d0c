/// Messages over two files. Each is eight bytes of length, little-endian, and as many bytes of JSON.
struct MessageChannel {
    private let input: Int32
    private let output: Int32
    /// A compiler's message has a file's declarations at most. A larger length is taken for a broken message.
    static let lengthMax = 1 << 30
    /// A message grows by this as its bytes arrive, so that a wrong length takes no memory.
    private static let step = 1 << 20

    /// Takes over standard input and output. What the process prints from then on goes to standard error, not between the messages.
    init?() {
        guard let output = SystemCalls.takeOutput() else { return nil }
        self.output = output
        input = 0
    }

    init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Returns the next message; nil at the end of the input, or where it ends inside of one.
    func next() -> [UInt8]? {
        guard let header = read(8) else { return nil }
        var length: UInt64 = 0
        for byte in header.reversed() { length = length << 8 | UInt64(byte) }
        guard length <= UInt64(Self.lengthMax) else { return nil }
        return read(Int(length))
    }

    func send(_ bytes: [UInt8]) -> Bool {
        var framed: [UInt8] = []
        framed.reserveCapacity(bytes.count + 8)
        for shift in 0..<8 { framed.append(UInt8(truncatingIfNeeded: bytes.count >> (8 * shift))) }
        framed += bytes
        return write(framed)
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: min(count, Self.step))
        var done = 0
        while done < count {
            if done == bytes.count { bytes += [UInt8](repeating: 0, count: min(count - done, Self.step)) }
            let got = bytes.withUnsafeMutableBytes { SystemCalls.receive(input, UnsafeMutableRawBufferPointer(rebasing: $0[done...])) }
            guard got > 0 else { return nil }
            done += got
        }
        return bytes
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes { SystemCalls.send(output, UnsafeRawBufferPointer(rebasing: $0[done...])) }
            guard put > 0 else { return false }
            done += put
        }
        return true
    }
}
