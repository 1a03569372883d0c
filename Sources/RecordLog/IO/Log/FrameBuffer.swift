/// The memory in which an appender builds its frames; reused from one commit to the next.
final class FrameBuffer {
    private(set) var memory: UnsafeMutableRawPointer
    private(set) var capacity: Int

    private static let initialCapacity = 4096
    /// The largest buffer that is kept after a commit.
    private static let keptMax = 1 << 20

    init() {
        capacity = Self.initialCapacity
        memory = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit {
        memory.deallocate()
    }

    /// Makes room for `more` bytes behind the first `count`, which it keeps.
    @inline(__always)
    func ensure(_ more: Int, after count: Int) {
        if count &+ more > capacity { grow(more, after: count) }
    }

    @inline(never)
    private func grow(_ more: Int, after count: Int) {
        capacity = max(capacity * 2, count + more)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
        moved.copyMemory(from: memory, byteCount: count)
        memory.deallocate()
        memory = moved
    }

    func exchange(with other: FrameBuffer) {
        (memory, other.memory) = (other.memory, memory)
        (capacity, other.capacity) = (other.capacity, capacity)
    }

    /// Frees the memory that only a large commit needs.
    func trim() {
        guard capacity > Self.keptMax else { return }
        memory.deallocate()
        capacity = Self.initialCapacity
        memory = .allocate(byteCount: capacity, alignment: 64)
    }
}
