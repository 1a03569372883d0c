import Foundation
import RecordLog
import Synchronization

/// Scans a table on several threads, each with a state of its own, a stretch of rows after the other.
enum ParallelScan {
    /// What one thread has gathered.
    private final class Worker<State>: @unchecked Sendable {
        // Unchecked: used by its thread alone, and by the caller once all are done.
        var state: State
        let scope: QueryScope
        var failure: (stretch: Int, error: any Error)?

        init(_ state: State, _ scope: QueryScope) {
            self.state = state
            self.scope = scope
        }
    }

    private struct Body<State>: @unchecked Sendable {
        // Unchecked: tests and snapshots are immutable.
        let run: (inout State, UnsafeMutableBufferPointer<RowView>, QueryScope, _ stretch: Int) throws -> Void
    }

    /// Stretches end where pages of the primary index do.
    private static let rowsPerPage: UInt64 = 4096
    private static let stretchesPerThread: UInt64 = 8

    /// How many threads a scan of so many rows takes.
    static func threads(rows: Int) -> Int {
        let tuning = QueryTuning.current
        return rows < tuning.rowsForCores ? 1 : max(1, tuning.cores)
    }

    /// The row numbers of a window: a scan that hands over its rows in order keeps the matches of one window in memory.
    static func window(threads: Int) -> UInt64 { UInt64(threads) * QueryTuning.current.pagesPerWindow * rowsPerPage }

    /// - Parameters:
    ///   - rows: those with numbers in this range, which starts at the beginning of a page.
    ///   - test: nil where each row is wanted.
    ///   - body: called with the rows that match, some at a time, and the number of their stretch: stretches are numbered in the order of
    ///     the rows.
    /// - Returns: the states of the threads.
    static func run<State>(
        _ table: TableID, rows range: Range<UInt64>? = nil, _ test: RowFilter?, _ view: RecordLogView, threads: Int, _ scope: QueryScope,
        state: () -> State,
        _ body: @escaping (inout State, UnsafeMutableBufferPointer<RowView>, QueryScope, _ stretch: Int) throws -> Void
    ) throws -> [State] {
        let range = range ?? 0..<view.snapshot.rowLimit(table)
        let rowCount = range.upperBound - range.lowerBound
        let wanted = rowCount / (UInt64(threads) * stretchesPerThread)
        let size = max(1, (wanted + rowsPerPage - 1) / rowsPerPage) * rowsPerPage
        let count = Int((rowCount + size - 1) / size)
        let workers = (0..<threads).map { _ in Worker(state(), QueryScope(view: view)) }
        let next = Stretches()
        let shared = Body(run: { state, rows, scope, stretch in
            scope.rowsVisited &+= rows.count
            let count = try test.map { try $0.filter(rows, scope) } ?? rows.count
            if count > 0 { try body(&state, UnsafeMutableBufferPointer(rebasing: rows[..<count]), scope, stretch) }
        })
        let snapshot = view.snapshot
        DispatchQueue.concurrentPerform(iterations: threads) { index in
            let worker = workers[index]
            while true {
                let stretch = next.take()
                guard stretch < count, worker.failure == nil else { return }
                let first = range.lowerBound + UInt64(stretch) * size
                do {
                    try snapshot.scanGroups(table, rows: first..<min(first + size, range.upperBound)) { rows in
                        try shared.run(&worker.state, rows, worker.scope, stretch)
                        return true
                    }
                } catch {
                    worker.failure = (stretch, error)
                }
            }
        }
        for worker in workers { scope.add(worker.scope) }
        scope.cores = max(scope.cores, threads)
        if let failure = workers.compactMap(\.failure).min(by: { $0.stretch < $1.stretch }) { throw failure.error }
        return workers.map(\.state)
    }

    private final class Stretches: Sendable {
        private let next = Atomic<Int>(0)

        func take() -> Int { next.wrappingAdd(1, ordering: .relaxed).oldValue }
    }
}
