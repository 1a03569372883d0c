import Foundation

extension NSPersistentStoreCoordinator {
    /// Returns the position after everything that stores have recorded so far.
    /// - Parameter stores: stores of this coordinator; nil for all of them. Those that track no history are left out.
    /// - Returns: nil if no store tracks its history, or if it cannot be read.
    /// - Complexity: reads one row for each store.
    public final func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = stores?.compactMap { $0 as? NSPersistentStore }
        var positions: [String: NSPersistentHistoryToken.Position] = [:]
        for store in persistentStores where wanted?.contains(where: { $0 === store }) ?? true {
            if let position = try? store.seam.historyStore?.newestHistory()?.newestPosition() { positions[store.identifier] = position }
        }
        return positions.isEmpty ? nil : NSPersistentHistoryToken(positions)
    }
}

/// For tools that show histories of any length.
extension NSPersistentStore {
    /// Calls `body` with each transaction of this store's history from a number on, in their order, until it returns false.
    /// - Throws: 134091 if the store tracks no history.
    package final func forEachTransaction(
        from number: UInt64 = 1, after date: Date? = nil, _ body: (NSPersistentHistoryTransaction) throws -> Bool
    ) throws {
        guard let history = try seam.historyStore?.newestHistory() else {
            throw StoreAbility.history.missing(in: self)
        }
        let selection = try date.map { try history.selection(.after($0.timeIntervalSinceReferenceDate)) } ?? HistorySelection(from: 1)
        try history.forEach(selection.from(number), isWhole: false) { record in
            if record.hasChanges { _ = try history.check(record) }
            return try body(NSPersistentHistoryTransaction(record, record.hasChanges ? .all : .none))
        }
    }

    /// Deletes the transactions with lower numbers.
    package final func deleteTransactions(before number: UInt64) throws {
        try seam.checkWritable()
        try seam.historyStore?.deleteHistory(HistorySelection(before: number), author: nil)
    }

    /// Deletes the transactions with these numbers.
    /// - Complexity: O(n log n).
    package final func deleteTransactions(_ numbers: [UInt64], author: String?) throws {
        try seam.checkWritable()
        var ranges: [Range<UInt64>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, last.upperBound >= number {
                ranges[ranges.count - 1] = last.lowerBound..<number + 1
            } else {
                ranges.append(number..<number + 1)
            }
        }
        try seam.historyStore?.deleteHistory(HistorySelection(ranges, .any), author: author)
    }
}

extension NSPersistentHistoryTransaction {
    /// Whether the changes exist: a salvage may have lost them.
    package var hasChanges: Bool { record.hasChanges }

    /// Calls `body` with each change without building a list of them.
    package func forEachChange(_ body: (NSPersistentHistoryChange) throws -> Bool) throws {
        try record.forEachChange { try body(NSPersistentHistoryChange(record, $0)) }
    }
}
