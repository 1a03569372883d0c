import Foundation
import RecordLog

extension NSManagedObjectContext {
    /// Whether there is anything to save.
    public final var hasChanges: Bool {
        checkQueue()
        return changeCount > 0
    }

    public final var insertedObjects: Set<NSManagedObject> { changedObjects { $0.isInserted && !$0.isDeleted } }
    public final var updatedObjects: Set<NSManagedObject> { changedObjects(where: \.isUpdated) }
    public final var deletedObjects: Set<NSManagedObject> { changedObjects { $0.isDeleted && !$0.state.contains(.detached) } }

    private func changedObjects(where condition: (NSManagedObject) -> Bool) -> Set<NSManagedObject> {
        checkQueue()
        return Set(listed.lazy.filter(condition))
    }

    /// Adds an object that belongs to no context yet; the next save writes it.
    public final func insert(_ object: NSManagedObject) {
        checkQueue()
        guard object.state.contains(.detached) else {
            precondition(object.managedObjectContext === self, "The object belongs to another context; use object(with:) there.")
            if object.isDeleted { undelete(object) }
            return
        }
        let runtime = runtime(for: object.entity)
        object.runtime = runtime
        object.contextReference = Unmanaged.passUnretained(self)
        object.key = nextTemporaryKey(slot: runtime.slot)
        object.state = isWatched ? [.inserted, .watched] : .inserted
        object.rowBody = nil
        identities.insert(object, for: object.key)
        list(object)
        changeCount += 1
        noteEvent(.inserted, object)
        object.awakeFromInsert()
    }

    private func undelete(_ object: NSManagedObject) {
        object.state.remove(.deleted)
        if object.state.isDisjoint(with: .changed) { changeCount -= 1 }
    }

    final func list(_ object: NSManagedObject) {
        guard !object.state.contains(.listed) else { return }
        object.state.insert(.listed)
        listed.append(object)
    }

    /// Called at the first change of an object since the last save, and since the last event.
    final func noteUpdate(of object: NSManagedObject) {
        guard !object.state.contains(.waking) else { return }
        if object.state.contains(.settled) {
            object.state.remove(.settled)
            if object.state.contains(.listed) { changedAgain.append(object) }
        }
        guard !object.isInserted else { return }
        if object.state.isDisjoint(with: .changed) { changeCount += 1 }
        object.state.insert(.updated)
        list(object)
    }

    final func forgetChanges(of object: NSManagedObject) {
        if !object.state.isDisjoint(with: .changed) { changeCount -= 1 }
        object.state.subtract(.changed)
        object.storage?.values = []
    }

    /// Marks an object for deletion by the next save, and follows the delete rules of its relationships: nullify takes it
    /// out of the other side, cascade deletes the destinations, deny makes the save fail while a destination remains.
    ///
    /// O(destinations). An object that was never saved is forgotten at once.
    public final func delete(_ object: NSManagedObject) {
        checkQueue()
        precondition(
            object.managedObjectContext === self, "An object is deleted in the context it belongs to; use object(with:) there.")
        var pending = [object]
        while let next = pending.popLast() {
            guard !next.isDeleted, !next.state.contains(.detached) else { continue }
            next.prepareForDeletion()
            next.storage?.publisher?.send()
            noteEvent(.deleted, next)
            for index in next.runtime.properties.indices where next.runtime.properties[index].kind.isRelationship {
                detach(next, relationship: index, cascade: &pending)
            }
            if next.isInserted {
                changeCount -= 1
                identities.remove(next.key)
                next.state.remove([.inserted, .updated])
                next.state.insert([.deleted, .detached])
            } else {
                if next.state.isDisjoint(with: .changed) { changeCount += 1 }
                next.state.insert(.deleted)
                next.state.remove(.settled)
                list(next)
            }
        }
    }

    private func detach(_ object: NSManagedObject, relationship index: Int, cascade: inout [NSManagedObject]) {
        let property = object.runtime.properties[index]
        let isDenied = property.deleteRule == .denyDeleteRule
        guard property.deleteRule != .noActionDeleteRule, !isDenied else { return }
        let destinations = property.kind == .toMany
            ? object.managedObjects(at: index) : object.managedObject(at: index).map { [$0] } ?? []
        for destination in destinations where !destination.isDeleted {
            if property.deleteRule == .cascadeDeleteRule { cascade.append(destination) }
            if let inverse = property.inverse { destination.unlink(inverse, from: object) }
        }
    }

    /// Drops every change since the last save: inserted objects go, deleted ones come back, changed ones have the values that
    /// they had. Nothing is read anew (`refresh(_:mergeChanges:)` does that), unless a property could not be read: then all objects
    /// read theirs, and saving is possible again.
    public final func rollback() {
        checkQueue()
        let changed = listed
        listed = []
        for object in changed {
            object.state.remove(.listed)
            if object.isInserted {
                identities.remove(object.key)
                object.state = [.detached]
                object.rowBody = nil
                noteEvent(.deleted, object)
            } else if !object.state.contains(.detached) {
                object.state.subtract(.changed)
                object.restore()
                noteEvent(.refreshed, object)
            }
        }
        changeCount = 0
        unfulfilled = nil
        guard readingFailure != nil else { return }
        readingFailure = nil
        for object in identities.all { object.becomeFault() }
    }
}
