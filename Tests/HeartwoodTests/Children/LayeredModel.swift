/// A plain model of one context: its state over the state of the layer below. Persons with a name, an age, a group and tags.
final class LayeredModel {
    enum Entity { case person, group, tag }

    struct Pair: Hashable {
        let owner: Int
        let member: Int
    }

    let below: LayeredModel?
    var entities: [Int: Entity] = [:]
    var inserted: Set<Int> = []
    var deleted: Set<Int> = []
    var names: [Int: String] = [:]
    var ages: [Int: Int] = [:]
    /// The attributes of `widened()` as text, by object and name.
    var values: [Int: [String: String]] = [:]
    /// 0 for none.
    var groups: [Int: Int] = [:]
    /// Person and tag, tag and person: whether the pair was added or removed here. A group's people follow from `groups`.
    var members: [Pair: Bool] = [:]

    init(_ below: LayeredModel?) {
        self.below = below
    }

    // MARK: Reading

    func entity(_ id: Int) -> Entity? { entities[id] ?? below?.entity(id) }
    func exists(_ id: Int) -> Bool { !deleted.contains(id) && (inserted.contains(id) || below?.exists(id) ?? false) }
    func name(_ id: Int) -> String? { names[id] ?? below?.name(id) }
    func age(_ id: Int) -> Int { ages[id] ?? below?.age(id) ?? 1 }
    func value(_ id: Int, _ key: String) -> String { values[id]?[key] ?? below?.value(id, key) ?? "-" }
    func rawGroup(_ id: Int) -> Int { groups[id] ?? below?.rawGroup(id) ?? 0 }
    func group(_ id: Int) -> Int { exists(rawGroup(id)) ? rawGroup(id) : 0 }
    func has(_ owner: Int, _ member: Int) -> Bool { members[Pair(owner: owner, member: member)] ?? below?.has(owner, member) ?? false }

    func all(_ wanted: Entity) -> [Int] { ids.filter { exists($0) && entity($0) == wanted }.sorted() }
    var ids: Set<Int> { Set(entities.keys).union(below?.ids ?? []) }
    func members(_ owner: Int, _ of: Entity) -> Set<Int> {
        Set(all(of).filter { entity(owner) == .group ? rawGroup($0) == owner : has(owner, $0) })
    }

    // MARK: Changing

    func insert(_ id: Int, _ entity: Entity) {
        entities[id] = entity
        inserted.insert(id)
    }

    func set(_ owner: Int, _ member: Int, _ isIn: Bool) {
        if has(owner, member) != isIn { members[Pair(owner: owner, member: member)] = isIn }
    }

    func setGroup(_ person: Int, _ group: Int) {
        if rawGroup(person) != group { groups[person] = group }
    }

    func setTag(_ person: Int, _ tag: Int, _ isIn: Bool) {
        set(person, tag, isIn)
        set(tag, person, isIn)
    }

    func delete(_ id: Int) {
        guard exists(id) else { return }
        switch entity(id) {
        case .person?: for tag in members(id, .tag) { set(tag, id, false) }
        case .group?: for person in members(id, .person) { groups[person] = 0 }
        case .tag?: for person in members(id, .person) { set(person, id, false) }
        case nil: break
        }
        if inserted.remove(id) == nil { deleted.insert(id) }
        forget(id)
    }

    private func forget(_ id: Int) {
        names[id] = nil
        ages[id] = nil
        values[id] = nil
        groups[id] = nil
        members = members.filter { $0.key.owner != id }
    }

    /// Models a refresh: objects that the layer below has deleted are gone, and members added or removed there are no changes here.
    func refresh() {
        for id in ids where !inserted.contains(id) && below?.exists(id) == false {
            deleted.remove(id)
            forget(id)
        }
        members = members.filter { pair, isIn in inserted.contains(pair.owner) || (below?.has(pair.owner, pair.member) ?? false) != isIn }
        forgetEqualValues()
    }

    /// A value equal to the layer below is no change: it follows later changes there.
    func forgetEqualValues() {
        guard let below else { return }
        names = names.filter { inserted.contains($0.key) || below.name($0.key) != $0.value }
        ages = ages.filter { inserted.contains($0.key) || below.age($0.key) != $0.value }
        groups = groups.filter { inserted.contains($0.key) || below.rawGroup($0.key) != $0.value }
        for (id, known) in values where !inserted.contains(id) { values[id] = known.filter { below.value(id, $0.key) != $0.value } }
    }

    func rollback() {
        inserted = []
        deleted = []
        names = [:]
        ages = [:]
        values = [:]
        groups = [:]
        members = [:]
    }

    /// Moves every change one layer down, just after a refresh.
    func save() {
        guard let below else { return rollback() }
        for id in inserted { below.insert(id, entities[id]!) }
        for (id, name) in names where inserted.contains(id) || below.name(id) != name { below.names[id] = name }
        for (id, age) in ages where inserted.contains(id) || below.age(id) != age { below.ages[id] = age }
        for (id, known) in values {
            for (key, value) in known where inserted.contains(id) || below.value(id, key) != value { below.values[id, default: [:]][key] = value }
        }
        for (id, group) in groups where inserted.contains(id) || below.rawGroup(id) != group {
            below.setGroup(id, below.exists(group) ? group : 0)
        }
        for (pair, isIn) in members where below.exists(pair.member) && below.exists(pair.owner) {
            let isPerson = entity(pair.owner) == .person
            below.setTag(isPerson ? pair.owner : pair.member, isPerson ? pair.member : pair.owner, isIn)
        }
        for id in deleted { below.delete(id) }
        rollback()
    }
}
