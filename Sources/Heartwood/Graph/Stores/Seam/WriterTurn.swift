import Foundation
import RecordLog

/// The lock of a store's writers, for a store that lets one in at a time.
///
/// A store may run code of the program while it writes: the rows of a batch insertion come from a handler. The code may read; a write that it begins
/// would wait for itself, and gets an error.
package final class WriterTurn: Sendable {
    private let lock = NSLock()
    private let thread = WritingThread()

    package init() {}

    /// Waits for writers of other threads and runs `body`.
    /// - Parameter path: of the store, for the error.
    /// - Throws: 134070 within a write by this thread; what `body` throws.
    package func take<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let own: UInt
        do throws(StoreError) { own = try thread.enter(path) } catch { throw RecordLogErrors.wrap(error) }
        return try lock.withLock { try thread.hold(by: own, body) }
    }
}
