/// The members of one object's to-many relationship, in memory.
///
/// `base` is what the store says (nil: not read yet); `added` and `removed` are this context's changes to it. An unread
/// relationship takes changes without being read, so adding a member to a group of a million costs one.
///
/// Invariants:
/// 1. `added` and `removed` are disjoint.
/// 2. Once `base` is read, no key of `added` is in it and each key of `removed` is.
/// 3. `order`, where present, is the whole current order of an ordered relationship.
final class ToManyState {
    @exclusivity(unchecked) private(set) var base: [ObjectKey]?
    private var baseSet: Set<ObjectKey>?
    @exclusivity(unchecked) private(set) var added: [ObjectKey] = []
    @exclusivity(unchecked) private var addedSet: Set<ObjectKey> = []
    @exclusivity(unchecked) private(set) var removed: Set<ObjectKey> = []
    @exclusivity(unchecked) private(set) var order: [ObjectKey]?
    private var isReordered = false

    init(base: [ObjectKey]?) {
        self.base = base
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

    /// Whether `key` is a member; nil where only the store can tell.
    func contains(_ key: ObjectKey) -> Bool? {
        if addedSet.contains(key) { return true }
        if removed.contains(key) { return false }
        return base == nil ? nil : isInBase(key)
    }

    /// - Returns: whether anything changed as far as is known.
    @discardableResult
    func add(_ key: ObjectKey) -> Bool {
        if addedSet.contains(key) { return false }
        // While nobody knows whether the store has it, that it was taken out before does not say that it was in.
        if removed.remove(key) == nil || base == nil {
            if isInBase(key) { return false }
            added.append(key)
            addedSet.insert(key)
        }
        order?.append(key)
        return true
    }

    @discardableResult
    func remove(_ key: ObjectKey) -> Bool {
        if removed.contains(key) { return false }
        if addedSet.remove(key) != nil {
            if added.last == key { added.removeLast() } else { added.removeAll { $0 == key } }
            // It may have been added although the store has it.
            if base == nil { removed.insert(key) }
        } else {
            if base != nil && !isInBase(key) { return false }
            removed.insert(key)
        }
        if let index = order?.firstIndex(of: key) { order?.remove(at: index) }
        return true
    }

    /// Sets the order of an ordered relationship; `keys` are exactly the members after the adds and removes.
    func setOrder(_ keys: [ObjectKey]) {
        order = keys
        isReordered = true
    }

    /// Takes what the store says now in place of what it said; this context's changes stay on top, member by member. In an
    /// ordered relationship members that others added come last.
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

    /// Takes over new names of members.
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
