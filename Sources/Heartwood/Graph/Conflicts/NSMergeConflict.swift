import Foundation

/// One object whose row was changed or deleted after its context had read it.
///
/// Either the context is behind its coordinator, because another context saved: the cached snapshot is the coordinator's newer state. Or
/// the coordinator is behind the store, because another process saved: the persisted snapshot is the newer state. Snapshots hold
/// attributes, to-one relationships as object IDs, and `NSNull` for null; they hold no to-many relationships.
/// Source: https://developer.apple.com/documentation/coredata/nsmergeconflict
open class NSMergeConflict: NSObject {
    /// The object that the save was to write.
    open private(set) var sourceObject: NSManagedObject
    /// The values that the context last read or saved, without its unsaved changes.
    open private(set) var objectSnapshot: [String: Any]?
    /// The row that the coordinator knew when the save began; nil if the row was gone.
    open private(set) var cachedSnapshot: [String: Any]?
    /// The row in the store, if the coordinator did not know it; nil if it did, or if the row is gone.
    open private(set) var persistedSnapshot: [String: Any]?
    /// The row's current version; 0 if it was deleted.
    open private(set) var newVersionNumber: Int
    /// The row version that the context had read.
    open private(set) var oldVersionNumber: Int

    public init(
        source: NSManagedObject, newVersion: Int, oldVersion: Int, cachedSnapshot: [String: Any]?, persistedSnapshot: [String: Any]?
    ) {
        sourceObject = source
        objectSnapshot = source.committedSnapshot
        self.cachedSnapshot = cachedSnapshot
        self.persistedSnapshot = persistedSnapshot
        newVersionNumber = newVersion
        oldVersionNumber = oldVersion
        super.init()
    }

    open override var description: String {
        "<NSMergeConflict for \(sourceObject.objectID.uriRepresentation().absoluteString): it was read at version "
            + "\(oldVersionNumber), the store has \(newVersionNumber == 0 ? "deleted it" : "version \(newVersionNumber)")>"
    }
}

#if !canImport(ObjectiveC)
    extension CocoaError {
        /// The conflicts that the merge policy did not resolve, in an error 133020.
        public var persistentStoreSaveConflicts: [NSMergeConflict]? {
            userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        }
    }
#endif
