import Foundation
import RecordLog
import Synchronization

/// Scans a table on several threads. Each thread has its own state and takes one chunk of rows after the other.
enum ParallelScan {
    /// One thread's results.
    private final class Worker<State>: @unchecked Sendable {
        // Unchecked: only its thread uses it, and the caller once all threads are done.
        var state: State
        let scope: QueryScope
        var failure: (chunk: Int, error: any Error)?

        init(_ state: State, _ scope: QueryScope) {
            self.state = state
            self.scope = scope
        }
    }

    private struct Body<State>: @unchecked Sendable {
        // Unchecked: filters and snapshots are immutable.
        let run: (inout State, UnsafeMutableBufferPointer<UnsafeRowView>, QueryScope, _ chunk: Int) throws -> Void
    }

    /// Stretches end at page ends of the primary index.
    private static let rowsPerPage: UInt64 = 4096
    private static let chunksPerThread: UInt64 = 8

    /// Returns the number of threads for a scan of this many rows.
    static func threads(rows: Int) -> Int {
        let tuning = QueryTuning.current
        return rows < tuning.rowsForCores ? 1 : max(1, tuning.cores)
    }

    /// Returns the number of rows in a window. An ordered scan keeps the matches of one window in memory.
    static func window(threads: Int) -> UInt64 { UInt64(threads) * QueryTuning.current.pagesPerWindow * rowsPerPage }

    /// - Parameters:
    ///   - rows: a range of row numbers that starts at a page's start; nil for all.
    ///   - test: nil to match each row.
    ///   - body: called with batches of matching rows and the number of their chunk. Chunks are numbered in row order.
    /// - Returns: the states of the threads.
    static func run<State>(
        _ table: TableID, rows range: Range<UInt64>? = nil, _ test: RowFilter?, _ view: RecordLogView, threads: Int, _ scope: QueryScope,
        state: () -> State,
        _ body: @escaping (inout State, UnsafeMutableBufferPointer<UnsafeRowView>, QueryScope, _ chunk: Int) throws -> Void
    ) throws -> [State] {
        let range = range ?? 0..<view.snapshot.rowLimit(table)
        let rowCount = range.upperBound - range.lowerBound
        let chunkRows = rowCount / (UInt64(threads) * chunksPerThread)
        let size = max(1, (chunkRows + rowsPerPage - 1) / rowsPerPage) * rowsPerPage
        let count = Int((rowCount + size - 1) / size)
        let workers = (0..<threads).map { _ in Worker(state(), QueryScope(view: view)) }
        let next = Stretches()
        let shared = Body(run: { state, rows, scope, chunk in
            scope.rowsVisited &+= rows.count
            let count = try test.map { try $0.filter(rows, scope) } ?? rows.count
            if count > 0 { try body(&state, UnsafeMutableBufferPointer(rebasing: rows[..<count]), scope, chunk) }
        })
        let snapshot = view.snapshot
        DispatchQueue.concurrentPerform(iterations: threads) { index in
            let worker = workers[index]
            while true {
                let chunk = next.take()
                guard chunk < count, worker.failure == nil else { return }
                let first = range.lowerBound + UInt64(chunk) * size
                do {
                    try snapshot.scanBatches(table, rows: first..<min(first + size, range.upperBound)) { rows in
                        try shared.run(&worker.state, rows, worker.scope, chunk)
                        return true
                    }
                } catch {
                    worker.failure = (chunk, error)
                }
            }
        }
        for worker in workers { scope.add(worker.scope) }
        scope.cores = max(scope.cores, threads)
        if let failure = workers.compactMap(\.failure).min(by: { $0.chunk < $1.chunk }) { throw failure.error }
        return workers.map(\.state)
    }

    private final class Stretches: Sendable {
        private let next = Atomic<Int>(0)

        func take() -> Int { next.wrappingAdd(1, ordering: .relaxed).oldValue }
    }
}
