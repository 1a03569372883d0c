import Foundation
import Heartwood

/// The histories of stores of Heartwood's as transactions of models.
struct DefaultHistory {
    let mapped: MappedModel
    let context: NSManagedObjectContext
    /// nil for all of the coordinator's.
    var stores: [NSPersistentStore]?

    // MARK: Fetching

    /// - Throws: `SwiftDataError`: `.historyTokenExpired` where transactions after a token are gone, or the token is of another history;
    ///   `.invalidTransactionFetchRequest` where no store has a history; `.unsupportedPredicate` where the predicate throws; and the stores' errors.
    /// - Complexity: O(transactions that the store is asked for); see `HistoryBounds`.
    func fetch(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction] {
        try found(descriptor).map { $0.transaction }
    }

    private struct Found {
        let stored: NSPersistentHistoryTransaction
        let transaction: DefaultHistoryTransaction
    }

    private func found(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [Found] {
        let bounds = HistoryBounds(descriptor.predicate)
        for token in bounds.tokens { try check(token) }
        let limit = Int(clamping: descriptor.fetchLimit)
        var list: [Found] = [], position = bounds.after ?? DefaultHistoryToken(NSPersistentHistoryToken())
        for stored in try transactions(bounds) {
            position = position.advanced(by: stored.token)
            let transaction = DefaultHistoryTransaction(stored, position, mapped)
            guard try holds(descriptor.predicate, transaction) else { continue }
            list.append(Found(stored: stored, transaction: transaction))
            if descriptor.sortBy.isEmpty, list.count == limit { break }
        }
        if !descriptor.sortBy.isEmpty {
            let order = list.indices.sorted { a, b in
                for descriptor in descriptor.sortBy {
                    let result = descriptor.compare(list[a].transaction, list[b].transaction)
                    if result != .orderedSame { return result == .orderedAscending }
                }
                return a < b
            }
            list = order.map { list[$0] }
        }
        return limit > 0 ? Array(list.prefix(limit)) : list
    }

    private func holds(_ predicate: Predicate<DefaultHistoryTransaction>?, _ transaction: DefaultHistoryTransaction) throws -> Bool {
        guard let predicate else { return true }
        do {
            return try predicate.evaluate(transaction)
        } catch {
            throw SwiftDataError.unsupportedPredicate.because("The predicate \(predicate) cannot be evaluated: \(error)", underlying: error)
        }
    }

    private func transactions(_ bounds: HistoryBounds) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: bounds.after?.token)
        request.affectedStores = stores
        var conditions = bounds.conditions
        for (store, number) in bounds.upTo?.tokenValue ?? [:] {
            conditions.append(NSPredicate(format: "storeID != %@ OR transactionNumber <= %@", argumentArray: [store, number]))
        }
        if !conditions.isEmpty {
            let fetch = NSPersistentHistoryTransaction.fetchRequest
            fetch?.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
            request.fetchRequest = fetch
        }
        return try result(of: request) as? [NSPersistentHistoryTransaction] ?? []
    }

    /// - Throws: `SwiftDataError.historyTokenExpired` for a token of another history, and for one whose next transaction is gone.
    private func check(_ token: DefaultHistoryToken) throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token.token)
        request.affectedStores = stores
        request.resultType = .statusOnly
        _ = try result(of: request)
    }

    private func result(of request: NSPersistentHistoryChangeRequest) throws -> Any? {
        do {
            return (try context.execute(request) as? NSPersistentHistoryResult)?.result
        } catch let error as NSError where error.code == NSPersistentHistoryTokenExpiredError {
            throw SwiftDataError.historyTokenExpired.because(error.localizedDescription, underlying: error)
        } catch let error as NSError where error.code == NSPersistentStoreUnsupportedRequestTypeError {
            throw SwiftDataError.invalidTransactionFetchRequest.because(error.localizedDescription, underlying: error)
        }
    }

    /// The transactions of a container's stores after a token, as the stores have them.
    /// - Throws: as `fetch(_:)` does.
    static func transactions(of container: ModelContainer, after token: NSPersistentHistoryToken) throws -> [NSPersistentHistoryTransaction] {
        var bounds = HistoryBounds(nil as Predicate<DefaultHistoryTransaction>?)
        bounds.after = DefaultHistoryToken(token)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.container.persistentStoreCoordinator
        let history = DefaultHistory(mapped: container.mapped, context: context)
        return try context.performAndWait { try history.transactions(bounds) }
    }

    /// The position after the newest transaction of each store that has a history, by the store's identifier.
    func tokens() -> [String: any HistoryToken] {
        guard let coordinator = context.persistentStoreCoordinator else { return [:] }
        var tokens: [String: any HistoryToken] = [:]
        for (store, position) in coordinator.currentPersistentHistoryToken(fromStores: stores)?.positions ?? [:] {
            tokens[store] = DefaultHistoryToken(NSPersistentHistoryToken([store: position]))
        }
        return tokens
    }

    // MARK: Deleting

    /// Deletes the transactions that the descriptor chooses. The tokens before them expire.
    /// - Throws: as `fetch` does, and for a store that is read-only. The transactions of the stores before it are deleted then.
    func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        var numbers: [String: [UInt64]] = [:]
        for found in try found(descriptor) {
            guard let number = UInt64(exactly: found.stored.transactionNumber) else { continue }
            numbers[found.stored.storeID, default: []].append(number)
        }
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            guard let gone = numbers[store.identifier] else { continue }
            try store.deleteTransactions(gone, author: context.transactionAuthor)
        }
    }
}

extension DefaultHistoryTransaction {
    fileprivate init(_ stored: NSPersistentHistoryTransaction, _ token: DefaultHistoryToken, _ mapped: MappedModel) {
        let number = stored.transactionNumber
        timestamp = stored.timestamp
        changes = (stored.changes ?? []).map { HistoryChange($0, in: number, mapped) }
        self.token = token
        transactionIdentifier = number
        storeIdentifier = stored.storeID
        bundleIdentifier = stored.bundleID
        processIdentifier = stored.processID
        author = stored.author
    }
}

extension NSPersistentHistoryToken {
    /// The token behind transactions that were read after it was made: a commit that came in between is not to be read again.
    func passing(_ transactions: [NSPersistentHistoryTransaction]) -> NSPersistentHistoryToken {
        var positions = positions
        for transaction in transactions { positions.merge(transaction.token.positions) { $1.number > $0.number ? $1 : $0 } }
        return NSPersistentHistoryToken(positions)
    }
}
