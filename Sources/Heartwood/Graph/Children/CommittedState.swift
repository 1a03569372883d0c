import RecordLog

/// What an object of a child context has in place of a row: the values that its parent's object had when they were read, or that the
/// child has saved to it. Immutable, so that contexts may share it.
final class CommittedState {
    /// By property index; `unset` where the row speaks, and for to-many relationships, which are asked for one by one.
    let values: [ManagedValue]
    /// The row under the values, where the object has one.
    let row: RowView?

    init(values: [ManagedValue], row: RowView?) {
        self.values = values
        self.row = row
    }

    /// The same with other names for keys.
    func renamed(_ names: [ObjectKey: ObjectKey]) -> CommittedState {
        CommittedState(values: values.map { $0.renamed(names) }, row: row)
    }
}

/// What a parent says of one object to a child.
enum ParentAnswer {
    /// It is as a row says.
    case row(RowView)
    case state(CommittedState)
    /// There is no such object, or it is deleted.
    case gone
}

extension NSManagedObject {
    /// The value as last read from the parent or saved to it; null where the object has no such state.
    @inline(never)
    final func inheritedValue(_ index: Int) -> ManagedValue {
        guard let base = storage?.base else { return .null }
        let value = base.values[index]
        guard value.isUnset else { return value }
        return base.row.map { committedValue(index, in: $0) } ?? .null
    }

    /// Whether an attribute or a to-one relationship has an unsaved value.
    private var hasOverrides: Bool {
        storage?.values.contains { value in
            switch value {
            case .unset, .toMany: false
            default: true
            }
        } ?? false
    }

    /// What a child sees of this object, which has been fulfilled.
    final var answer: ParentAnswer {
        if isInserted || hasOverrides { return .state(mergedState()) }
        if let base = storage?.base { return .state(base) }
        return boundRow.map(ParentAnswer.row) ?? .gone
    }

    /// The same for a child that knows destinations by other names: those that a row states too.
    final func answer(_ names: [ObjectKey: ObjectKey]) -> ParentAnswer {
        let state = mergedState()
        var values = state.values
        var isRenamed = false
        for (index, property) in runtime.properties.enumerated() where property.kind == .toOne {
            let value = values[index].isUnset ? state.row.map { committedValue(index, in: $0) } : values[index]
            guard let key = value?.destination, let name = names[key] else { continue }
            values[index] = .reference(name)
            isRenamed = true
        }
        return isRenamed ? .state(CommittedState(values: values, row: state.row)) : answer
    }

    /// The row, if a child may point at it too: nothing of the object differs from it.
    final var sharedRow: RowView? {
        isInserted || storage?.base != nil || hasOverrides ? nil : boundRow
    }

    /// The unsaved values on top of what is under them.
    final func mergedState() -> CommittedState {
        var values = storage?.base?.values ?? [ManagedValue](repeating: .unset, count: runtime.properties.count)
        for (index, value) in (storage?.values ?? []).enumerated() {
            switch value {
            case .unset, .toMany: break
            default: values[index] = value
            }
        }
        return CommittedState(values: values, row: storage?.base?.row ?? boundRow)
    }

    /// Takes over what the parent says.
    /// - Returns: false where the object is gone.
    final func take(_ answer: ParentAnswer) -> Bool {
        switch answer {
        case .row(let row):
            bind(row)
            storage?.base = nil
        case .state(let state): settle(on: state)
        case .gone: return false
        }
        return true
    }

    private func settle(on state: CommittedState) {
        ownStorage().base = state
        rowBody = nil
        rowVersion = state.row?.version ?? 0
    }

    /// After its changes have gone to the parent: what it shows now is what it shows until it is refreshed.
    final func settleAfterPush() {
        let state = mergedState()
        dropStorage()
        settle(on: state)
    }
}

// MARK: Renaming

extension ManagedValue {
    /// The same with another name for a destination.
    func renamed(_ names: [ObjectKey: ObjectKey]) -> ManagedValue {
        switch self {
        case .reference(let key): return names[key].map { .reference($0) } ?? self
        case .toMany(let state):
            state.rename(names)
            return self
        default: return self
        }
    }
}

extension NSManagedObject {
    /// Takes over new names of the objects that this one points at.
    final func rename(_ names: [ObjectKey: ObjectKey]) {
        guard let storage else { return }
        for index in storage.values.indices {
            storage.values[index] = storage.values[index].renamed(names)
        }
        storage.eventValues = storage.eventValues?.map { $0.renamed(names) }
        storage.base = storage.base?.renamed(names)
    }
}
