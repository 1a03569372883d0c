import Foundation
import RecordLog
import Synchronization

/// Who makes a transaction, as its history says it.
struct TransactionOrigin {
    var author: String?
    var contextName: String?

    static let none = TransactionOrigin()
    /// Of this process.
    static let processID = ProcessInfo.processInfo.processName
    static let bundleID = Bundle.main.bundleIdentifier
}

/// Whether one store's handle records what it writes, and where.
final class HistoryTracking: Sendable {
    private struct State {
        var isWanted = false
        var catalog: Catalog?
        var table: HistoryTable?
    }

    private let state = Mutex(State())
    private let clock = Mutex<@Sendable () -> Double>({ Date().timeIntervalSinceReferenceDate })

    /// The clock's time, in seconds since 2001.
    var now: Double { clock.withLock { clock in clock() } }

    /// Has this handle's transactions dated by another clock.
    func setClock(_ new: @escaping @Sendable () -> Double) { clock.withLock { $0 = new } }

    func begin(isWanted: Bool) {
        state.withLock { $0 = State(isWanted: isWanted) }
    }

    var isWanted: Bool { state.withLock { $0.isWanted } }

    /// The table as of a commit; nil for none. One comparison while the catalog stays the same.
    func table(in catalog: Catalog) throws -> HistoryTable? {
        try state.withLock { state in
            if state.catalog === catalog { return state.table }
            state.table = try HistoryTable(catalog)
            state.catalog = catalog
            return state.table
        }
    }

    /// The table for what a transaction is about to record; nil where the store tracks nothing. One that another handle has ended is begun
    /// again where this one is to track.
    func table(for transaction: Transaction) throws -> HistoryTable? {
        try table(in: transaction.catalog) ?? (isWanted ? HistoryTable.define(in: transaction) : nil)
    }
}
