/// The members of one object's to-many relationship, in memory.
///
/// `base` has the store's members (nil: not read yet). `added` and `removed` are this context's changes to it. They can be made without
/// reading `base`, so adding a member to a group of a million costs the same as to an empty one.
///
/// Invariants:
/// 1. `added` and `removed` are disjoint.
/// 2. Once `base` is read, no key of `added` is in it and each key of `removed` is.
/// 3. `order`, if set, is the whole current order of an ordered relationship.
/// 4. While `base` is unread and the other side is to-one, `added` has no key whose row leads here, and `removed` no key whose row leads
///    elsewhere: so when such a row is read again, no change that was undone is left behind.
/// While `base` is unread and the other side is to-many, a key in `removed` may never have been a member, and a key that was removed and
/// added again is in `added`.
package final class ToManyState {
    @exclusivity(unchecked) private(set) var base: [ObjectKey]?
    private var baseSet: Set<ObjectKey>?
    @exclusivity(unchecked) private(set) var added: [ObjectKey] = []
    @exclusivity(unchecked) private var addedSet: Set<ObjectKey> = []
    @exclusivity(unchecked) private(set) var removed: Set<ObjectKey> = []
    @exclusivity(unchecked) private(set) var order: [ObjectKey]?
    private var isReordered = false
    private let isOrdered: Bool

    init(base: [ObjectKey]?, isOrdered: Bool) {
        self.base = base
        self.isOrdered = isOrdered
    }

    /// An independent copy.
    var copy: ToManyState {
        let copy = ToManyState(base: base, isOrdered: isOrdered)
        (copy.added, copy.addedSet, copy.removed) = (added, addedSet, removed)
        (copy.order, copy.isReordered) = (order, isReordered)
        return copy
    }

    /// Whether the changes differ from those of an older state.
    func differs(from old: ToManyState) -> Bool {
        let old = old.copy
        if !old.isFired, let base { old.fire(base) }
        return addedSet != old.addedSet || removed != old.removed || order != old.order && order ?? members != old.order ?? old.members
    }

    var isFired: Bool { base != nil }
    var isChanged: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

    func fire(_ keys: [ObjectKey]) {
        base = keys
        guard !addedSet.isEmpty || !removed.isEmpty else { return }
        let set = Set(keys)
        baseSet = set
        added.removeAll { set.contains($0) }
        addedSet.subtract(set)
        removed.formIntersection(set)
    }

    private func isInBase(_ key: ObjectKey) -> Bool {
        guard let base else { return false }
        if base.count < 16 { return base.contains(key) }
        if baseSet == nil { baseSet = Set(base) }
        return baseSet?.contains(key) ?? false
    }

    /// The current members; nil while unread.
    var members: [ObjectKey]? {
        if let order { return order }
        guard let base else { return nil }
        guard isChanged else { return base }
        var result = removed.isEmpty ? base : base.filter { !removed.contains($0) }
        result.append(contentsOf: added)
        return result
    }

    /// The number of members; nil while unread.
    var count: Int? {
        if let order { return order.count }
        return base.map { $0.count - removed.count + added.count }
    }

    /// Whether `key` is a member; nil if only the store knows.
    func contains(_ key: ObjectKey) -> Bool? {
        if addedSet.contains(key) { return true }
        if removed.contains(key) { return false }
        return base == nil ? nil : isInBase(key)
    }

    /// - Parameter isStored: whether the store has the member here, if the member's own row tells; used while `base` is unread.
    /// - Returns: whether this changed anything, as far as is known.
    @discardableResult
    func add(_ key: ObjectKey, isStored: Bool? = nil) -> Bool {
        if addedSet.contains(key) { return false }
        let isInBase = base == nil ? isStored ?? false : isInBase(key)
        if removed.contains(key) {
            // In an ordered relationship the member comes back as the last one, not at its old index.
            if isOrdered, order == nil, let members { setOrder(members) }
            removed.remove(key)
        } else if isInBase {
            return false
        }
        if !isInBase {
            added.append(key)
            addedSet.insert(key)
        }
        order?.append(key)
        return true
    }

    @discardableResult
    func remove(_ key: ObjectKey, isStored: Bool? = nil) -> Bool {
        if removed.contains(key) { return false }
        let wasAdded = addedSet.contains(key)
        if wasAdded { remove(added: key) }
        // While membership is unknown the removal is kept.
        if base == nil ? isStored ?? true : isInBase(key) {
            removed.insert(key)
        } else if !wasAdded {
            return false
        }
        if let index = order?.firstIndex(of: key) { order?.remove(at: index) }
        return true
    }

    /// Moves a member of an ordered relationship to an index. The relationship must have been read.
    func move(_ key: ObjectKey, to index: Int) {
        guard var members, let old = members.firstIndex(of: key), old != index else { return }
        members.remove(at: old)
        members.insert(key, at: min(index, members.count))
        setOrder(members)
    }

    /// Drops this context's change to one member.
    func forget(_ key: ObjectKey) {
        if addedSet.contains(key) {
            remove(added: key)
            order?.removeAll { $0 == key }
        } else if removed.remove(key) != nil {
            order?.append(key)
        }
    }

    private func remove(added key: ObjectKey) {
        guard addedSet.remove(key) != nil else { return }
        if added.last == key { added.removeLast() } else { added.removeAll { $0 == key } }
    }

    /// Sets the order of an ordered relationship. `keys` are exactly the members after all additions and removals.
    func setOrder(_ keys: [ObjectKey]) {
        order = keys
        isReordered = true
    }

    /// Replaces the store's members by its current ones, and keeps this context's changes on top, member by member. In an ordered relationship
    /// members that others added come last.
    func rebase(_ keys: [ObjectKey]) {
        let set = Set(keys)
        base = keys
        baseSet = set
        added.removeAll { set.contains($0) }
        addedSet.subtract(set)
        removed.formIntersection(set)
        guard let order else { return }
        var merged = order.filter { set.contains($0) || addedSet.contains($0) }
        let kept = Set(merged)
        merged += keys.filter { !kept.contains($0) && !removed.contains($0) }
        self.order = merged
    }

    /// Replaces the keys of members by new ones.
    func rename(_ names: [ObjectKey: ObjectKey]) {
        func renamed(_ keys: [ObjectKey]) -> [ObjectKey] { keys.map { names[$0] ?? $0 } }
        base = base.map(renamed)
        baseSet = nil
        added = renamed(added)
        addedSet = Set(added)
        removed = Set(renamed(Array(removed)))
        order = order.map(renamed)
    }
}
