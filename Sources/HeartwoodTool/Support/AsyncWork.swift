import Foundation
import Platform
import Synchronization

/// Runs asynchronous work from a command, which waits for it.
enum AsyncWork {
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// - Parameter stopsBySignal: whether SIGINT and SIGTERM cancel the work's task, which then ends cleanly. A second signal ends the process.
    static func run<Value: Sendable>(stopsBySignal: Bool = false, _ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Outcome<Value>(), end = DispatchSemaphore(value: 0)
        let task = Task {
            do {
                let value = try await work()
                outcome.result.withLock { $0 = .success(value) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            end.signal()
        }
        let sources = stopsBySignal ? [SIGINT, SIGTERM].map { stop(at: $0, task) } : []
        end.wait()
        for source in sources { source.cancel() }
        guard let result = outcome.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }

    private static func stop(at number: Int32, _ task: Task<Void, Never>) -> any DispatchSourceSignal {
        // The source sees the signal only where the process does not end by it.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            task.cancel()
            signal(number, SIG_DFL)
        }
        source.resume()
        return source
    }
}
