import HeartwoodTestSupport
import heartwood_testprocess

/// A graph as plain rows, by number.
struct GraphState: Equatable {
    var rows: [Int: GraphRow] = [:]

    func numbers(_ kind: GraphKind) -> [Int] { rows.filter { $0.value.kind == kind }.keys.sorted() }
    func owner(of task: Int) -> Int? { rows.first { $0.value.tasks.contains(task) }?.key }

    /// The objects that refer to each object.
    var sources: [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for (number, row) in rows where row.kind == .person {
            for target in row.tags.union(row.tasks).union(row.books) { result[target, default: []].insert(number) }
            if let group = row.group { result[group, default: []].insert(number) }
        }
        return result
    }

    var sights: [Int: GraphSight] {
        let sources = sources
        var result: [Int: GraphSight] = [:]
        for (number, row) in rows { result[number] = GraphSight(row: row, sources: sources[number] ?? []) }
        return result
    }

    mutating func apply(_ edit: GraphEdit) {
        switch edit {
        case .insert(let number, let kind): rows[number] = GraphRow(kind)
        case .values(let number, let values): for (name, value) in values { rows[number]?.values[name] = value }
        case .group(let person, let group, _): rows[person]?.group = group
        case .tag(let person, let tag, true, _): rows[person]?.tags.insert(tag)
        case .tag(let person, let tag, false, _): rows[person]?.tags.remove(tag)
        case .owner(let task, let person):
            guard owner(of: task) != person else { return }
            take(task)
            if let person { rows[person]?.tasks.append(task) }
        case .tasks(let person, let tasks):
            for task in tasks { take(task) }
            rows[person]?.tasks = tasks
        case .book(let person, let book, let isIn, _):
            if !isIn { rows[person]?.books.removeAll { $0 == book } } else if rows[person]?.books.contains(book) == false {
                rows[person]?.books.append(book)
            }
        case .books(let person, let books): rows[person]?.books = books
        case .delete(let number):
            for gone in [number] + (rows[number]?.tasks ?? []) { remove(gone) }
        }
    }

    private mutating func take(_ task: Int) {
        if let old = owner(of: task) { rows[old]?.tasks.removeAll { $0 == task } }
    }

    private mutating func remove(_ number: Int) {
        rows[number] = nil
        for (person, row) in rows where row.kind == .person {
            if row.group == number { rows[person]?.group = nil }
            if row.tags.contains(number) { rows[person]?.tags.remove(number) }
            if row.tasks.contains(number) { rows[person]?.tasks.removeAll { $0 == number } }
            if row.books.contains(number) { rows[person]?.books.removeAll { $0 == number } }
        }
    }

    /// The objects that an edit affects, before it is made.
    func reach(of edit: GraphEdit) -> GraphReach {
        var reach = GraphReach()
        switch edit {
        case .insert(let number, _): reach.inserted = [number]
        case .values(let number, _): reach.attributes = [number]
        case .group(let person, let group, _):
            reach.owners = [person]
            reach.targets = Set([group, rows[person]?.group].compactMap { $0 })
        case .tag(let person, let tag, _, _):
            reach.owners = [person]
            reach.targets = [tag]
        case .owner(let task, let person): reach.owners = Set([task, person, owner(of: task)].compactMap { $0 })
        case .tasks(let person, let tasks):
            let all = Set(tasks + (rows[person]?.tasks ?? []))
            reach.owners = all.union([person]).union(all.compactMap { owner(of: $0) })
        case .book(let person, let book, _, _):
            reach.owners = [person]
            reach.targets = [book]
        case .books(let person, let books):
            reach.owners = [person]
            reach.targets = Set(books + (rows[person]?.books ?? []))
        case .delete(let number):
            guard let row = rows[number] else { break }
            reach.deleted = Set([number] + row.tasks)
            reach.owners = sources[number] ?? []
            reach.targets = row.tags.union(row.books).union([row.group].compactMap { $0 })
        }
        return reach
    }

    // MARK: Three states

    /// Applies the changes from `base` to this state to `other`.
    /// - Parameter keepsOthers: whether an attribute that `other` has changed too keeps its value.
    func changes(since base: GraphState, on other: GraphState, keepsOthers: Bool = false) -> GraphState {
        var result = other
        for number in Set(rows.keys).union(base.rows.keys) {
            switch (base.rows[number], rows[number]) {
            case (nil, let mine?): result.rows[number] = mine
            case (_?, nil): result.rows[number] = nil
            case (let old?, let mine?) where old != mine:
                if let theirs = other.rows[number] { result.rows[number] = Self.merge(old, mine, theirs, keepsOthers) }
            default: break
            }
        }
        return result
    }

    private static func merge(_ old: GraphRow, _ mine: GraphRow, _ theirs: GraphRow, _ keepsOthers: Bool) -> GraphRow {
        var row = theirs
        func pick<Value: Equatable>(_ path: WritableKeyPath<GraphRow, Value>) {
            let isTheirs = keepsOthers && theirs[keyPath: path] != old[keyPath: path]
            if mine[keyPath: path] != old[keyPath: path], !isTheirs { row[keyPath: path] = mine[keyPath: path] }
        }
        for name in Set(mine.values.keys).union(old.values.keys) { pick(\.values[name]) }
        pick(\.group)
        pick(\.tasks)
        pick(\.books)
        row.tags = theirs.tags.union(mine.tags.subtracting(old.tags)).subtracting(old.tags.subtracting(mine.tags))
        return row
    }
}

/// The objects that edits affect, by the kind of effect.
struct GraphReach {
    var inserted: Set<Int> = []
    /// Objects with a set attribute.
    var attributes: Set<Int> = []
    /// Objects whose references change, or whose owner does.
    var owners: Set<Int> = []
    /// Objects that are or were referred to.
    var targets: Set<Int> = []
    var deleted: Set<Int> = []

    var all: Set<Int> { inserted.union(attributes).union(owners).union(deleted) }

    mutating func formUnion(_ other: GraphReach) {
        inserted.formUnion(other.inserted)
        attributes.formUnion(other.attributes)
        owners.formUnion(other.owners)
        targets.formUnion(other.targets)
        deleted.formUnion(other.deleted)
    }
}

/// The store's state, with a version for each row, which changes when the row's own columns do.
struct GraphStore {
    private(set) var state = GraphState()
    private(set) var versions: [Int: Int] = [:]
    private var counter = 0

    private struct Columns: Equatable {
        let values: [String: SampleValue]
        let group, owner: Int?
    }

    private static func columns(_ state: GraphState) -> [Int: Columns] {
        var owners: [Int: Int] = [:]
        for (number, row) in state.rows { for task in row.tasks { owners[task] = number } }
        var result: [Int: Columns] = [:]
        for (number, row) in state.rows {
            result[number] = Columns(values: row.values, group: row.group, owner: owners[number])
        }
        return result
    }

    mutating func commit(_ new: GraphState) {
        let before = Self.columns(state), after = Self.columns(new)
        for number in Set(before.keys).union(after.keys) where before[number] != after[number] {
            counter += 1
            versions[number] = after[number] == nil ? nil : counter
        }
        state = new
    }
}
