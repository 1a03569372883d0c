import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A write past the process's file size limit (RLIMIT_FSIZE) raises SIGXFSZ, which ends the process before the call can return EFBIG.
    enum FileSizeSignal {
        /// Ignores the signal, once a process, unless the program has changed its handling.
        static func ignoreIfDefault() { _ = isLookedAt }

        private static let isLookedAt: Bool = {
            // The memory is cleared: the structure has padding, which an initializer leaves as it is.
            let action = UnsafeMutablePointer<sigaction>.allocate(capacity: 1)
            let bytes = UnsafeMutableRawBufferPointer(start: action, count: MemoryLayout<sigaction>.size)
            defer { action.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            // An unchanged default is all zeroes.
            guard sigaction(SIGXFSZ, nil, action) == 0, bytes.allSatisfy({ $0 == 0 }) else { return true }
            signal(SIGXFSZ, SIG_IGN)
            return true
        }()
    }
#endif
