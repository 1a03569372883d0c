import Synchronization

/// Asks the processor for memory that is going to be read soon, so that its miss overlaps with those before it.
enum CacheLine {
    static let size = 64

    /// Reads a word that nobody waits for. The load is an atomic one, since another would be left out by the compiler.
    /// - Parameter pointer: into memory that may be read; what is read is the word, aligned, that has its byte.
    @inline(__always)
    static func touch(_ pointer: UnsafeRawPointer) {
        let aligned = UnsafeRawPointer(bitPattern: UInt(bitPattern: pointer) & ~7)
        _ = aligned?.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .relaxed)
    }
}
