/// Index entries in the order in which they were added: their bytes one after another, and a word for each.
///
/// One writer fills it. It never changes once an `ImmutableMemtable` holds it.
final class Memtable: @unchecked Sendable {
    // Unchecked: see above.
    private(set) var bytes: UnsafeMutableRawPointer
    private(set) var byteCount = 0
    private var byteCapacity: Int
    /// Offset (32 bits), tombstone (1), length (31).
    private(set) var references: UnsafeMutablePointer<UInt64>
    private(set) var count = 0
    private var capacity: Int

    /// A limit, so that offsets fit 32 bits; `AddedEntries` respects it.
    static let byteCountMax = Int(UInt32.max) / 2

    init(bytes byteCapacity: Int = 128, entries capacity: Int = 4) {
        self.byteCapacity = max(byteCapacity, 16)
        self.capacity = max(capacity, 1)
        bytes = LazyMemory.allocate(self.byteCapacity)
        references = LazyMemory.allocate(of: UInt64.self, self.capacity)
    }

    deinit {
        LazyMemory.release(bytes, byteCapacity)
        LazyMemory.release(references, capacity)
    }

    var isEmpty: Bool { count == 0 }

    /// Removes all entries and keeps the memory.
    func removeAll() {
        byteCount = 0
        count = 0
    }

    @inline(__always)
    func append(_ entry: UnsafeRawBufferPointer, isTombstone: Bool) {
        if byteCount &+ entry.count > byteCapacity || count == capacity { grow(entry.count) }
        references[count] = UInt64(byteCount) << 32 | (isTombstone ? 1 << 31 : 0) | UInt64(entry.count)
        if let start = entry.baseAddress { (bytes + byteCount).copyMemory(from: start, byteCount: entry.count) }
        byteCount &+= entry.count
        count &+= 1
    }

    @inline(never)
    private func grow(_ more: Int) {
        if byteCount + more > byteCapacity {
            let capacity = max(byteCapacity * 2, byteCount + more)
            let grown = LazyMemory.allocate(capacity)
            grown.copyMemory(from: bytes, byteCount: byteCount)
            LazyMemory.release(bytes, byteCapacity)
            (bytes, byteCapacity) = (grown, capacity)
        }
        if count == capacity {
            let grown = LazyMemory.allocate(of: UInt64.self, capacity * 2)
            grown.initialize(from: references, count: count)
            LazyMemory.release(references, capacity)
            (references, capacity) = (grown, capacity * 2)
        }
    }

    @inline(__always)
    func entry(_ index: Int) -> (bytes: UnsafeRawBufferPointer, isTombstone: Bool) {
        let reference = references[index]
        return (
            UnsafeRawBufferPointer(start: bytes + Int(reference >> 32), count: Int(reference & 0x7FFF_FFFF)), reference & 1 << 31 != 0
        )
    }

    /// Adds all of another buffer's entries.
    func append(contentsOf other: Memtable) {
        for index in 0..<other.count {
            let (bytes, isTombstone) = other.entry(index)
            append(bytes, isTombstone: isTombstone)
        }
    }
}
