import RecordLog

extension NSManagedObjectContext {
    /// Undoes the changes in a journal. Its own changes are recorded in a journal for the redo.
    ///
    /// An object in a step may have been deleted or changed by others meanwhile: then the step does less, or nothing.
    final func revert(_ journal: UndoJournal) {
        usingRows {
            var reversion = UndoReversion(self)
            for step in journal.steps.reversed() { reversion.take(step) }
            reversion.finish()
            registerUndo()
        }
    }
}

/// The reversion of one journal.
private struct UndoReversion {
    private let context: NSManagedObjectContext
    /// The events to report to each object, in the order in which the objects were found.
    private var woken: [(object: NSManagedObject, events: NSSnapshotEventType)] = []
    private var positions: [ObjectIdentifier: Int] = [:]
    private var broughtBack: [(object: NSManagedObject, remains: DeletedObjectState)] = []

    init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    private func isThere(_ object: NSManagedObject) -> Bool {
        object.managedObjectContext === context && !object.isDeleted
    }

    /// Whether a property of the object can be written. Its fault fires first, since its row may be gone.
    private func canWrite(_ object: NSManagedObject) -> Bool {
        guard isThere(object) else { return false }
        object.fireFault()
        return isThere(object)
    }

    private mutating func wake(_ object: NSManagedObject, _ event: NSSnapshotEventType) {
        if let position = positions[ObjectIdentifier(object)] {
            woken[position].events.insert(event)
        } else {
            positions[ObjectIdentifier(object)] = woken.count
            woken.append((object, event))
        }
    }

    mutating func take(_ step: UndoStep) {
        switch step {
        case .inserted(let object):
            guard isThere(object) else { return }
            var cascade: [NSManagedObject] = []
            context.remove(object, cascade: &cascade)
            wake(object, .undoInsertion)
        case .deleted(let object, let remains): bringBack(object, remains)
        case .value(let object, let index, let value):
            guard canWrite(object) else { return }
            object.setManagedValue(object.presentForm(of: value, at: index), at: index)
            wake(object, .undoUpdate)
        case .destination(let object, let index, let destination):
            guard canWrite(object) else { return }
            object.setManagedObject(destination.flatMap { isThere($0) ? $0 : nil }, at: index)
            // If the destination was already right nothing was set, but the redo needs a step.
            if object.state.contains(.recorded) { object.recordValue(index) }
            wake(object, .undoUpdate)
        case .added(let object, let index, let member):
            guard canWrite(object), isThere(member) else { return }
            object.removeManagedObject(member, at: index)
            wake(object, .undoUpdate)
        case .removed(let object, let index, let member):
            guard canWrite(object), isThere(member) else { return }
            object.addManagedObject(member, at: index)
            wake(object, .undoUpdate)
        case .order(let object, let index, let members):
            guard canWrite(object) else { return }
            object.restoreOrder(members, at: index)
            wake(object, .undoUpdate)
        }
    }

    mutating func finish() {
        // Until now restored objects may refer to objects that were not restored.
        for (object, remains) in broughtBack where isThere(object) {
            for (index, destinations) in remains.destinations {
                for destination in destinations where !isThere(destination) { object.drop(destination, at: index) }
            }
        }
        for (object, events) in woken {
            // An insertion or deletion includes updates of the same object.
            let isUpdate = events == .undoUpdate
            object.wake(fromSnapshotEvents: isUpdate ? events : events.subtracting(.undoUpdate))
        }
    }

    // MARK: Deletions

    private mutating func bringBack(_ object: NSManagedObject, _ remains: DeletedObjectState) {
        var remains = remains
        let isOurs = object.contextReference?.toOpaque() == Unmanaged.passUnretained(context).toOpaque()
        guard isOurs, object.isDeleted || object.state.contains(.detached) else { return }
        if object.state.isDisjoint(with: [.detached, .inaccessible]) {
            object.storage?.publisher?.send()
            let isOutdated = object.state.contains(.outdated)
            context.undelete(object)
            if !isThere(object) {
                // Its newest row is gone too.
                context.rebuild(object, from: remains)
            } else if isOutdated, let newer = object.remains {
                // Others have changed its relationships: owners that lost it by the deletion do not get it back.
                object.rejoinOwners(remains.destinations)
                remains = newer
            }
        } else {
            context.rebuild(object, from: remains)
        }
        broughtBack.append((object, remains))
        for (index, destinations) in remains.destinations {
            let property = object.runtime.properties[index]
            guard let inverse = property.inverse else { continue }
            for destination in destinations where isThere(destination) {
                if property.inverseIsToMany {
                    destination.link(inverse, to: object)
                } else {
                    destination.setManagedObject(object, at: inverse)
                }
            }
        }
        wake(object, .undoDeletion)
    }
}

extension NSManagedObjectContext {
    /// Inserts an object that has left the context. An object that was saved keeps its ID: the next save writes its row again.
    fileprivate final func rebuild(_ object: NSManagedObject, from remains: DeletedObjectState) {
        if let other = identities[object.key], other !== object {
            // The ID was used while the object was gone, and gave a fault that cannot be fulfilled.
            forgetChanges(of: other)
            identities.remove(other.key)
            other.state.insert([.detached, .inaccessible])
        }
        forgetMergedDeletion(object.key)
        if object.managedObjectContext != nil, object.hasChanges { pending.changeCount -= 1 }
        object.storage?.publisher?.send()
        object.state = insertedState(of: object)
        object.forgetRow()
        let storage = object.changeStorage()
        storage.eventValues = nil
        storage.isRevived = !object.key.isTemporary
        storage.permanentKey = storage.isRevived ? object.key : .none
        for (index, property) in object.runtime.properties.enumerated() where !property.kind.isRelationship {
            let value = index < remains.values.count ? remains.values[index] : .unset
            storage.values[index] = value.isUnset ? remains.row.map { object.committedValue(index, in: $0) } ?? .null : value
        }
        for (index, destinations) in remains.destinations {
            if object.runtime.properties[index].kind == .toMany {
                let members = ToManyState(base: [], isOrdered: object.runtime.properties[index].isOrdered)
                for destination in destinations { members.add(destination.key) }
                storage.values[index] = .toMany(members)
            } else {
                storage.values[index] = destinations.first.map { .reference($0.key) } ?? .null
            }
        }
        if identities[object.key] == nil { identities.insert(object, for: object.key) }
        list(object)
        pending.changeCount += 1
        noteEvent(.inserted, object)
        if object.state.contains(.recorded) { object.recordInsertion() }
    }
}

extension NSManagedObject {
    /// The form in which a past value is set now: `unset` if the object still reads the row that had it.
    fileprivate final func presentForm(of value: PastValue, at index: Int) -> ManagedValue {
        switch value {
        case .changed(let value): value
        case .row(let row): row.body == rowBody ? .unset : committedValue(index, in: row)
        }
    }

    /// Restores a former order of an ordered relationship's members; members added since come last.
    fileprivate final func restoreOrder(_ former: [NSManagedObject], at index: Int) {
        let present = memberKeys(at: index)
        let members = Set(present)
        var order = former.map(\.key).filter(members.contains)
        let placed = Set(order)
        order += present.filter { !placed.contains($0) }
        guard order != present else {
            // Nothing has changed, but the redo needs a step.
            if state.contains(.recorded) { recordOrder(index) }
            return
        }
        changingMembers(index).setOrder(order)
        noteChange()
    }

    /// Removes a missing destination from a relationship.
    fileprivate final func drop(_ destination: NSManagedObject, at index: Int) {
        if runtime.properties[index].kind == .toMany {
            toManyState(index).remove(destination.key)
        } else if reference(at: index) == destination.key {
            setManagedValue(.null, at: index)
        }
    }
}
