import Foundation

/// A store option: whether the store tracks its history, a Boolean. The default is false. It applies to record logs, in files and in memory; other
/// store types have no history and ignore it.
///
/// A store with a history goes on recording for every process that opens it and with all options, so that no reader of the history misses a change.
/// To end a history, delete all of it and then add the store with false.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// In the user info of `NSPersistentStoreRemoteChange`, for a store that tracks its history: the `NSPersistentHistoryToken` after the newest known
/// commit.
public let NSPersistentHistoryTokenKey = "historyToken"

/// The contents of a history request's result.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistoryresulttype
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// A Boolean, always true: failures throw.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: the IDs of the changed objects, each once, in the order of their first changes.
    case objectIDs = 1
    /// `Int`: the number of changes. No change is created for it.
    case count = 2
    /// `[NSPersistentHistoryTransaction]`, without their changes.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]`, with their changes.
    case transactionsAndChanges = 5
}

/// The result of an `NSPersistentHistoryChangeRequest`.
///
/// Transactions come in the order in which they were committed; of several stores, by their times.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistoryresult
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// The type depends on `resultType`.
    public final let result: Any?
    public final let resultType: NSPersistentHistoryResultType

    init(_ result: Any, _ type: NSPersistentHistoryResultType) {
        self.result = result
        resultType = type
    }
}
