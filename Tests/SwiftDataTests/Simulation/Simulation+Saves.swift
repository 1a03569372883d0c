import Foundation
import HeartwoodTestSupport
import SwiftData

extension Simulation {
    func save(_ context: SimulatedContext) throws {
        let models = try bringUp(context), plain = context.plain
        say("\(context.name): save", count: "save")
        try context.context.save()
        try noteSave(context, models, plain)
    }

    /// The plain store becomes what the context shows, and the history has what the save has changed.
    func noteSave(_ context: SimulatedContext, _ models: [Int: Thing], _ plain: PlainContext) throws {
        let before = store
        store = plain.shown
        labels.merge(plain.labels) { $1 }
        context.plain = PlainContext(store)
        for number in plain.inserted {
            guard let model = models[number] else { continue }
            guard model.persistentModelID.storeIdentifier != nil else { throw SimulationProblem("\(number) has no permanent identifier") }
            numbers[model.persistentModelID] = number
        }
        guard !context.context.hasChanges else { throw SimulationProblem("\(context.name) has changes after the save") }
        try checkHistory(context, plain, before)
    }

    private func checkHistory(_ context: SimulatedContext, _ plain: PlainContext, _ before: PlainGraph) throws {
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        if let token = lastToken { descriptor.predicate = #Predicate { $0.token > token } }
        let transactions: [DefaultHistoryTransaction]
        do {
            transactions = try context.context.fetchHistory(descriptor)
        } catch SwiftDataError.invalidTransactionFetchRequest where url == nil {
            return
        }
        lastToken = transactions.last?.token ?? lastToken
        guard transactions.count <= 1, transactions.allSatisfy({ $0.author == context.name }) else {
            throw SimulationProblem("\(transactions.count) transactions by \(transactions.map { $0.author ?? "-" }) after a save of \(context.name)")
        }
        var inserted: Set<Int> = [], updated: Set<Int> = [], deleted: Set<Int> = []
        for change in transactions.flatMap(\.changes) {
            let id = change.changedPersistentIdentifier
            guard id.entityName != "SimulatedLabel" else { continue }
            guard let number = numbers[id] else { throw SimulationProblem("the history has \(id), which no model has") }
            switch change {
            case .insert: inserted.insert(number)
            case .update: updated.insert(number)
            case .delete: deleted.insert(number)
            }
        }
        let changed = Set(store.rows.keys.filter { number in before.rows[number].map { text(of: $0) != store.rows[number].map(text) } ?? false })
        let touched = Set(plain.values.keys).union(plain.linked).subtracting(plain.deleted).subtracting(plain.inserted)
        guard inserted == plain.inserted, deleted == plain.deleted, changed.isSubset(of: updated), updated.isSubset(of: touched) else {
            throw SimulationProblem(
                "the history has insertions \(inserted), updates \(updated), deletions \(deleted), in place of \(plain.inserted), "
                    + "\(changed) to \(touched), \(plain.deleted)")
        }
    }

    private func text(of row: PlainGraph.Row) -> [String] { properties.map { row.values[$0.name] ?? defaults[$0.name] ?? "" } }

    func rollBack(_ context: SimulatedContext) throws {
        let models = try bringUp(context), plain = context.plain
        say("\(context.name): rollback", count: "rollback")
        context.context.rollback()
        context.plain = PlainContext(store)
        for number in plain.inserted {
            context.held[number] = nil
            guard let model = models[number], let row = plain.shown.rows[number] else { continue }
            guard model.modelContext == nil else { throw SimulationProblem("\(number) is in a context after a rollback") }
            for property in properties {
                let found = property.text(model), wanted = row.values[property.name] ?? defaults[property.name]
                guard found == wanted else {
                    throw SimulationProblem("\(property.name) of \(number) is \(found), not \(wanted ?? "-"), after a rollback")
                }
            }
            for link in PlainGraph.Link.allCases { _ = (model.members(link), model.owners(link)) }
        }
        guard !context.context.hasChanges else { throw SimulationProblem("\(context.name) has changes after a rollback") }
    }

    /// Groups of edits, perhaps with a save, then undone and redone.
    func undoAndRedo(_ context: SimulatedContext) throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        // What was done before must not be a part of the first group.
        context.context.processPendingChanges()
        context.context.undoManager = manager
        defer { context.context.undoManager = nil }
        say("\(context.name): undo", count: "undo")
        // Labels are no part of the plain graph.
        var past: [PlainGraph] = []
        for _ in 0...Int.random(in: 0..<3, using: &random) {
            let before = context.plain.shown, count = manager.undoCount
            manager.beginUndoGrouping()
            let models = try context.models()
            changeValue(context, models)
            changeLink(context, models)
            if chance(3) { try insertGraph(context, models) }
            if chance(3) { delete(context, try context.models()) }
            context.context.processPendingChanges()
            manager.endUndoGrouping()
            // A group without a change is none.
            if manager.undoCount > count { past.append(before) }
            if chance(4) { try save(context) }
        }
        var future: [PlainGraph] = []
        func go(to graph: PlainGraph, _ what: String) throws {
            let labels = context.plain.labels
            context.plain = PlainContext(store, shown: graph)
            context.plain.labels = labels
            context.plain.isTouched = true
            context.held = [:]
            do {
                try context.check(properties, defaults)
            } catch {
                throw SimulationProblem("after \(what): \(error)")
            }
        }
        for graph in past.reversed() {
            guard manager.canUndo else { break }
            future.append(context.plain.shown)
            manager.undo()
            try go(to: graph, "undo")
        }
        let steps = Int.random(in: 0...future.count, using: &random)
        for graph in future.reversed().prefix(steps) {
            guard manager.canRedo else { break }
            manager.redo()
            try go(to: graph, "redo")
        }
    }

    /// What is done twice does no more than once.
    func doAgain(_ context: SimulatedContext, _ models: [Int: Thing]) throws {
        say("\(context.name): the same again", count: "again")
        if let number = pick(context), let model = models[number] { context.context.insert(model) }
        context.context.processPendingChanges()
        if chance(2) {
            try save(context)
            try save(context)
        } else if chance(4) {
            try rollBack(context)
            try rollBack(context)
        }
        if let number = pick(context), let model = try context.models()[number], context.plain.shown.members(.locks, of: number).isEmpty,
            case let gone = context.plain.shown.deletion(of: number), context.plain.shown.rows.count > 8,
            mayDelete(context, gone, partners: gone.reduce(into: []) { $0.formUnion(context.plain.shown.partners(of: $1)) }) {
            say("\(context.name): deletes \(number) twice", count: "deletion")
            context.context.delete(model)
            context.context.delete(model)
            var graph = context.plain.shown
            context.plain.linked.formUnion(graph.remove(gone))
            context.plain.shown = graph
            context.plain.deleted.formUnion(gone.subtracting(context.plain.inserted))
            context.plain.inserted.subtract(gone)
            for number in gone {
                context.plain.values[number] = nil
                context.held[number] = nil
            }
            context.context.delete(model)
        }
    }

    /// All contexts save, and the store is opened again.
    @MainActor func reopen() async throws {
        for context in contexts { try await on(context) { try self.save(context) } }
        guard url != nil else { return }
        say("opened again", count: "opening")
        contexts = []
        container = try Self.open(url)
        makeContexts()
        try checkFreshContext()
    }

    /// The main context saves by itself.
    @MainActor func autosave() async throws {
        let context = contexts[0]
        _ = try bringUp(context)
        context.context.autosaveEnabled = true
        defer { context.context.autosaveEnabled = false }
        let models = try context.models()
        changeValue(context, models)
        guard context.context.hasChanges else { return }
        let plain = context.plain
        say("main: saves by itself", count: "autosave")
        // The save is a job of the main queue: nothing tells of its end, since the context is the only one that knows.
        for _ in 0..<400 where context.context.hasChanges { try await Task.sleep(for: .milliseconds(1)) }
        if context.context.hasChanges {
            try context.context.save()
            throw SimulationProblem("main has not saved by itself")
        }
        try noteSave(context, models, plain)
    }

    /// Runs work of a context where the context is used.
    @MainActor func on(_ context: SimulatedContext, _ work: () throws -> Void) async throws {
        guard let actor = context.actor else { return try work() }
        try await withoutActuallyEscaping(work) { work in
            let box = UncheckedBox(value: work)
            try await actor.run { try box.value() }
        }
    }
}

/// Takes work to an actor that alone does it, while the test waits.
private struct UncheckedBox<Value>: @unchecked Sendable {
    // Unchecked: see above.
    let value: Value
}
