/// The objects that a fetch finds, one after the other.
///
/// An array that grows is looked at for other owners at each append, and asks the allocator how much it got at each growth.
///
/// Invariant: `places` owns a reference to each of its first `count` objects; they are moved as bits.
final class FoundObjects {
    private var places: UnsafeMutablePointer<Unmanaged<NSManagedObject>>
    private var capacity: Int
    private var count = 0

    /// - Parameter expected: how many there will be at most, as far as that is known.
    init(expected: Int?) {
        capacity = max(1, min(expected ?? Self.firstCapacity, Self.firstCapacity))
        places = .allocate(capacity: capacity)
    }

    /// Less than a KiB: for more, allocators tidy up first.
    private static let firstCapacity = 120

    deinit {
        for index in 0..<count { places[index].release() }
        places.deallocate()
    }

    @inline(__always)
    func append(_ object: consuming NSManagedObject) {
        if count == capacity { grow() }
        (places + count).initialize(to: .passRetained(object))
        count &+= 1
    }

    @inline(never)
    private func grow() {
        let grown = UnsafeMutablePointer<Unmanaged<NSManagedObject>>.allocate(capacity: capacity * 2)
        grown.moveInitialize(from: places, count: count)
        places.deallocate()
        places = grown
        capacity *= 2
    }

    /// Hands over all of them.
    func take() -> [NSManagedObject] {
        // The array of nothing is one for the whole process, and this initializer writes to it.
        guard count > 0 else { return [] }
        return [NSManagedObject](unsafeUninitializedCapacity: count) { objects, taken in
            if let start = objects.baseAddress {
                UnsafeMutableRawPointer(start).copyMemory(from: places, byteCount: count * MemoryLayout<NSManagedObject>.stride)
            }
            (taken, count) = (count, 0)
        }
    }
}
