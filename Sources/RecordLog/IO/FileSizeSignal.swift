import Platform

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A write past the process's file size limit (RLIMIT_FSIZE) raises SIGXFSZ, which ends the process before the call can say EFBIG.
    enum FileSizeSignal {
        /// Ignores the signal, once a process, where nobody has said what is to become of it.
        static func ignoreIfDefault() { _ = isLookedAt }

        private static let isLookedAt: Bool = {
            var action = sigaction()
            // A default that nobody has touched is all zeroes. Anything else is the program's own.
            guard sigaction(SIGXFSZ, nil, &action) == 0, withUnsafeBytes(of: &action, { $0.allSatisfy { $0 == 0 } }) else { return true }
            signal(SIGXFSZ, SIG_IGN)
            return true
        }()
    }
#endif
