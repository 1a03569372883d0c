/// The bytes of a file that were read last, with read-ahead: a read that continues the last one doubles the amount; any other read
/// starts with one page.
struct ReadBuffer: ~Copyable, @unchecked Sendable {
    // Unchecked: its memory has no other owner.
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.least, alignment: 64)
    private var start: UInt64 = 0
    private var count = 0
    private var step = Self.least

    static let least = 4096
    private static let most = 256 << 10

    deinit {
        buffer.deallocate()
    }

    /// Whether it grew beyond read-ahead's size, for a large frame.
    var isLarge: Bool { buffer.count > Self.most }

    /// The bytes from `offset` on, valid until the next call.
    /// - Parameter limit: the end of the readable bytes.
    /// - Returns: nil if the file ends before them; and the end of the bytes read.
    mutating func bytes(
        at offset: UInt64, count wanted: Int, limit: UInt64, _ read: (UnsafeMutableRawBufferPointer, UInt64) throws(StoreError) -> Int
    ) throws(StoreError) -> (pointer: UnsafeRawPointer?, end: UInt64) {
        let end = start + UInt64(count)
        let isNear = count > 0 && offset >= start && offset <= end
        if isNear, UInt64(wanted) <= end - offset { return (UnsafeRawPointer(buffer.baseAddress! + Int(offset - start)), end) }
        step = isNear ? min(step * 2, Self.most) : Self.least
        let amount = max(wanted, Int(min(UInt64(step), limit - offset)))
        let kept = isNear ? Int(end - offset) : 0
        let from = Int(truncatingIfNeeded: offset &- start)
        count = 0
        if amount > buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: amount, alignment: 64)
            if kept > 0 { larger.baseAddress!.copyMemory(from: buffer.baseAddress! + from, byteCount: kept) }
            buffer.deallocate()
            buffer = larger
        } else if kept > 0 {
            // The regions may overlap, which this call allows.
            buffer.baseAddress!.copyMemory(from: buffer.baseAddress! + from, byteCount: kept)
        }
        let more = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[kept..<amount]), offset + UInt64(kept))
        start = offset
        count = kept + more
        return (count < wanted ? nil : UnsafeRawPointer(buffer.baseAddress!), start + UInt64(count))
    }
}
