import Foundation

/// What a context gives for a request that it has executed.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoreresult
open class NSPersistentStoreResult: NSObject {}

/// What a batch insertion tells.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// A Boolean: true, since what fails throws.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: of each object that was inserted or, where a value must be unique, updated.
    case objectIDs = 1
    /// How many objects that are.
    case count = 2
}

/// What a batch update tells.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// A Boolean: true, since what fails throws.
    case statusOnlyResultType = 0
    /// `[NSManagedObjectID]`: of each object that the predicate matched.
    case updatedObjectIDsResultType = 1
    /// How many objects that are.
    case updatedObjectsCountResultType = 2
}

/// What a batch deletion tells.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// A Boolean: true, since what fails throws.
    case resultTypeStatusOnly = 0
    /// `[NSManagedObjectID]`: of each object that was deleted, by cascading delete rules as well.
    case resultTypeObjectIDs = 1
    /// How many objects that are.
    case resultTypeCount = 2
}

/// The result of an `NSBatchInsertRequest`.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// As `resultType` says: `Bool`, `[NSManagedObjectID]` or `Int`.
    public final let result: Any?
    public final let resultType: NSBatchInsertRequestResultType

    init(_ result: Any, _ type: NSBatchInsertRequestResultType) {
        self.result = result
        resultType = type
    }
}

/// The result of an `NSBatchUpdateRequest`.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// As `resultType` says: `Bool`, `[NSManagedObjectID]` or `Int`.
    public final let result: Any?
    public final let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any, _ type: NSBatchUpdateRequestResultType) {
        self.result = result
        resultType = type
    }
}

/// The result of an `NSBatchDeleteRequest`.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// As `resultType` says: `Bool`, `[NSManagedObjectID]` or `Int`.
    public final let result: Any?
    public final let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any, _ type: NSBatchDeleteRequestResultType) {
        self.result = result
        resultType = type
    }
}
