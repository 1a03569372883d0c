import RecordLog

/// The committed values of an object in a child context, which has no row: the values read from the parent's object, or those that the
/// child has saved to it. Immutable, so contexts may share it.
final class CommittedState {
    /// By property index. `unset` for values that `row` holds, and for to-many relationships, which are read one by one.
    let values: [ManagedValue]
    /// The row under the values, if the object has one.
    let row: UnsafeRowView?

    init(values: [ManagedValue], row: UnsafeRowView?) {
        self.values = values
        self.row = row
    }

    /// Returns a copy with renamed keys.
    func renamed(_ names: [ObjectKey: ObjectKey]) -> CommittedState {
        CommittedState(values: values.map { $0.renamed(names) }, row: row)
    }
}

/// A parent's answer to a child that asks for one object.
enum ParentAnswer {
    /// The object equals the row.
    case row(UnsafeRowView)
    case state(CommittedState)
    /// The object does not exist or is deleted.
    case gone
}

extension NSManagedObject {
    /// The value last read from the parent or saved to it; null if the object has no such state.
    @inline(never)
    final func inheritedValue(_ index: Int) -> ManagedValue {
        guard let base = storage?.base else { return .null }
        let value = base.values[index]
        guard value.isUnset else { return value }
        return base.row.map { committedValue(index, in: $0) } ?? unstored(index)
    }

    /// Whether an attribute that is not transient, or a to-one relationship, has an unsaved value.
    private var hasOverrides: Bool {
        guard let values = storage?.values else { return false }
        return values.indices.contains { index in
            switch values[index] {
            case .unset, .toMany: false
            default: !runtime.hasTransients || !runtime.properties[index].isTransient
            }
        }
    }

    /// The state without the transient values, which are this context's own.
    private final func withoutTransients(_ state: CommittedState) -> CommittedState {
        guard runtime.hasTransients else { return state }
        var values = state.values
        for index in values.indices where runtime.properties[index].isTransient { values[index] = .unset }
        return CommittedState(values: values, row: state.row)
    }

    /// The state of this object as a child sees it. A child has transient values of its own.
    /// - Precondition: the object is fulfilled.
    final var answer: ParentAnswer {
        if isInserted || hasOverrides { return .state(withoutTransients(mergedState())) }
        if let base = storage?.base { return .state(withoutTransients(base)) }
        return boundRow.map(ParentAnswer.row) ?? .gone
    }

    /// The same for a child that knows destinations by old names, including destinations that are stored in the row.
    final func answer(_ names: [ObjectKey: ObjectKey]) -> ParentAnswer {
        let state = withoutTransients(mergedState())
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

    /// The row, if it holds the object's whole state, so that a child may use it too.
    final var sharedRow: UnsafeRowView? {
        isInserted || storage?.base != nil || hasOverrides ? nil : boundRow
    }

    /// The unsaved values on top of the committed ones.
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

    /// Takes over the parent's answer.
    /// - Returns: false if the object is gone.
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

    /// Makes the values just saved to the parent the committed ones; the object keeps them until it is refreshed.
    final func settleAfterPush() {
        let state = mergedState()
        dropStorage()
        settle(on: state)
    }
}

// MARK: Renaming

extension ManagedValue {
    /// Returns the value with its destinations renamed.
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
    /// Renames the destinations of this object's values.
    final func rename(_ names: [ObjectKey: ObjectKey]) {
        guard let storage else { return }
        for index in storage.values.indices {
            storage.values[index] = storage.values[index].renamed(names)
        }
        storage.eventValues = storage.eventValues?.map { $0.renamed(names) }
        storage.base = storage.base?.renamed(names)
    }
}
