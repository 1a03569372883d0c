import Foundation
import Heartwood

/// The identities that a save has changed.
struct SavedChanges: Sendable {
    var inserted: Set<NSManagedObjectID> = []
    var updated: Set<NSManagedObjectID> = []
    var deleted: Set<NSManagedObjectID> = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// Adds the changes of a later save. An undo may insert again what an earlier save has deleted: such a model is there.
    mutating func add(_ later: SavedChanges) {
        deleted = deleted.subtracting(later.inserted).union(later.deleted)
        inserted = inserted.union(later.inserted).subtracting(later.deleted)
        updated = updated.union(later.updated).subtracting(later.deleted)
    }

    /// As `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)` takes them.
    var userInfo: [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = Array(inserted) }
        if !updated.isEmpty { info[NSUpdatedObjectsKey] = Array(updated) }
        if !deleted.isEmpty { info[NSDeletedObjectsKey] = Array(deleted) }
        return info
    }
}
