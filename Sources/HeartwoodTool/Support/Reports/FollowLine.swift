import Foundation
import Synchronization

/// The status of a command that follows: one line on a terminal that is written over, and a line of output for each event.
final class FollowLine: Sendable {
    private let failure = Mutex<String?>(nil)

    /// - Parameters:
    ///   - error: the reason why the newest pass failed.
    ///   - since: when passes began to fail.
    func show(_ text: String, error: (any Error)?, since: Int64?) {
        if Output.isTerminal { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K\(DisplayWidth.printable(text))".utf8)) }
        let message = error.map { ToolError.message(of: $0) }
        let isNew = failure.withLock { known in
            defer { known = message }
            return known != message
        }
        guard isNew else { return }
        event(message.map { "behind since \(since.map(BackupText.time) ?? "now"): \($0)" } ?? "up to date again")
    }

    func event(_ text: String) {
        clear()
        Output.line(text)
    }

    func clear() {
        if Output.isTerminal { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
    }
}
