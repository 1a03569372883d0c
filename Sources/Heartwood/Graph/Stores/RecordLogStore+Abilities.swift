import Foundation
import RecordLog

extension RecordLogStore {
    package final var batchStore: (any BatchStore)? { self }
    package final var historyStore: (any HistoryStore)? { self }
    package final var transferStore: (any TransferStore)? { self }
    package final var joinedLog: RecordLogStore? { savesTogether ? self : nil }
}

extension RecordLogStore: HistoryStore {
    package final var recordsHistory: Bool { history.isEnabled }

    package final func newestHistory() throws -> (any StoreHistory)? { try newestLogHistory() }

    package final func knownHistory() throws -> (any StoreHistory)? { try knownLogHistory() }
}

extension RecordLogStore: TransferStore {
    /// The rows of another record log, in a file or in memory, are copied as they are.
    package final func takeContents(of source: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator) throws -> MovedObjects? {
        guard let log = source.ownLog else { return nil }
        try log.copy(to: self)
        return .sameRows
    }
}
