import Foundation
import RecordLog
import Synchronization

/// Shows the progress of a long command: a bar on a terminal, nothing elsewhere.
final class ProgressBar {
    private let label: String
    private var shown = -1

    init(_ label: String) {
        self.label = label
    }

    func update(_ done: UInt64, of total: UInt64) {
        guard Output.isTerminal, total > 0 else { return }
        let percent = Int(min(100, done * 100 / total))
        guard percent != shown else { return }
        shown = percent
        let filled = percent * 30 / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "·", count: 30 - filled)
        try? FileHandle.standardError.write(contentsOf: Data("\r\(label) \(bar) \(percent)%".utf8))
    }

    /// - Returns: true, so that the compaction continues.
    func show(_ state: CompactionProgress) -> Bool {
        update(state.rowsDone, of: state.rowsTotal)
        return true
    }

    func finish() {
        guard shown >= 0 else { return }
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8))
    }
}

/// A progress bar that asynchronous work updates from any thread.
final class SharedProgress: Sendable {
    private let bar: Mutex<ProgressBar>

    init(_ label: String) { bar = Mutex(ProgressBar(label)) }

    @Sendable func update(_ done: UInt64, _ total: UInt64) { bar.withLock { $0.update(done, of: total) } }

    func finish() { bar.withLock { $0.finish() } }
}
