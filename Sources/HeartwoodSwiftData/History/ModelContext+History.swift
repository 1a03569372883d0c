import Foundation
import Heartwood

extension ModelContext {
    /// The transactions that the descriptor chooses, in the order in which they were saved.
    /// - Throws: `SwiftDataError`: `.historyTokenExpired` where transactions after a token that the predicate compares with are gone: fetch the
    ///   models then, and go on from the newest token. `.invalidTransactionFetchRequest` where no store has a history of this type;
    ///   `.unsupportedPredicate` where the predicate throws; and the stores' errors.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        if let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>, container.hasDefaultHistory {
            return try history.fetch(descriptor) as? [T] ?? []
        }
        return try historyProviders(of: T.self).flatMap { try $0.fetchAnyHistory(descriptor) as? [T] ?? [] }
    }

    /// Deletes the transactions that the descriptor chooses. The tokens before them expire.
    /// - Throws: as `fetchHistory(_:)` does.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        if let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>, container.hasDefaultHistory {
            return try history.delete(descriptor)
        }
        for provider in try historyProviders(of: T.self) { try provider.deleteAnyHistory(descriptor) }
    }

    var history: DefaultHistory { DefaultHistory(mapped: container.mapped, context: managed) }

    /// - Throws: `SwiftDataError.invalidTransactionFetchRequest` where no store has a history of the type, and `DataStoreError.unsupportedFeature`
    ///   where it is the program's own store that has none.
    private func historyProviders<T: HistoryTransaction>(of type: T.Type) throws -> [any HistoryProviding] {
        let stores = container.container.persistentStoreCoordinator.persistentStores
        let providers = stores.compactMap { ($0 as? any HistoryStoring)?.historyProvider }.filter { $0.transactionType == type }
        guard !providers.isEmpty else {
            if stores.contains(where: { $0 is any HistoryStoring }) { throw DataStoreError.unsupportedFeature }
            throw SwiftDataError.invalidTransactionFetchRequest.because(
                "No store of the container has a history of \(type). The stores of Heartwood have one of DefaultHistoryTransaction.")
        }
        return providers
    }
}

/// A store of the program's own, which may have a history.
protocol HistoryStoring: NSPersistentStore {
    var historyProvider: (any HistoryProviding)? { get }
}

extension HistoryProviding {
    fileprivate var transactionType: any HistoryTransaction.Type { HistoryType.self }

    fileprivate func fetchAnyHistory(_ descriptor: Any) throws -> [any HistoryTransaction] {
        try (descriptor as? HistoryDescriptor<HistoryType>).map(fetchHistory) ?? []
    }

    fileprivate func deleteAnyHistory(_ descriptor: Any) throws {
        try (descriptor as? HistoryDescriptor<HistoryType>).map(deleteHistory)
    }
}
