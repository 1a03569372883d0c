import Foundation
import Heartwood
import TestSupport
import heartwood_testprocess

/// A context and what it must show.
final class GraphPlayer {
    let name: String
    let hand: GraphHand
    /// What it has read: for each object what was there when it read it.
    var base = GraphState()
    /// The same with its changes.
    var shown = GraphState()
    /// The versions of the rows that it has read.
    var versions: [Int: Int] = [:]
    /// What it has changed since its last save.
    var pending = GraphReach()
    /// Objects that nobody else may change.
    var closed: Set<Int> = []

    init(_ name: String, _ context: NSManagedObjectContext) {
        self.name = name
        hand = GraphHand(context)
    }

    var context: NSManagedObjectContext { hand.context }
    var gone: Set<Int> { Set(base.rows.keys).subtracting(shown.rows.keys) }

    /// Whether another one may make an edit: both then come to one result, whoever saves first.
    func allows(_ edit: GraphReach) -> Bool {
        let held = closed.union(gone)
        return held.isDisjoint(with: edit.all.union(edit.targets)) && pending.owners.isDisjoint(with: edit.owners)
            && edit.deleted.isDisjoint(with: pending.all.union(pending.targets))
    }

    func make(_ edit: GraphEdit) throws {
        pending.formUnion(shown.reach(of: edit))
        shown.apply(edit)
        try hand.run(edit)
    }

    // MARK: What it has read

    /// Everything was read anew.
    func rebase(on new: GraphState, versions: [Int: Int] = [:]) {
        shown = shown.changes(since: base, on: new)
        base = new
        self.versions = versions
    }

    /// Some objects were.
    func rebase(_ numbers: Set<Int>, on store: GraphStore) {
        var part = base
        for number in numbers {
            part.rows[number] = store.state.rows[number]
            versions[number] = store.versions[number]
        }
        shown = shown.changes(since: base, on: part)
        base = part
    }

    /// Some objects were, from a parent. What was set to what the parent has now is no change any more.
    func rebase(_ numbers: Set<Int>, onParent parent: GraphState) {
        var part = base
        for number in numbers { part.rows[number] = parent.rows[number] }
        shown = shown.changes(since: base, on: part)
        base = part
    }

    func forgetChanges() {
        shown = base
        pending = GraphReach()
        closed = []
    }

    // MARK: Comparing

    private func problem(_ what: String) -> GraphProblem { GraphProblem("\(name): \(what)") }

    /// A context that has read everything: values, relationships from both sides, and now and then fetches.
    func check(_ random: inout SeededGenerator) throws {
        try hand.load()
        try checkAll()
        if Int.random(in: 0..<3, using: &random) == 0 { try checkFetches(&random) }
    }

    /// Reads every row and relationship, so that it is known which.
    func read() throws {
        try hand.load()
        for number in hand.objects.keys { _ = hand.sight(number) }
    }

    private func checkAll() throws {
        let expected = shown.sights
        guard Set(hand.objects.keys) == Set(expected.keys) else {
            throw problem("has \(hand.objects.keys.sorted()), not \(expected.keys.sorted())")
        }
        for (number, sight) in expected.sorted(by: { $0.key < $1.key }) {
            let found = hand.sight(number)
            guard found == sight else { throw problem("\(number) is \(found.map { "\($0)" } ?? "none"), not \(sight)") }
        }
    }

    /// A context that others have left behind: what it has read of each row, with its changes.
    func checkRows() throws {
        for (number, row) in shown.rows.sorted(by: { $0.key < $1.key }) {
            guard let object = hand.objects[number] else { throw problem("lacks \(number)") }
            let values = object.sampleValues(row.kind)
            guard values == row.values else { throw problem("\(number) has \(values), not \(row.values)") }
            guard row.kind == .person else { continue }
            // A group that it knows no more is a fault that nobody can fulfil.
            if let group = row.group, shown.rows[group] == nil { continue }
            let group = object.destination("group")
            guard group == row.group else { throw problem("the group of \(number) is \(group ?? 0), not \(row.group ?? 0)") }
        }
    }

    private func checkFetches(_ random: inout SeededGenerator) throws {
        let pivot = Int.random(in: 0..<40, using: &random)
        func numbers(_ format: String, _ kind: GraphKind, _ argument: Any, where isIn: (GraphRow) -> Bool) throws {
            let request = NSFetchRequest<NSManagedObject>(entityName: kind.rawValue)
            request.predicate = NSPredicate(format: format, argumentArray: [argument])
            let found = try context.fetch(request).map(\.number)
            let expected = shown.rows.filter { $0.value.kind == kind && isIn($0.value) }.keys.sorted()
            guard found.sorted() == expected else { throw problem("\(format) finds \(found.sorted()), not \(expected) (\(argument))") }
            let count = try context.count(for: request)
            guard count == expected.count else { throw problem("\(format) counts \(count), not \(expected.count)") }
        }
        try numbers("age > %@", .person, pivot) {
            guard case .integer(let age)? = $0.values["age"] else { return false }
            return age > pivot
        }
        let some = shown.numbers(.person).randomElement(using: &random).flatMap { shown.rows[$0] }
        for key in ["note", "motto"] {
            guard case .text(let text)? = some?.values[key] else { continue }
            try numbers("\(key) == %@", .person, text) { $0.values[key] == .text(text) }
        }
        try numbers("note == nil && number != %@", .tag, 0) { $0.values["note"] == nil }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            guard let group = shown.numbers(.group).randomElement(using: &random) else { return }
            try numbers("group.number == %@", .person, group) { $0.group == group }
        case 1:
            guard let tag = shown.numbers(.tag).randomElement(using: &random) else { return }
            try numbers("ANY tags.number == %@", .person, tag) { $0.tags.contains(tag) }
        default:
            guard let book = shown.numbers(.book).randomElement(using: &random) else { return }
            try numbers("ANY books.number == %@", .person, book) { $0.books.contains(book) }
        }
    }
}
