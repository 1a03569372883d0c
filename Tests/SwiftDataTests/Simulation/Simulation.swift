import Foundation
import HeartwoodTestSupport
import SwiftData

/// A random run over one container: contexts by turns, beside plain values.
///
/// Contexts change relationships, and delete, where no other context has unsaved links: what two such changes become together is no question
/// that a plain graph answers. Attributes collide as they like, and the context's own changes win.
final class Simulation {
    let seed: UInt64
    var random: SeededGenerator
    let properties = ThingProperty.all
    let defaults: [String: String]
    /// nil for a store in memory.
    let url: URL?
    var container: ModelContainer
    var contexts: [SimulatedContext] = []
    /// What the store has.
    var store = PlainGraph()
    var labels: [String: String] = [:]
    /// The numbers of saved models.
    var numbers: [PersistentIdentifier: Int] = [:]
    var lastToken: DefaultHistoryToken?
    var count = 0
    var story: [String] = []
    var counts: [String: Int] = [:]

    @MainActor init(seed: UInt64, url: URL?) throws {
        self.seed = seed
        self.url = url
        random = SeededGenerator(seed: seed)
        let fresh = Thing(number: 0)
        defaults = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.text(fresh)) })
        container = try Self.open(url)
        makeContexts()
    }

    static func open(_ url: URL?) throws -> ModelContainer {
        let schema = Schema([SimulatedOwner.self, SimulatedCard.self, Lock.self, SimulatedBadge.self, Club.self, SimulatedLabel.self])
        let configuration = url.map { ModelConfiguration(url: $0) } ?? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        return try ModelContainer(for: schema, configurations: configuration)
    }

    @MainActor func makeContexts() {
        let main = container.mainContext
        main.autosaveEnabled = false
        let actor = SimulatedActor(modelContainer: container)
        contexts = [
            SimulatedContext("main", main, store), SimulatedContext("first", ModelContext(container), store),
            SimulatedContext("second", ModelContext(container), store),
            SimulatedContext("actor", actor.modelExecutor.modelContext, store, actor: actor),
        ]
        for context in contexts { context.context.author = context.name }
    }

    func say(_ text: @autoclosure () -> String, count name: String) {
        counts[name, default: 0] += 1
        story.append(text())
    }

    func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

    // MARK: What a context may change

    private func others(_ context: SimulatedContext) -> [SimulatedContext] { contexts.filter { $0 !== context } }

    /// Whether no other context has unsaved links or deletions of these rows.
    func mayLink(_ context: SimulatedContext, _ rows: Set<Int>) -> Bool {
        others(context).allSatisfy { $0.plain.linked.isDisjoint(with: rows) && $0.plain.deleted.isDisjoint(with: rows) }
    }

    func mayDelete(_ context: SimulatedContext, _ rows: Set<Int>, partners: Set<Int>) -> Bool {
        mayLink(context, rows.union(partners)) && others(context).allSatisfy { rows.isDisjoint(with: $0.plain.values.keys) }
    }

    /// An equal value is a change only where nobody else's value may come before the save.
    func maySet(_ context: SimulatedContext, _ row: Int, _ name: String, _ text: String) -> Bool {
        func base(_ context: SimulatedContext) -> String? { context.plain.base.rows[row].map { $0.values[name] ?? defaults[name] ?? "" } }
        return others(context).allSatisfy { other in
            guard !other.plain.deleted.contains(row) else { return false }
            guard other.plain.values[row]?.contains(name) == true else { return true }
            // Two contexts' changes of one structure are merged part by part.
            guard name != "place", name != "optPlace" else { return false }
            return base(context) != text && base(other) != other.plain.shown.rows[row]?.values[name]
        }
    }

    // MARK: Running

    /// The context takes in the saves of others first, as it does by itself at its next fetch.
    func bringUp(_ context: SimulatedContext) throws -> [Int: Thing] {
        context.plain.rebase(on: store)
        for number in context.held.keys where context.plain.shown.rows[number] == nil {
            if let model = context.held.removeValue(forKey: number) { readGone(model, context.plain.base) }
        }
        return try context.models()
    }

    /// A model of a row that another context has deleted is read without a trap.
    private func readGone(_ model: Thing, _ base: PlainGraph) {
        for property in properties { _ = property.text(model) }
        for link in PlainGraph.Link.allCases { _ = (model.members(link), model.owners(link)) }
    }

    func step(_ context: SimulatedContext) throws {
        let models = try bringUp(context)
        switch Int.random(in: 0..<30, using: &random) {
        case 0..<7: for _ in 0...Int.random(in: 0..<3, using: &random) { changeValue(context, models) }
        case 7..<12: for _ in 0...Int.random(in: 0..<3, using: &random) { changeLink(context, models) }
        case 12..<15: try insertGraph(context, models)
        case 15: delete(context, models)
        case 16..<19: try save(context)
        case 19: try rollBack(context)
        case 20, 21: try undoAndRedo(context)
        case 22, 23: try compareFetches(context)
        case 24: try changeLabel(context)
        case 25: try denyDeletion(context, models)
        case 26: try doAgain(context, models)
        case 27: try linkAcross(context, models)
        case 28: hold(context, models)
        default: try checkFreshContext()
        }
        if chance(2) { try check(context) }
    }

    func check(_ context: SimulatedContext) throws {
        try context.check(properties, defaults)
        let hasChanges = context.context.hasChanges
        // A change to the former value is one to the context, and none to the store.
        if hasChanges, !context.plain.hasChanges, !context.plain.isTouched {
            let found = context.context
            throw SimulationProblem(
                "\(context.name) has changes: \(found.insertedModelsArray), \(found.changedModelsArray), \(found.deletedModelsArray)")
        }
        if !context.plain.inserted.isEmpty || !context.plain.deleted.isEmpty, !hasChanges {
            throw SimulationProblem("\(context.name) has no changes")
        }
        guard context.plain.labels.isEmpty else { return }
        let found = try context.context.fetch(FetchDescriptor<SimulatedLabel>())
        guard found.count == labels.count, Dictionary(found.map { ($0.code, $0.state) }, uniquingKeysWith: { $1 }) == labels else {
            throw SimulationProblem("\(context.name): the labels are \(found.map { ($0.code, $0.state) }), not \(labels)")
        }
    }

    func checkFreshContext() throws {
        let reader = SimulatedContext("a new context", ModelContext(container), store)
        say("a new context reads", count: "read")
        try check(reader)
    }
}
