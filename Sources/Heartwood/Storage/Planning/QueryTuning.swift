import Foundation
import Synchronization

/// What decides how queries run, beside the queries themselves.
struct QueryTuning: Sendable {
    /// Threads that one scan may take. The environment's HEARTWOOD_QUERY_CORES lowers it.
    var cores = Self.defaultCores
    /// A smaller table is scanned by one thread: starting others takes as long.
    var rowsForCores = 32_768
    /// Pages of the primary index that a thread takes in one window, where a scan hands over its rows in order.
    var pagesPerWindow: UInt64 = 8
    /// Tests alone: every query by a scan, or by the index of this name where it serves.
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

    // Few set one, and each fetch asks: a task's values take longer to look at than the count of those who do.
    private static let users = Atomic(0)
    private static let standard = QueryTuning()
    @TaskLocal private static var own: QueryTuning?

    static var current: QueryTuning { users.load(ordering: .acquiring) == 0 ? standard : own ?? standard }

    /// How every query is to be run; nil, as everywhere but in tests, where that is the planner's to say.
    static var forcedAccess: Access? { users.load(ordering: .acquiring) == 0 ? nil : own?.access }

    /// Runs `body` with a tuning of its own.
    static func with<Result>(_ tuning: QueryTuning, _ body: () throws -> Result) rethrows -> Result {
        users.add(1, ordering: .acquiringAndReleasing)
        defer { users.subtract(1, ordering: .acquiringAndReleasing) }
        return try $own.withValue(tuning, operation: body)
    }
}
