import Foundation
import HeartwoodPlatform
import Synchronization

/// Runs asynchronous work from a command, which waits for it.
enum AsyncWork {
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// - Parameter stopsBySignal: whether SIGINT and SIGTERM cancel the work's task, which then ends cleanly. A second signal ends the process.
    static func run<Value: Sendable>(stopsBySignal: Bool = false, _ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Outcome<Value>(), end = DispatchSemaphore(value: 0)
        // First: a signal that comes while the work begins must end it too.
        let signals = try stopsBySignal ? StopSignals() : nil
        let task = Task {
            do {
                let value = try await work()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            end.signal()
        }
        signals?.onStop { task.cancel() }
        end.wait()
        signals?.end()
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
