/// A store that can have a history.
package protocol HistoryStore: NSPersistentStore {
    /// Whether saves of this store are recorded, even if none has been yet.
    var recordsHistory: Bool { get }

    /// The history as of the newest commit; nil if the store has none.
    func newestHistory() throws -> (any StoreHistory)?

    /// The history as of the newest commit that this store knows already; nil if it has none.
    func knownHistory() throws -> (any StoreHistory)?

    /// Deletes transactions.
    func deleteHistory(_ selection: HistorySelection, author: String?) throws
}

extension HistoryStore {
    package var recordsHistory: Bool { false }

    package func knownHistory() throws -> (any StoreHistory)? { try newestHistory() }

    package func deleteHistory(_ selection: HistorySelection, author: String?) throws { throw StoreAbility.deletingHistory.missing(in: self) }
}
