import Foundation
import Synchronization

/// Looks at the process's private memory every two milliseconds.
final class PeakMemory: Sendable {
    private let state = Mutex((peak: UInt64(0), isEnded: false))

    init() {
        Thread.detachNewThread { [self] in
            while look() { usleep(2000) }
        }
    }

    @discardableResult
    private func look() -> Bool {
        let now = ProcessFigures.privateMemory
        return state.withLock { state in
            state.peak = max(state.peak, now)
            return !state.isEnded
        }
    }

    /// Ends the looking.
    /// - Returns: the most bytes that were seen.
    func end() -> UInt64 {
        look()
        return state.withLock { state in
            state.isEnded = true
            return state.peak
        }
    }
}
