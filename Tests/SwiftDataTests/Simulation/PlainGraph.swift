import SwiftData

/// The models of a store, or of a context, as plain values.
struct PlainGraph: Equatable {
    enum Kind: CaseIterable {
        case owner, card, lock, badge, club

        func make(_ number: Int) -> Thing {
            switch self {
            case .owner: SimulatedOwner(number: number)
            case .card: SimulatedCard(number: number)
            case .lock: Lock(number: number)
            case .badge: SimulatedBadge(number: number)
            case .club: Club(number: number)
            }
        }
    }

    /// A relationship, with an owner at one end.
    enum Link: CaseIterable {
        case children, cards, locks, badge, clubs

        var member: Kind {
            switch self {
            case .children: .owner
            case .cards: .card
            case .locks: .lock
            case .badge: .badge
            case .clubs: .club
            }
        }

        var hasOneOwner: Bool { self != .clubs }
        var hasOneMember: Bool { self == .badge }
        var isCascade: Bool { self == .cards || self == .badge }
    }

    struct Pair: Hashable {
        let link: Link
        let owner: Int
        let member: Int
    }

    struct Row: Equatable {
        let kind: Kind
        /// The values of properties that differ from their defaults, as text.
        var values: [String: String] = [:]
    }

    var rows: [Int: Row] = [:]
    var pairs: Set<Pair> = []

    // MARK: Reading

    func members(_ link: Link, of owner: Int) -> Set<Int> { Set(pairs.filter { $0.link == link && $0.owner == owner }.map(\.member)) }
    func owners(_ link: Link, of member: Int) -> Set<Int> { Set(pairs.filter { $0.link == link && $0.member == member }.map(\.owner)) }

    func partners(of number: Int) -> Set<Int> {
        Set(pairs.lazy.filter { $0.owner == number }.map(\.member)).union(pairs.lazy.filter { $0.member == number }.map(\.owner))
    }

    /// What a deletion of a row deletes.
    func deletion(of number: Int) -> Set<Int> {
        pairs.filter { $0.owner == number && $0.link.isCascade }.reduce(into: [number]) { $0.insert($1.member) }
    }

    /// All rows that a row's links lead to.
    func component(of number: Int) -> Set<Int> {
        var found: Set<Int> = [number], waiting = [number]
        while let next = waiting.popLast() {
            for partner in partners(of: next) where found.insert(partner).inserted { waiting.append(partner) }
        }
        return found
    }

    // MARK: Changing

    /// - Returns: the rows whose links change.
    @discardableResult
    mutating func link(_ link: Link, _ owner: Int, _ member: Int) -> Set<Int> {
        let new = Pair(link: link, owner: owner, member: member)
        guard !pairs.contains(new) else { return [] }
        let former = pairs.filter {
            $0.link == link && (link.hasOneOwner && $0.member == member || link.hasOneMember && $0.owner == owner)
        }
        pairs.subtract(former)
        pairs.insert(new)
        return former.reduce(into: [owner, member]) { $0.formUnion([$1.owner, $1.member]) }
    }

    @discardableResult
    mutating func unlink(_ link: Link, _ owner: Int, _ member: Int) -> Set<Int> {
        pairs.remove(Pair(link: link, owner: owner, member: member)) == nil ? [] : [owner, member]
    }

    @discardableResult
    mutating func setMembers(_ link: Link, _ owner: Int, _ members: Set<Int>) -> Set<Int> {
        var reach: Set<Int> = []
        for former in self.members(link, of: owner).subtracting(members) { reach.formUnion(unlink(link, owner, former)) }
        for member in members { reach.formUnion(self.link(link, owner, member)) }
        return reach
    }

    /// - Returns: the rows whose links change.
    @discardableResult
    mutating func remove(_ numbers: Set<Int>) -> Set<Int> {
        let gone = pairs.filter { numbers.contains($0.owner) || numbers.contains($0.member) }
        pairs.subtract(gone)
        for number in numbers { rows[number] = nil }
        return gone.reduce(into: numbers) { $0.formUnion([$1.owner, $1.member]) }
    }
}

/// What a context shows: a store's state, with the context's own changes on top.
struct PlainContext {
    var base = PlainGraph()
    var shown = PlainGraph()
    /// The properties that were set, by row.
    var values: [Int: Set<String>] = [:]
    /// Rows whose links have changed.
    var linked: Set<Int> = []
    /// Rows that a save will insert, and that a save will delete.
    var inserted: Set<Int> = []
    var deleted: Set<Int> = []
    /// Labels that a save will insert or change, by their codes.
    var labels: [String: String] = [:]
    /// Whether a setter was called, be it with the former value.
    var isTouched = false
    /// What a relationship that brings a new model in makes of the shown state.
    var joining: Joining?

    struct Joining {
        let graph: PlainGraph
        let reach: Set<Int>
    }

    init(_ store: PlainGraph) { (base, shown) = (store, store) }

    /// - Parameter shown: a state that was reached from the base by any way, such as by undo.
    init(_ base: PlainGraph, shown: PlainGraph) {
        (self.base, self.shown) = (base, shown)
        inserted = Set(shown.rows.keys).subtracting(base.rows.keys)
        deleted = Set(base.rows.keys).subtracting(shown.rows.keys)
        linked = base.pairs.symmetricDifference(shown.pairs).reduce(into: []) { $0.formUnion([$1.owner, $1.member]) }
        for (number, row) in shown.rows {
            guard let old = base.rows[number] else { continue }
            let names = Set(row.values.keys).union(old.values.keys).filter { row.values[$0] != old.values[$0] }
            if !names.isEmpty { values[number] = names }
        }
    }

    var hasChanges: Bool { !values.isEmpty || !linked.isEmpty || !inserted.isEmpty || !deleted.isEmpty || !labels.isEmpty }

    /// Takes in a newer state of the store. Other contexts' changes never meet this one's links, insertions and deletions.
    mutating func rebase(on store: PlainGraph) {
        var new = store
        new.remove(deleted)
        for number in inserted { new.rows[number] = shown.rows[number] }
        for (number, names) in values where new.rows[number] != nil {
            for name in names { new.rows[number]?.values[name] = shown.rows[number]?.values[name] }
        }
        func isOwn(_ pair: PlainGraph.Pair) -> Bool { linked.contains(pair.owner) || linked.contains(pair.member) }
        new.pairs = Set(new.pairs.filter { !isOwn($0) }).union(shown.pairs.filter(isOwn))
        (base, shown) = (store, new)
    }
}
