import Foundation
import Heartwood

/// The identities that a save has changed.
struct SavedChanges: Sendable {
    var inserted: Set<NSManagedObjectID> = []
    var updated: Set<NSManagedObjectID> = []
    var deleted: Set<NSManagedObjectID> = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    mutating func formUnion(_ other: SavedChanges) {
        inserted.formUnion(other.inserted)
        updated.formUnion(other.updated)
        deleted.formUnion(other.deleted)
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
