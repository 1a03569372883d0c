import Foundation
import RecordLog

extension NSManagedObjectContext {
    final func changedObjects(where condition: (NSManagedObject) -> Bool) -> Set<NSManagedObject> {
        checkQueue()
        return Set(pending.listed.lazy.filter(condition))
    }

    /// Implements `insert(_:)`.
    final func performInsertion(of object: NSManagedObject) {
        checkQueue("insert(_:)")
        guard object.state.contains(.detached) else {
            demand(object.managedObjectContext === self, "The object belongs to another context; use object(with:) there.")
            if object.isDeleted {
                undelete(object)
            } else if object.isInserted {
                noteEvent(.inserted, object)
            }
            return
        }
        demand(
            object.contextReference == nil || object.contextReference?.toOpaque() == Unmanaged.passUnretained(self).toOpaque(),
            "The object was of another context; insert a new one.")
        forgetMergedDeletion(object.key)
        object.prepareForInsertion()
        let runtime = runtime(for: object.entity)
        object.entityInContext = entity(of: runtime)
        object.contextReference = Unmanaged.passUnretained(self)
        if !object.key.isNone { NSManagedObjectID.noteChanges() }
        object.key = nextTemporaryKey(slot: runtime.slot)
        object.state = insertedState(of: object)
        object.epoch = making.epoch
        if type(of: object) != runtime.objectClass { making.hasOtherClasses = true }
        identities.insert(object, for: object.key)
        list(object)
        pending.changeCount += 1
        noteEvent(.inserted, object)
        if object.state.contains(.recorded) { object.recordInsertion() }
        object.awakeFromInsert()
    }

    /// The state of an object that begins to be inserted. If it was inserted and deleted before and no save came between, it is listed already.
    final func insertedState(of object: NSManagedObject) -> ObjectState {
        let listed = object.state.intersection(.listed)
        if !listed.isEmpty { pending.changedAgain.append(object) }
        return making.objectFlags.union(.inserted).union(listed)
    }

    /// Undoes the unsaved deletion of an object.
    final func undelete(_ object: NSManagedObject) {
        object.noteHidden()
        object.state.remove(.deleted)
        if object.state.isDisjoint(with: .changed) { pending.changeCount -= 1 }
        if object.state.contains(.outdated) { rebase(object) }
        noteEvent(.inserted, object)
        if object.state.contains(.recorded) { object.recordInsertion() }
    }

    final func list(_ object: NSManagedObject) {
        guard !object.state.contains(.listed) else { return }
        object.state.insert(.listed)
        pending.listed.append(object)
    }

    /// Called at an object's first change since the last save, and at its first change in an event.
    final func noteUpdate(of object: NSManagedObject) {
        guard object.state.isDisjoint(with: [.waking, .detached]) else { return }
        object.noteHidden()
        if object.state.contains(.processed) {
            object.state.remove(.processed)
            if object.state.contains(.listed) { pending.changedAgain.append(object) }
        }
        guard !object.isInserted else { return }
        if object.state.isDisjoint(with: .changed) { pending.changeCount += 1 }
        object.state.insert(.updated)
        list(object)
    }

    final func forgetChanges(of object: NSManagedObject) {
        object.noteHidden()
        if !object.state.isDisjoint(with: .changed) { pending.changeCount -= 1 }
        object.state.subtract(.changed)
        object.dropValues()
    }

    /// Implements `delete(_:)`.
    final func performDeletion(of object: NSManagedObject) {
        checkQueue("delete(_:)")
        guard !isGone(already: object) else { return }
        demand(
            object.managedObjectContext === self,
            object.state.contains(.detached)
                ? "The object to delete belongs to no context: its context was reset, or it was never inserted. Fetch it anew."
                : "An object is deleted in the context it belongs to; use object(with:) there.")
        var pending = [object]
        while let next = pending.popLast() {
            guard !next.isDeleted, next.state.isDisjoint(with: [.detached, .deleting]) else { continue }
            next.state.insert(.deleting)
            defer { next.state.remove(.deleting) }
            next.prepareForDeletion()
            remove(next, cascade: &pending)
        }
    }

    /// Removes an object from its relationships, and an inserted object from the context; marks any other object as deleted for the next
    /// save.
    /// - Parameter cascade: receives the objects that a cascade rule deletes as well.
    final func remove(_ object: NSManagedObject, cascade: inout [NSManagedObject]) {
        object.storage?.publisher?.send()
        object.noteHidden()
        noteEvent(.deleted, object)
        let remains = object.remains
        for index in object.runtime.properties.indices where object.runtime.properties[index].kind.isRelationship {
            detach(object, relationship: index, cascade: &cascade)
        }
        if let remains { object.recordDeletion(remains) }
        if object.isInserted {
            pending.changeCount -= 1
            noteDrop(of: object)
            identities.remove(object.key)
            object.state.remove([.inserted, .updated])
            object.state.insert([.deleted, .detached])
        } else {
            if object.state.isDisjoint(with: .changed) { pending.changeCount += 1 }
            object.state.insert(.deleted)
            object.state.remove(.processed)
            list(object)
        }
    }

    /// Applies the delete rules again for a deleted object that was bound to a newer row.
    final func followDeleteRules(of object: NSManagedObject) throws {
        for (index, property) in object.runtime.properties.enumerated() where property.kind.isRelationship {
            guard property.deleteRule == .nullifyDeleteRule || property.deleteRule == .cascadeDeleteRule else { continue }
            let destinations = property.kind == .toMany
                ? object.managedObjects(at: index) : object.managedObject(at: index).map { [$0] } ?? []
            for destination in destinations where !destination.isDeleted {
                if let inverse = property.inverse {
                    if property.inverseIsToMany {
                        destination.unlink(inverse, from: object)
                    } else {
                        try part(destination.key, inverse, from: object.key)
                    }
                }
                if property.deleteRule == .cascadeDeleteRule { performDeletion(of: destination) }
            }
        }
    }

    /// Whether this context has already deleted the object, and the deletion was saved or needed no save.
    private func isGone(already object: NSManagedObject) -> Bool {
        object.state.contains(.detached) && !object.state.isDisjoint(with: [.deleted, .erased])
            && object.contextReference?.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
    }

    private func detach(_ object: NSManagedObject, relationship index: Int, cascade: inout [NSManagedObject]) {
        let property = object.runtime.properties[index]
        let isKept = property.deleteRule == .noActionDeleteRule || property.deleteRule == .denyDeleteRule
        guard !isKept || object.isInserted else { return }
        let destinations = property.kind == .toMany
            ? object.managedObjects(at: index) : object.managedObject(at: index).map { [$0] } ?? []
        for destination in destinations where !destination.isDeleted {
            if property.deleteRule == .cascadeDeleteRule { cascade.append(destination) }
            if let inverse = property.inverse { destination.unlink(inverse, from: object) }
        }
    }

    /// Implements `rollback()`.
    final func performRollback() {
        checkQueue("rollback()")
        recorder?.forget()
        let changed = pending.listed
        pending.listed = []
        pending.changedAgain = []
        pending.eventStart = 0
        for object in changed {
            object.state.remove(.listed)
            if object.isInserted {
                noteDrop(of: object)
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
        pending.changeCount = 0
        endMergedDeletions(isSaved: false)
        pending.unfulfilled = nil
        guard readingFailure != nil else { return }
        readingFailure = nil
        for object in identities.all { object.becomeFault() }
    }

    /// Implements `reset()`.
    final func performReset() {
        checkQueue("reset()")
        if tree.hasChildren { tree.changes.note() }
        var forgotten: [NSManagedObjectID] = []
        if ChangeEvents.areObserved {
            identities.sweep()
            forgotten = identities.all.map(\.objectID)
        }
        for object in pending.mergedDeletions.values { object.forgetEverything() }
        pending.mergedDeletions = [:]
        identities.forEach { $0.forgetEverything() }
        identities.removeAll()
        // Those that were deleted before a save are no longer registered.
        for object in pending.listed { object.state.remove(.listed) }
        pending.listed = []
        pending.checked = []
        pending.changedAgain = []
        pending.eventStart = 0
        pending.changeCount = 0
        readingFailure = nil
        pending.unfulfilled = nil
        forgetViews()
        advanceGeneration()
        announceReset(forgotten)
    }
}
