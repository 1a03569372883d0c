import Foundation
import Synchronization

/// Settings of query execution.
struct QueryTuning: Sendable {
    /// The greatest number of threads of one scan. The environment variable HEARTWOOD_QUERY_CORES lowers it.
    var cores = Self.defaultCores
    /// A table with fewer rows is scanned on one thread: starting more takes as long.
    var rowsForCores = 32_768
    /// Pages of the primary index for each thread in one window of a scan that returns its rows in order.
    var pagesPerWindow: UInt64 = 8
    /// For tests: forces each query to scan the table, or to use the index of this name where it can serve.
    var access: Access?

    enum Access: Equatable {
        case scan
        case index(String)
    }

    private static let defaultCores: Int = {
        let all = max(1, ProcessInfo.processInfo.activeProcessorCount)
        guard let text = ProcessInfo.processInfo.environment["HEARTWOOD_QUERY_CORES"], let count = Int(text) else { return all }
        return max(1, min(count, all))
    }()

    // Few callers set a tuning, and each fetch reads it. Reading this counter is faster than reading a task-local value.
    private static let users = Atomic(0)
    private static let standard = QueryTuning()
    @TaskLocal private static var own: QueryTuning?

    static var current: QueryTuning { users.load(ordering: .acquiring) == 0 ? standard : own ?? standard }

    /// The forced access of all queries; nil, except in tests, leaves the choice to the planner.
    static var forcedAccess: Access? { users.load(ordering: .acquiring) == 0 ? nil : own?.access }

    /// Runs `body` with another tuning.
    static func with<Result>(_ tuning: QueryTuning, _ body: () throws -> Result) rethrows -> Result {
        users.add(1, ordering: .acquiringAndReleasing)
        defer { users.subtract(1, ordering: .acquiringAndReleasing) }
        return try $own.withValue(tuning, operation: body)
    }
}
