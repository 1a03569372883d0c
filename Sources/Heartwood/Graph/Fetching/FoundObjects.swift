/// Collects the objects that a fetch finds.
///
/// A growing array checks at each append whether it is uniquely referenced, and asks the allocator for its real capacity at each growth.
///
/// Invariant: `references` owns a reference to each of its first `count` objects; they are moved as bits.
final class FoundObjects {
    private var references: UnsafeMutablePointer<Unmanaged<NSManagedObject>>
    private var capacity: Int
    private var count = 0

    /// - Parameter expected: the maximum number of objects, if known.
    init(expected: Int?) {
        capacity = max(1, min(expected ?? Self.firstCapacity, Self.firstCapacity))
        references = .allocate(capacity: capacity)
    }

    /// Less than a KiB: allocators consolidate free memory before they return larger blocks.
    private static let firstCapacity = 120

    deinit {
        for index in 0..<count { references[index].release() }
        references.deallocate()
    }

    @inline(__always)
    func append(_ object: consuming NSManagedObject) {
        if count == capacity { grow() }
        (references + count).initialize(to: .passRetained(object))
        count &+= 1
    }

    @inline(never)
    private func grow() {
        let grown = UnsafeMutablePointer<Unmanaged<NSManagedObject>>.allocate(capacity: capacity * 2)
        grown.moveInitialize(from: references, count: count)
        references.deallocate()
        references = grown
        capacity *= 2
    }

    /// Returns all objects and empties the collection.
    func take() -> [NSManagedObject] {
        // The empty array is one instance for the process, and the initializer below would write to it.
        guard count > 0 else { return [] }
        return [NSManagedObject](unsafeUninitializedCapacity: count) { objects, taken in
            if let start = objects.baseAddress {
                UnsafeMutableRawPointer(start).copyMemory(from: references, byteCount: count * MemoryLayout<NSManagedObject>.stride)
            }
            (taken, count) = (count, 0)
        }
    }
}
