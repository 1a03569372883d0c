import Foundation

/// One object that a save found changed, or gone, since its context had read it.
///
/// Either the context is behind its coordinator (another context saved): the cached snapshot is the coordinator's newer state.
/// Or the coordinator is behind the store (another process saved): the persisted snapshot is the newer state. Snapshots hold
/// attributes and to-one relationships, these as object IDs, and `NSNull` for null; to-many relationships are not in them.
/// Source: https://developer.apple.com/documentation/coredata/nsmergeconflict
open class NSMergeConflict: NSObject {
    /// The object that was to be saved.
    open private(set) var sourceObject: NSManagedObject
    /// The values that the context last read or saved, without its unsaved changes.
    open private(set) var objectSnapshot: [String: Any]?
    /// What the coordinator knew when the save began; nil where the row was gone.
    open private(set) var cachedSnapshot: [String: Any]?
    /// What the store has, where the coordinator did not know it; nil where the row is gone.
    open private(set) var persistedSnapshot: [String: Any]?
    /// The row's version now; 0 where it was deleted.
    open private(set) var newVersionNumber: Int
    /// The row's version that the context had read.
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
