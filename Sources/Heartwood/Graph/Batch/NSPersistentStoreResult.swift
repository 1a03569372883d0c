import Foundation

/// The result of a request that a context has executed.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoreresult
open class NSPersistentStoreResult: NSObject {}

/// The kind of result of a batch insertion.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// A Boolean, always true: a failure throws.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: the IDs of the objects inserted, and of those updated because a unique value existed.
    case objectIDs = 1
    /// The number of these objects.
    case count = 2
}

/// The kind of result of a batch update.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// A Boolean, always true: a failure throws.
    case statusOnlyResultType = 0
    /// `[NSManagedObjectID]`: the IDs of the objects that the predicate matched.
    case updatedObjectIDsResultType = 1
    /// The number of these objects.
    case updatedObjectsCountResultType = 2
}

/// The kind of result of a batch deletion.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// A Boolean, always true: a failure throws.
    case resultTypeStatusOnly = 0
    /// `[NSManagedObjectID]`: the IDs of the objects deleted, also by cascading delete rules.
    case resultTypeObjectIDs = 1
    /// The number of deleted objects that the request targets, without those that only a cascade deleted.
    case resultTypeCount = 2
}

/// The result of an `NSBatchInsertRequest`.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// A `Bool`, `[NSManagedObjectID]` or `Int`, according to `resultType`.
    public final let result: Any?
    public final let resultType: NSBatchInsertRequestResultType

    init(_ result: Any, _ type: NSBatchInsertRequestResultType) {
        self.result = result
        resultType = type
    }
}

/// The result of an `NSBatchUpdateRequest`.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// A `Bool`, `[NSManagedObjectID]` or `Int`, according to `resultType`.
    public final let result: Any?
    public final let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any, _ type: NSBatchUpdateRequestResultType) {
        self.result = result
        resultType = type
    }
}

/// The result of an `NSBatchDeleteRequest`.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// A `Bool`, `[NSManagedObjectID]` or `Int`, according to `resultType`.
    public final let result: Any?
    public final let resultType: NSBatchDeleteRequestResultType
    /// The number of objects that the request targets.
    package final let count: Int

    init(_ result: Any, _ type: NSBatchDeleteRequestResultType, count: Int) {
        self.result = result
        self.count = count
        resultType = type
    }
}
