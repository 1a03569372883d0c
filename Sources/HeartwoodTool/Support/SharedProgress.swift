import Synchronization

/// A progress bar that asynchronous work updates from any thread.
final class SharedProgress: Sendable {
    private let bar: Mutex<ProgressBar>

    init(_ label: String) { bar = Mutex(ProgressBar(label)) }

    @Sendable func update(_ done: UInt64, _ total: UInt64) { bar.withLock { $0.update(done, of: total) } }

    func finish() { bar.withLock { $0.finish() } }
}
