/// One object's changes in a child's save, as keys and values: the parent's queue must not touch the child's objects.
struct PushedChange {
    enum Kind {
        case inserted, updated, deleted
    }

    /// The members that a to-many relationship gained and lost.
    struct Members {
        let property: Int
        var added: [ObjectKey] = []
        var removed: [ObjectKey] = []
        /// All members in order, for an ordered relationship.
        var order: [ObjectKey]?
    }

    let key: ObjectKey
    let runtime: EntityRuntime
    let kind: Kind
    /// By property index: the values that were set, `unset` for other properties.
    var values: [ManagedValue] = []
    var members: [Members] = []
    /// Whether the parent no longer has the object and gets it back with all values.
    var isRevived = false

    init(_ object: NSManagedObject) {
        key = object.key
        runtime = object.runtime
        kind = object.isDeleted ? .deleted : object.isInserted ? .inserted : .updated
        guard kind != .deleted else { return }
        isRevived = object.storage?.isRevived ?? false
        values = object.storage?.values ?? []
        let isWhole = kind == .inserted || isRevived
        for index in values.indices {
            switch values[index] {
            case .unset: break
            case .toMany(let state):
                values[index] = .unset
                if state.isChanged { note(state, of: object, index) }
            case let value:
                // The parent may have another value of a transient attribute, which this context does not know.
                if !isWhole, !object.runtime.properties[index].isTransient, object.isSame(value, object.committedValue(index), index) {
                    values[index] = .unset
                }
            }
        }
    }

    private mutating func note(_ state: ToManyState, of object: NSManagedObject, _ index: Int) {
        let property = object.runtime.properties[index]
        var members = Members(property: index)
        // If the other side is to-one, it determines the members.
        if property.inverse == nil || property.inverseIsToMany {
            members.added = state.added
            members.removed = Array(state.removed)
        }
        if property.isOrdered { members.order = object.memberKeys(at: index) }
        if members.order != nil || !members.added.isEmpty || !members.removed.isEmpty { self.members.append(members) }
    }
}
