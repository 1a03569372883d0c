import Foundation

/// Whether a store tracks its history: a Boolean. The default is false. For record logs, in files and in memory; stores of other types have
/// no history, and take no notice of it.
///
/// A store that has a history goes on recording, whoever opens it and with whatever options, so that no reader of the history misses
/// anything. To end it, delete all of it and then add the store with false.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// In the user info of `NSPersistentStoreRemoteChange`, of a store that tracks history: the `NSPersistentHistoryToken` behind what is
/// known to have been committed.
public let NSPersistentHistoryTokenKey = "historyToken"

/// What a history request tells.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistoryresulttype
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// A Boolean: true, since what fails throws.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: of the objects that were changed, each once, in the order of their first changes.
    case objectIDs = 1
    /// How many changes there are: an `Int`. No change is made for it.
    case count = 2
    /// `[NSPersistentHistoryTransaction]`, which have no changes.
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
    /// As `resultType` says.
    public final let result: Any?
    public final let resultType: NSPersistentHistoryResultType

    init(_ result: Any, _ type: NSPersistentHistoryResultType) {
        self.result = result
        resultType = type
    }
}
