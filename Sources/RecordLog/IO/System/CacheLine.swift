import Synchronization

/// Prefetches memory that is read soon, so that its cache miss overlaps with earlier ones.
enum CacheLine {
    static let size = 64

    /// Reads a word and does not wait for it. The load is atomic, since the compiler would drop an ordinary one.
    /// - Parameter pointer: points into readable memory; the load reads the aligned word that contains it.
    @inline(__always)
    static func touch(_ pointer: UnsafeRawPointer) {
        let aligned = UnsafeRawPointer(bitPattern: UInt(bitPattern: pointer) & ~7)
        _ = aligned?.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .relaxed)
    }
}
