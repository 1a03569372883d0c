#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#elseif canImport(ucrt)
    import ucrt
#endif

/// Large zeroed memory whose pages the system provides as they are touched.
enum LazyMemory {
    /// - Precondition: the address space has room.
    static func zeroed(_ count: Int) -> UnsafeMutableRawPointer {
        guard let memory = tryZeroed(count) else { preconditionFailure("out of address space for \(count) bytes") }
        return memory
    }

    /// nil where the address space has no room.
    static func tryZeroed(_ count: Int) -> UnsafeMutableRawPointer? { calloc(count, 1) }

    static func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        free(memory)
    }

    static func clear(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        memset(memory, 0, count)
    }

    /// Lets another thread run.
    static func pause() {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            usleep(50)
        #endif
    }
}
