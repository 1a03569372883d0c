import Foundation
import Heartwood
import HeartwoodTestSupport
import heartwood_testprocess

/// A context and its expected state.
final class GraphPlayer {
    let name: String
    let hand: GraphHand
    /// The state of each object when the context read it.
    var base = GraphState()
    /// The same state with the context's changes.
    var shown = GraphState()
    /// The versions of the rows that the context has read.
    var versions: [Int: Int] = [:]
    /// The changes since its last save.
    var pending = GraphReach()
    /// Objects that no other context may change.
    var closed: Set<Int> = []

    init(_ name: String, _ context: NSManagedObjectContext) {
        self.name = name
        hand = GraphHand(context)
    }

    var context: NSManagedObjectContext { hand.context }
    var gone: Set<Int> { Set(base.rows.keys).subtracting(shown.rows.keys) }

    /// Whether another context may make an edit: both orders of saving must give one result.
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

    /// The context has read everything again.
    func rebase(on new: GraphState, versions: [Int: Int] = [:]) {
        shown = shown.changes(since: base, on: new)
        base = new
        self.versions = versions
    }

    /// The context has read some objects again.
    func rebase(_ numbers: Set<Int>, on store: GraphStore) {
        var part = base
        for number in numbers {
            part.rows[number] = store.state.rows[number]
            versions[number] = store.versions[number]
        }
        shown = shown.changes(since: base, on: part)
        base = part
    }

    /// The context has read some objects again from a parent. A value that the parent now has too is no longer a change.
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

    /// Checks a context that has read everything: values, relationships from both sides, and sometimes fetches.
    func check(_ random: inout SeededGenerator) throws {
        try hand.load()
        try checkAll()
        if Int.random(in: 0..<3, using: &random) == 0 { try checkFetches(&random) }
    }

    /// Reads every row and relationship, so that the rows read are known.
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

    /// Checks a context that is behind: the rows that it has read, with its changes.
    func checkRows() throws {
        for (number, row) in shown.rows.sorted(by: { $0.key < $1.key }) {
            guard let object = hand.objects[number] else { throw problem("lacks \(number)") }
            let values = object.sampleValues(row.kind)
            guard values == row.values else { throw problem("\(number) has \(values), not \(row.values)") }
            guard row.kind == .person else { continue }
            // A group that is gone for the context is an inaccessible fault.
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
