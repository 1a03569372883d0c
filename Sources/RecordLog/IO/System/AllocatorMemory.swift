import HeartwoodPlatform

/// Memory that the allocator keeps, though nothing uses it.
///
/// The GNU allocator gives a page of the system back only from the end of its memory. After a load, released pieces lie between pieces in use, and
/// take more memory than those. A process that goes on with work of the same size takes the same pages again, and waits for each first touch: so
/// only work that must stay small, and then ends, gives memory back.
package enum AllocatorMemory {
    #if canImport(Glibc)
        private typealias Call = @convention(c) (Int) -> CInt

        // Swift's module of the library does not have it.
        private static let call: Call? = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: Call.self) }
    #endif

    /// Gives the memory back to the system, where an allocator can do that.
    /// - Complexity: O(memory of the process).
    package static func giveBack() {
        #if canImport(Glibc)
            _ = call?(0)
        #endif
    }
}
