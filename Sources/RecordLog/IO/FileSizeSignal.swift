import HeartwoodPlatform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A write past the process's file size limit (RLIMIT_FSIZE) raises SIGXFSZ, which ends the process before the call can return EFBIG.
    enum FileSizeSignal {
        /// Ignores the signal, once a process, unless the program has changed its handling.
        static func ignoreIfDefault() { _ = isLookedAt }

        private static let isLookedAt: Bool = {
            var action = sigaction()
            // An unchanged default is all zeroes.
            guard sigaction(SIGXFSZ, nil, &action) == 0, withUnsafeBytes(of: &action, { $0.allSatisfy { $0 == 0 } }) else { return true }
            signal(SIGXFSZ, SIG_IGN)
            return true
        }()
    }
#endif
