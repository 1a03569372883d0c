#if os(Linux) || os(Android)
    import HeartwoodPlatform
    import Synchronization

    /// Ranges of a file that are overwritten through mapped memory: a store of a few hundred bytes costs a hundredth of a system call.
    ///
    /// Invariants:
    /// 1. Every byte of a window was written by a call before, on a file system that overwrites in place, so that no store needs new
    ///    space: if there were none, the system would end the process instead of returning an error.
    /// 2. A window is used only after a check of the file's size that shows that it is inside, and before the release of the lock:
    ///    another process may have cut the file, and others write only under the lock.
    /// 3. Other processes see the stores of one write before those of the next one: a fence follows each.
    final class WriteWindows: @unchecked Sendable {
        // Unchecked: used only under the lock of the store that writes.
        private struct Window {
            let range: Range<UInt64>
            let memory: UnsafeMutableRawPointer
            let mapped: UnsafeMutableRawPointer
            let mappedLength: Int
        }

        private var windows: [Window] = []
        private var isUsable = false
        /// nil until it is needed (1).
        private var isKnownInPlace: Bool?

        deinit {
            for window in windows { munmap(window.mapped, window.mappedLength) }
        }

        /// Whether the file system overwrites blocks in place. Others may copy a block when it is written.
        func isInPlace(_ device: UInt64) -> Bool {
            if let known = isKnownInPlace { return known }
            let found = SystemInformation.fileSystemType(of: device).map { ["ext2", "ext3", "ext4", "tmpfs"].contains($0) } ?? false
            isKnownInPlace = found
            return found
        }

        /// Maps `range` for writing, and unmaps the former window at the same end of the file.
        func add(_ range: Range<UInt64>, _ descriptor: Int32, device: UInt64) {
            windows.removeAll { window in
                guard (window.range.lowerBound == 0) == (range.lowerBound == 0) else { return false }
                munmap(window.mapped, window.mappedLength)
                return true
            }
            guard isInPlace(device) else { return }
            let pageSize = UInt64(sysconf(Int32(_SC_PAGESIZE)))
            let start = range.lowerBound / pageSize * pageSize
            let length = Int(range.upperBound - start)
            guard let mapped = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(start)), mapped != MAP_FAILED else { return }
            windows.append(Window(range: range, memory: mapped + Int(range.lowerBound - start), mapped: mapped, mappedLength: length))
        }

        /// Notes the file's size, which was read with or without the lock (2).
        func look(at size: UInt64) {
            isUsable = windows.allSatisfy { $0.range.upperBound <= size }
        }

        /// Marks the file's size as unknown (2).
        func suspend() { isUsable = false }

        /// - Returns: false if the bytes must be written by a call.
        @inline(__always)
        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
            guard isUsable, let start = bytes.baseAddress else { return false }
            for window in windows where offset >= window.range.lowerBound && offset + UInt64(bytes.count) <= window.range.upperBound {
                (window.memory + Int(offset - window.range.lowerBound)).copyMemory(from: start, byteCount: bytes.count)
                atomicMemoryFence(ordering: .releasing)
                return true
            }
            return false
        }
    }
#endif
