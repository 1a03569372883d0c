import RecordLog

/// The steps that an object's changes record. Called only for objects with the `recorded` flag.
extension NSManagedObject {
    /// Fires the fault, and records a property's value before a write. The slow path of `setManagedValue`.
    @inline(never)
    final func prepareToWrite(_ index: Int) {
        checkQueue("a property")
        if isFault { _ = row }
        if state.contains(.recorded) { recordValue(index) }
    }

    /// nil while changes record no steps.
    private var activeRecorder: UndoRecorder? {
        guard !state.contains(.waking), let recorder = managedObjectContext?.recorder, recorder.isRecording else { return nil }
        return recorder
    }

    /// Records the value of an attribute or a to-one relationship.
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

    /// Records the order of an ordered relationship's members.
    final func recordOrder(_ index: Int) {
        guard runtime.properties[index].isOrdered, let recorder = activeRecorder, recorder.journal.isFirst(self, index) else { return }
        recorder.note(.order(self, index, managedObjects(at: index)))
    }

    /// Records that a member is about to be added or removed, if the other side is not to-one: a to-one side records its own step. It reads the
    /// relationship, since it must know whether the object is a member.
    final func recordMember(_ member: NSManagedObject, at index: Int, isAdded: Bool) {
        guard let recorder = activeRecorder else { return }
        let members = toManyState(index)
        if !members.isFired { _ = memberKeys(at: index) }
        guard members.contains(member.key) != isAdded else { return }
        // Before the step, so that an undo restores the order after it.
        recordOrder(index)
        if let inverse = runtime.properties[index].inverse { member.recordOrder(inverse) }
        recorder.note(isAdded ? .added(self, index, member) : .removed(self, index, member))
    }

    /// Records that the object was inserted.
    final func recordInsertion() {
        activeRecorder?.note(.inserted(self))
    }

    final func recordDeletion(_ remains: DeletedObjectState) {
        activeRecorder?.note(.deleted(self, remains))
    }

    /// The state that restores the object after its deletion; nil if no undo can need it.
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
        // The values that a child context got from its parent.
        let values = runtime.properties.indices.map { runtime.properties[$0].kind.isRelationship ? .unset : managedValue($0) }
        return DeletedObjectState(values: values, row: nil, destinations: destinations)
    }
}
