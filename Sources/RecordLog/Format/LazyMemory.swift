import HeartwoodPlatform

/// Large memory. The system provides its pages at the first touch and gets them back at release; an allocator may keep released
/// pages for itself.
enum LazyMemory {
    /// - Precondition: the address space has room.
    static func zeroed(_ count: Int) -> UnsafeMutableRawPointer {
        guard let memory = tryZeroed(count) else { preconditionFailure("out of address space for \(count) bytes") }
        return memory
    }

    /// Like `zeroed`, with undefined content.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        if count >= mappedSize { return zeroed(count) }
        guard let memory = malloc(count) else { preconditionFailure("out of memory for \(count) bytes") }
        return memory
    }

    static func allocate<Element: BitwiseCopyable>(of type: Element.Type, _ capacity: Int) -> UnsafeMutablePointer<Element> {
        allocate(capacity * MemoryLayout<Element>.stride).bindMemory(to: type, capacity: capacity)
    }

    /// nil if the address space has no room.
    static func tryZeroed(_ count: Int) -> UnsafeMutableRawPointer? {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            // From the system: an allocator may fill new memory, and those of sanitizers do, a gigabyte at a time.
            if count >= mappedSize {
                let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
                return memory == MAP_FAILED ? nil : memory
            }
        #endif
        return calloc(count, 1)
    }

    private static let mappedSize = 1 << 20

    /// - Parameter count: the count that was allocated.
    static func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            if count >= mappedSize {
                munmap(memory, count)
                return
            }
        #endif
        free(memory)
    }

    /// - Parameter capacity: the capacity that was allocated.
    static func release<Element: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Element>, _ capacity: Int) {
        release(UnsafeMutableRawPointer(memory), capacity * MemoryLayout<Element>.stride)
    }

    /// Zeroed memory that is touched in few places. It takes a page of the system for each of them: an allocator would fill a part that it has
    /// used before.
    static func sparse(_ count: Int) -> UnsafeMutableRawPointer {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            if count >= sparseSize {
                let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
                if let memory, memory != MAP_FAILED { return memory }
                preconditionFailure("out of address space for \(count) bytes")
            }
        #endif
        return zeroed(count)
    }

    /// - Parameter count: the count that `sparse` was asked for.
    static func releaseSparse(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            if count >= sparseSize {
                munmap(memory, count)
                return
            }
        #endif
        release(memory, count)
    }

    private static let sparseSize = 64 << 10

    static func clear(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        memset(memory, 0, count)
    }
}
