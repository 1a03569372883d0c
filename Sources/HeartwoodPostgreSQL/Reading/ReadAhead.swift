import Heartwood
import RecordLog

/// The rows and members that one context reads together.
///
/// Objects that one statement has found are mostly used together. When one of them asks for what a relationship leads to, the answer comes for all of
/// them, so that a loop over them takes one statement a relationship instead of one an object.
///
/// (1) A row or list that was read ahead is given once, and within `lifetime`: a program that asks again wants the newest.
/// (2) At most `countMax` rows or lists are read at once.
struct ReadAhead {
    private static let countMax = 1_000, groupsMax = 8
    private static let lifetime = Duration.seconds(1)

    /// Rows that one statement has found.
    private struct Rows {
        let rows: [UnsafeRowView]
        /// The places of the rows; nil until one is asked for.
        var places: [ObjectKey: Int]?
        /// By destination: the relationship, and the place among its destinations; nil until one is asked for.
        var references: [ObjectKey: (list: Int, place: Int)]?
        var lists: [[ObjectKey]] = []

        init(_ rows: [UnsafeRowView]) { self.rows = rows }

        mutating func findPlaces(_ layout: PostgreSQLLayout) {
            places = Dictionary(rows.enumerated().map { (layout.key($1.reference), $0) }) { first, _ in first }
        }

        mutating func findReferences(_ layout: PostgreSQLLayout) {
            var found: [ObjectKey: (list: Int, place: Int)] = [:]
            var numbers: [UInt64: Int] = [:]
            for row in rows {
                guard let entity = layout.entity(row.reference.table), let accesses = try? entity.table.accesses(of: row) else { continue }
                for field in entity.fields where field.kind == .toOne {
                    let access = accesses[field.property]
                    guard !access.isAbsent, !row.isNull(access) else { continue }
                    let id = UInt64(row.reference.table.rawValue) << 32 | UInt64(field.property)
                    if numbers[id] == nil {
                        numbers[id] = lists.count
                        lists.append([])
                    }
                    let list = numbers[id] ?? 0, key = layout.key(row.reference(access))
                    if found[key] == nil { found[key] = (list, lists[list].count) }
                    lists[list].append(key)
                }
            }
            references = found
        }
    }

    private struct Owner: Hashable {
        let key: ObjectKey
        let property: Int
    }

    private var rows: [ObjectKey: UnsafeRowView] = [:]
    private var members: [Owner: [ObjectKey]] = [:]
    private var groups: [Rows] = []
    /// Keys that one statement has found, without their rows.
    private var lists: [[ObjectKey]] = []
    private var end = ContinuousClock.now

    private var isFresh: Bool { ContinuousClock.now < end }

    /// Forgets what was read ahead.
    mutating func forget() {
        if !rows.isEmpty { rows = [:] }
        if !members.isEmpty { members = [:] }
    }

    private mutating func forgetOld() {
        if !isFresh { forget() }
    }

    /// The time of what is read ahead begins with the first of it.
    private mutating func beginToAdd() {
        forgetOld()
        if rows.isEmpty, members.isEmpty { end = .now + Self.lifetime }
    }

    // MARK: What is there

    mutating func takeRow(_ key: ObjectKey) -> UnsafeRowView? {
        guard !rows.isEmpty else { return nil }
        forgetOld()
        return rows.removeValue(forKey: key)
    }

    mutating func takeMembers(_ key: ObjectKey, _ property: Int) -> [ObjectKey]? {
        guard !members.isEmpty else { return nil }
        forgetOld()
        return members.removeValue(forKey: Owner(key: key, property: property))
    }

    mutating func add(_ row: UnsafeRowView, _ key: ObjectKey) {
        beginToAdd()
        rows[key] = row
    }

    mutating func add(_ members: [ObjectKey], of owner: ObjectKey, _ property: Int) {
        beginToAdd()
        self.members[Owner(key: owner, property: property)] = members
    }

    // MARK: What belongs together

    mutating func noteTogether(_ rows: [UnsafeRowView]) {
        guard rows.count > 1 else { return }
        if groups.count == Self.groupsMax { groups.removeFirst() }
        groups.append(Rows(rows))
    }

    mutating func noteTogether(_ keys: [ObjectKey]) {
        guard keys.count > 1 else { return }
        if lists.count == Self.groupsMax { lists.removeFirst() }
        lists.append(keys)
    }

    /// A key, and others that are read with it.
    mutating func keysTogether(with key: ObjectKey, _ layout: PostgreSQLLayout) -> [ObjectKey] {
        for list in lists.reversed() { if let place = list.firstIndex(of: key) { return Self.part(of: list, at: place) } }
        for index in groups.indices.reversed() {
            if groups[index].references == nil { groups[index].findReferences(layout) }
            if let found = groups[index].references?[key] { return Self.part(of: groups[index].lists[found.list], at: found.place) }
        }
        return [key]
    }

    /// An owner of a relationship, and others of its entity whose members are read with its own.
    mutating func ownersTogether(with key: ObjectKey, _ layout: PostgreSQLLayout) -> [ObjectKey] {
        for index in groups.indices.reversed() {
            if groups[index].places == nil { groups[index].findPlaces(layout) }
            guard let place = groups[index].places?[key] else { continue }
            let keys = groups[index].rows[place...].prefix(Self.countMax).map { layout.key($0.reference) }
            return Array(Set(keys.filter { $0.slot == key.slot }))
        }
        return [key]
    }

    /// Each key once.
    private static func part(of list: [ObjectKey], at place: Int) -> [ObjectKey] { Array(Set(list[place...].prefix(countMax))) }
}
