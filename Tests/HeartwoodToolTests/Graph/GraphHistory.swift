import Foundation
import Heartwood
import heartwood_testprocess

/// Reads the store's history, whichever process made it, and compares it with the changes of the rows.
final class GraphHistory {
    private let coordinator: NSPersistentStoreCoordinator
    /// The rows and the history's position at the last check.
    private var state = GraphState()
    private var token: NSPersistentHistoryToken?
    private var numbers: [NSManagedObjectID: Int] = [:]

    init(_ coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
    }

    /// The changes of an object over several transactions.
    private struct Fate {
        var wasThere: Bool
        var isThere: Bool
        var properties: Set<String> = []
    }

    /// - Throws: if the history's objects are not the ones that differ, or if it lacks a property that differs.
    func check(_ new: GraphState) throws {
        let hand = GraphHand(GraphHand.context(coordinator))
        try hand.load()
        for (number, object) in hand.objects { numbers[object.objectID] = number }
        let fates = try fates(in: hand.context)
        for (id, fate) in fates {
            guard let number = numbers[id] else {
                guard !fate.wasThere, !fate.isThere else { throw GraphProblem("the history names \(id), which nobody has seen") }
                continue
            }
            guard fate.wasThere == (state.rows[number] != nil), fate.isThere == (new.rows[number] != nil) else {
                throw GraphProblem("the history says of \(number): \(fate)")
            }
        }
        let told = Dictionary(uniqueKeysWithValues: fates.compactMap { id, fate in numbers[id].map { ($0, fate) } })
        let before = state.sights, after = new.sights
        for number in Set(before.keys).union(after.keys) where before[number] != after[number] {
            guard let fate = told[number] else { throw GraphProblem("the history says nothing of \(number)") }
            guard let old = before[number], let now = after[number] else { continue }
            let missing = Self.changed(old, now).subtracting(fate.properties)
            guard missing.isEmpty else { throw GraphProblem("the history says of \(number): \(fate), and nothing of \(missing)") }
        }
        state = new
    }

    private func fates(in context: NSManagedObjectContext) throws -> [NSManagedObjectID: Fate] {
        let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token)) as? NSPersistentHistoryResult
        var fates: [NSManagedObjectID: Fate] = [:]
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
            token = transaction.token
            for change in transaction.changes ?? [] {
                let id = change.changedObjectID, isInsertion = change.changeType == .insert
                var fate = fates[id] ?? Fate(wasThere: !isInsertion, isThere: !isInsertion)
                guard fate.isThere != isInsertion else { throw GraphProblem("\(change) comes after \(fate)") }
                fate.isThere = change.changeType != .delete
                fate.properties.formUnion((change.updatedProperties ?? []).map(\.name))
                fates[id] = fate
            }
        }
        return fates
    }

    /// The properties in which an object differs.
    private static func changed(_ old: GraphSight, _ new: GraphSight) -> Set<String> {
        var names: Set<String> = []
        for (name, _) in old.row.kind.attributes where old.row.values[name] != new.row.values[name] { names.insert(name) }
        if old.row.group != new.row.group { names.insert("group") }
        if old.row.tags != new.row.tags { names.insert("tags") }
        if old.row.tasks != new.row.tasks { names.insert("tasks") }
        if old.row.books != new.row.books { names.insert("books") }
        guard old.sources != new.sources else { return names }
        switch new.row.kind {
        case .person: break
        case .group, .tag: names.insert("people")
        case .task: names.insert("owner")
        case .book: names.insert("readers")
        }
        return names
    }
}
