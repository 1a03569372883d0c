import RecordLog

/// The steps that an object's changes leave. Called only for objects that have the `recorded` flag.
extension NSManagedObject {
    /// Fires the fault, and notes what a property is before it is written. The slow way of `setManagedValue`.
    @inline(never)
    final func prepareToWrite(_ index: Int) {
        checkQueue("a property")
        if isFault { _ = row }
        if state.contains(.recorded) { recordValue(index) }
    }

    /// nil where changes leave no step now.
    private var activeRecorder: UndoRecorder? {
        guard !state.contains(.waking), let recorder = managedObjectContext?.recorder, recorder.isRecording else { return nil }
        return recorder
    }

    /// Notes what an attribute or a to-one relationship is.
    final func recordValue(_ index: Int) {
        guard let recorder = activeRecorder, recorder.journal.isFirst(self, index) else { return }
        if runtime.properties[index].kind == .toOne {
            recorder.note(.destination(self, index, managedObject(at: index)))
        } else if let value = override(index) {
            recorder.note(.value(self, index, .changed(value)))
        } else {
            recorder.note(.value(self, index, row.map(PastValue.row) ?? .changed(committedValue(index))))
        }
    }

    /// Notes the order of an ordered relationship's members.
    final func recordOrder(_ index: Int) {
        guard runtime.properties[index].isOrdered, let recorder = activeRecorder, recorder.journal.isFirst(self, index) else { return }
        recorder.note(.order(self, index, managedObjects(at: index)))
    }

    /// Notes that a member is about to come or go, where the other side is not to-one: there the destination's step says it.
    /// Whether it is one already must be known, so the relationship is read.
    final func recordMember(_ member: NSManagedObject, at index: Int, isAdded: Bool) {
        guard let recorder = activeRecorder else { return }
        let members = toManyState(index)
        if !members.isFired { _ = memberKeys(at: index) }
        guard members.contains(member.key) != isAdded else { return }
        // Before the step, so that undoing puts the order right after it.
        recordOrder(index)
        if let inverse = runtime.properties[index].inverse { member.recordOrder(inverse) }
        recorder.note(isAdded ? .added(self, index, member) : .removed(self, index, member))
    }

    /// Notes that the object is in the context now.
    final func recordInsertion() {
        activeRecorder?.note(.inserted(self))
    }

    final func recordDeletion(_ remains: DeletedObjectState) {
        activeRecorder?.note(.deleted(self, remains))
    }

    /// What the object would be made of again; nil where nobody will ask.
    final var remains: DeletedObjectState? {
        guard state.contains(.recorded), activeRecorder != nil, let context = managedObjectContext else { return nil }
        return context.usingRows { makeDeletedObjectState() }
    }

    private func makeDeletedObjectState() -> DeletedObjectState {
        let row = row
        let destinations = runtime.properties.indices.filter { runtime.properties[$0].kind.isRelationship }.map { index in
            let isToMany = runtime.properties[index].kind == .toMany
            return (index: index, objects: isToMany ? managedObjects(at: index) : managedObject(at: index).map { [$0] } ?? [])
        }
        guard row == nil, !isInserted else { return DeletedObjectState(values: storage?.values ?? [], row: row, destinations: destinations) }
        // The values that a child context was given by its parent.
        let values = runtime.properties.indices.map { runtime.properties[$0].kind.isRelationship ? .unset : managedValue($0) }
        return DeletedObjectState(values: values, row: nil, destinations: destinations)
    }
}
