/// The bytes that an inflater has made. They never become more than the caller allows.
///
/// Invariants:
/// (1) `count <= capacity <= sizeMax`. The first `count` bytes at `base` are made, the rest is room for more.
/// (2) The capacity at most doubles, or becomes what bytes at hand need. So memory follows the bytes that were made.
struct InflatedOutput: ~Copyable {
    let sizeMax: Int
    private(set) var count = 0
    private var capacity: Int
    private var base: UnsafeMutableRawPointer

    private static let capacityMin = 512

    /// - Parameter expected: an estimate of the size.
    init(sizeMax: Int, expected: Int) {
        self.sizeMax = sizeMax
        capacity = min(sizeMax, max(expected, Self.capacityMin))
        base = .allocate(byteCount: capacity, alignment: MemoryLayout<UInt64>.alignment)
    }

    deinit { base.deallocate() }

    /// - Returns: false if no byte more is allowed.
    @inline(__always)
    mutating func add(_ byte: UInt8) -> Bool {
        guard reserve(1) else { return false }
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
        return true
    }

    mutating func add(_ more: UnsafeRawBufferPointer) -> Bool {
        guard reserve(more.count) else { return false }
        if let start = more.baseAddress { (base + count).copyMemory(from: start, byteCount: more.count) }
        count += more.count
        return true
    }

    /// Repeats bytes from `distance` bytes before the end. The repeated part may reach into itself.
    @inline(__always)
    mutating func repeatBytes(_ length: Int, distance: Int) -> Bool {
        precondition(distance >= 1 && distance <= count && length >= 0)
        guard reserve(length) else { return false }
        let target = base + count, source = target - distance
        // Words may overwrite room behind the end, never bytes that were made. They must not overlap their source.
        if distance >= 8, capacity - count >= length + 8 {
            for offset in stride(from: 0, to: length, by: 8) {
                target.storeBytes(of: source.loadUnaligned(fromByteOffset: offset, as: UInt64.self), toByteOffset: offset, as: UInt64.self)
            }
        } else {
            for offset in 0..<length {
                target.storeBytes(of: source.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
            }
        }
        count += length
        return true
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) -> Bool { more <= capacity - count || grow(more) }

    @inline(never)
    private mutating func grow(_ more: Int) -> Bool {
        guard more <= sizeMax - count else { return false }
        let wanted = max(count + more, min(max(capacity, Self.capacityMin) * 2, sizeMax))
        let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: MemoryLayout<UInt64>.alignment)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
        capacity = wanted
        return true
    }

    var bytes: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: base, count: count)) }
}
