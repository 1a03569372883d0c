/// Reads bits, the lowest of each byte first. Source: RFC 1951, section 3.1.1.
///
/// Invariants:
/// (1) `next <= bytes.count`: no byte is read at or behind `next` without a check.
/// (2) The lowest `held` bits of `buffer` are the input's bits in front of byte `next`. Bits above them are zero, or the same bits that a
///     refill reads again. `held <= 63`.
struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var next = 0
    private var buffer: UInt64 = 0
    private(set) var held = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The number of bits that were taken.
    var position: Int { next * 8 - held }

    func fault(_ reason: InflateFault.Reason) -> InflateFault { InflateFault(reason: reason, bit: position) }

    /// Holds at least 56 bits afterwards, or all bits that are left.
    @inline(__always)
    mutating func refill() {
        guard bytes.count - next >= 8 else { return refillSlowly() }
        buffer |= UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self)) << UInt64(held)
        next += (63 - held) >> 3
        held |= 56
    }

    private mutating func refillSlowly() {
        while held <= 55, next < bytes.count {
            buffer |= UInt64(bytes[next]) << UInt64(held)
            next += 1
            held += 8
        }
    }

    /// The next bits, at most 32 of them. Behind the end of the input they read as zero.
    @inline(__always)
    func peek(_ count: Int) -> Int { Int(truncatingIfNeeded: buffer & (1 << UInt64(count) - 1)) }

    /// Skips bits that are held.
    @inline(__always)
    mutating func drop(_ count: Int) {
        precondition(count <= held)
        buffer >>= UInt64(count)
        held -= count
    }

    /// Takes at most 32 bits of those that are held.
    @inline(__always)
    mutating func takeHeld(_ count: Int) throws(InflateFault) -> Int {
        guard count <= held else { throw fault(.cutOff) }
        let value = peek(count)
        drop(count)
        return value
    }

    mutating func take(_ count: Int) throws(InflateFault) -> Int {
        refill()
        return try takeHeld(count)
    }

    /// Skips the rest of a byte that was read in part.
    mutating func alignToByte() {
        drop(held & 7)
        // Whole bytes are given back, so that `takeBytes` finds them at `next`.
        next -= held / 8
        buffer = 0
        held = 0
    }

    /// Takes whole bytes. Call `alignToByte` before it.
    mutating func takeBytes(_ count: Int) throws(InflateFault) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - next else {
            next = bytes.count
            throw fault(.cutOff)
        }
        defer { next += count }
        return UnsafeRawBufferPointer(rebasing: bytes[next..<next + count])
    }
}
