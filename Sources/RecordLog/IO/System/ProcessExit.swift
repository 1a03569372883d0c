import HeartwoodPlatform
import Synchronization

/// Work at the end of the process, by `exit` or after `main`. A process that is killed does none.
enum ProcessExit {
    private static let work = Mutex<(@Sendable () -> Void)?>(nil)

    /// Registers work, which must end in bounded time. Only the first call has an effect.
    static func run(_ body: @escaping @Sendable () -> Void) {
        let isFirst = work.withLock { work in
            defer { work = work ?? body }
            return work == nil
        }
        guard isFirst else { return }
        _ = atexit {
            let body = ProcessExit.work.withLockIfAvailable { $0 }
            if let body, let body { body() }
        }
    }
}
