import Foundation
import RecordLog
import Synchronization

/// What the system says of this process's memory. Private memory is `RssAnon`: pages of mapped files are the system's to take back.
public enum ProcessMemory {
    /// In KiB; nil where the system does not tell.
    public static func kibibytes(_ field: String) -> Int? {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// The most private memory while `body` runs, looked at every few milliseconds, in KiB.
    public static func most(during body: () throws -> Void) rethrows -> Int {
        let watch = Watch()
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
