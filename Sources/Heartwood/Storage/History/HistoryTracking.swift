import Foundation
import RecordLog
import Synchronization

/// The origin of a transaction as its history records it.
package struct TransactionOrigin {
    package var author: String?
    package var contextName: String?

    static let none = TransactionOrigin()
    /// This process's name.
    package static let processID = ProcessInfo.processInfo.processName
    package static let bundleID = Bundle.main.bundleIdentifier
}

/// Whether a store's handle records history, and the table that it records in.
final class HistoryTracking: Sendable {
    private struct State {
        var isEnabled = false
        var catalog: Catalog?
        var table: HistoryTable?
    }

    private let state = Mutex(State())
    private let clock = Mutex<@Sendable () -> Double>({ Date().timeIntervalSinceReferenceDate })

    /// The clock's time, in seconds since 2001.
    var now: Double { clock.withLock { clock in clock() } }

    /// Replaces the clock that dates this handle's transactions.
    func setClock(_ new: @escaping @Sendable () -> Double) { clock.withLock { $0 = new } }

    func begin(isEnabled: Bool) {
        state.withLock { $0 = State(isEnabled: isEnabled) }
    }

    var isEnabled: Bool { state.withLock { $0.isEnabled } }

    /// Returns the table as of a catalog; nil where it has none. Costs one comparison while the catalog stays the same.
    func table(in catalog: Catalog) throws -> HistoryTable? {
        try state.withLock { state in
            if state.catalog === catalog { return state.table }
            state.table = try HistoryTable(catalog)
            state.catalog = catalog
            return state.table
        }
    }

    /// Returns the table to record a transaction in; nil where the store tracks no history. Creates the table again where another handle has ended
    /// the history and this one tracks it.
    func table(for transaction: Transaction) throws -> HistoryTable? {
        try table(in: transaction.catalog) ?? (isEnabled ? HistoryTable.define(in: transaction) : nil)
    }
}
