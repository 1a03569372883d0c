import Foundation
import RecordLog
import Synchronization

/// The system's figures for this process's memory. Private memory is `RssAnon`: the system can reclaim pages of mapped files.
public enum ProcessMemory {
    /// In KiB; nil if the system does not report it.
    public static func kibibytes(_ field: String) -> Int? {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// The highest private memory while `body` runs, sampled every few milliseconds, in KiB.
    public static func most(during body: () throws -> Void) rethrows -> Int {
        let watch = Watch()
        // The system tells no changes.
        Thread.detachNewThread { while watch.look() { usleep(5000) } }
        defer { watch.stop() }
        try body()
        return watch.most
    }

    private final class Watch: Sendable {
        private let state = Mutex((most: 0, isOver: false))

        var most: Int { state.withLock { $0.most } }
        func stop() { state.withLock { $0.isOver = true } }

        func look() -> Bool {
            let now = ProcessMemory.kibibytes("RssAnon:") ?? 0
            return state.withLock { state in
                state.most = max(state.most, now)
                return !state.isOver
            }
        }
    }
}
