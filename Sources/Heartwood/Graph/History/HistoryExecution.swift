import Foundation

/// Executes one history request over the stores of a context's coordinator.
struct HistoryExecution {
    private let request: NSPersistentHistoryChangeRequest
    private let context: NSManagedObjectContext

    init(_ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext) {
        self.request = request
        self.context = context
    }

    /// One store that tracks its history, and the transactions that the request selects from it.
    private struct Part {
        let store: NSPersistentStore
        let reader: any StoreHistory
        var selection = HistorySelection(from: 1)
    }

    /// A transaction and its reader.
    private struct Found {
        let reader: any StoreHistory
        let record: HistoryRecord
    }

    func run() throws -> NSPersistentHistoryResult {
        let stores = (context.coordinator?.persistentStores ?? []).filter { store in
            request.affectedStores?.contains { $0 === store } ?? true
        }
        let parts = try stores.compactMap { store in try store.seam.historyStore?.newestHistory().map { Part(store: store, reader: $0) } }
        guard !parts.isEmpty || stores.contains(where: { $0.seam.historyStore?.recordsHistory ?? false }) else {
            throw CoreDataError.unsupported(
                "No store that was asked tracks its history; add a record log with the option NSPersistentHistoryTrackingKey.")
        }
        if case .token(let token) = request.bound { try check(token, parts) }
        if request.isDeletion { return try delete(parts) }
        let filter = try HistoryFilter(request.fetchRequest)
        return try fetch(try parts.map(bounded), filter)
    }

    /// - Throws: 134301 for a token that names a position in none of the stores.
    private func check(_ token: NSPersistentHistoryToken, _ parts: [Part]) throws {
        guard !token.positions.isEmpty, !parts.contains(where: { token.positions[$0.reader.source.storeIdentifier] != nil }) else { return }
        throw CoreDataError.make(
            NSPersistentHistoryTokenExpiredError,
            "The history token is of no store that was asked and tracks its history (\(token.positions.keys.sorted().joined(separator: ", "))). "
                + "Read the stores themselves, and go on from their current token.")
    }

    private func bounded(_ part: Part) throws -> Part {
        var part = part
        switch request.bound {
        case .everything: break
        case .date(let date): part.selection = try part.reader.selection(.after(date.timeIntervalSinceReferenceDate))
        case .token(let token):
            guard let position = token.positions[part.reader.source.storeIdentifier] else { break }
            part.selection = HistorySelection(from: try part.reader.number(behind: position))
        }
        return part
    }

    // MARK: Deleting

    private func delete(_ parts: [Part]) throws -> NSPersistentHistoryResult {
        for part in parts { try part.store.seam.checkWritable() }
        for part in parts {
            switch request.bound {
            case .everything: break
            case .date(let date):
                let selection = try part.reader.selection(.before(date.timeIntervalSinceReferenceDate))
                try part.store.seam.historyStore?.deleteHistory(selection, author: context.transactionAuthor)
            case .token(let token):
                guard let position = token.positions[part.reader.source.storeIdentifier] else { continue }
                let selection = HistorySelection(before: try part.reader.number(of: position))
                try part.store.seam.historyStore?.deleteHistory(selection, author: context.transactionAuthor)
            }
        }
        return NSPersistentHistoryResult(true, .statusOnly)
    }

    // MARK: Fetching

    /// Calls `body` with the selected transactions until it returns false. The transactions of one store come in the order of their numbers, those
    /// of several stores in the order of their times. A transaction whose clock was ahead sorts with the earliest of the later transactions of its
    /// store.
    private func forEach(_ parts: [Part], _ body: (Found) throws -> Bool) throws {
        let isWhole = request.token != nil
        if parts.count == 1, let part = parts.first {
            return try part.reader.forEach(part.selection, isWhole: isWhole) { try body(Found(reader: part.reader, record: $0)) }
        }
        var all: [(found: Found, time: Double)] = []
        for part in parts {
            let start = all.count
            try part.reader.forEach(part.selection, isWhole: isWhole) { record in
                all.append((Found(reader: part.reader, record: record), record.timestamp))
                return true
            }
            for index in (start..<all.count).dropLast().reversed() { all[index].time = min(all[index].time, all[index + 1].time) }
        }
        let order = all.indices.sorted { (all[$0].time, $0) < (all[$1].time, $1) }
        for index in order where try !body(all[index].found) { return }
    }

    private func fetch(_ parts: [Part], _ filter: HistoryFilter) throws -> NSPersistentHistoryResult {
        if request.resultType == .statusOnly { return NSPersistentHistoryResult(true, .statusOnly) }
        return NSPersistentHistoryResult(
            try filter.isOfChanges ? fetchChanges(parts, filter) : fetchTransactions(parts, filter), request.resultType)
    }

    private func fetchTransactions(_ parts: [Part], _ filter: HistoryFilter) throws -> Any {
        var list: [Found] = []
        try forEach(parts) { found in
            if try filter.holds(for: NSPersistentHistoryTransaction(found.record, .none)) { list.append(found) }
            return list.count < filter.enough
        }
        list = try filter.window(list) { NSPersistentHistoryTransaction($0.record, .none) }
        switch request.resultType {
        case .transactionsOnly: return list.map { NSPersistentHistoryTransaction($0.record, .none) }
        case .count: return try list.reduce(0) { try $0 + $1.reader.check($1.record) }
        case .transactionsAndChanges, .statusOnly:
            return try list.map { found in
                _ = try found.reader.check(found.record)
                return NSPersistentHistoryTransaction(found.record, .all)
            }
        case .changesOnly, .objectIDs:
            var changes: [(HistoryRecord, HistoryChange)] = []
            for found in list {
                _ = try found.reader.check(found.record)
                try found.record.forEachChange { changes.append((found.record, $0)); return true }
            }
            return result(changes)
        }
    }

    private func fetchChanges(_ parts: [Part], _ filter: HistoryFilter) throws -> Any {
        var list: [(HistoryRecord, HistoryChange)] = []
        try forEach(parts) { found in
            _ = try found.reader.check(found.record)
            try found.record.forEachChange { change in
                if try filter.holds(for: NSPersistentHistoryChange(found.record, change)) { list.append((found.record, change)) }
                return list.count < filter.enough
            }
            return list.count < filter.enough
        }
        list = try filter.window(list) { NSPersistentHistoryChange($0.0, $0.1) }
        guard [.transactionsOnly, .transactionsAndChanges].contains(request.resultType) else { return result(list) }
        var transactions: [(record: HistoryRecord, changes: [HistoryChange])] = []
        var indexes: [ObjectIdentifier: Int] = [:]
        for (record, change) in list {
            let index = indexes[ObjectIdentifier(record)] ?? transactions.count
            if index == transactions.count {
                indexes[ObjectIdentifier(record)] = index
                transactions.append((record, []))
            }
            transactions[index].changes.append(change)
        }
        let isBare = request.resultType == .transactionsOnly
        return transactions.map { NSPersistentHistoryTransaction($0.record, isBare ? .none : .some($0.changes)) }
    }

    /// Converts changes to the request's result type.
    private func result(_ list: [(HistoryRecord, HistoryChange)]) -> Any {
        guard request.resultType != .count else { return list.count }
        let changes = list.map { NSPersistentHistoryChange($0.0, $0.1) }
        guard request.resultType == .objectIDs else { return changes }
        var seen: Set<NSManagedObjectID> = []
        return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
    }
}
