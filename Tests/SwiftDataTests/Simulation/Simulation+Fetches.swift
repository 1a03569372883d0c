import Foundation
import HeartwoodTestSupport
import SwiftData

extension Simulation {
    /// Fetches by predicates and orders, compared with their evaluation on all models.
    func compareFetches(_ context: SimulatedContext) throws {
        let k = Int.random(in: 0...max(count, 1), using: &random), m = Int.random(in: -2...9, using: &random)
        let word = ["", "a", "b", "é", "z"].randomElement(using: &random) ?? ""
        let date = Date(timeIntervalSinceReferenceDate: Double(m)), condition = Condition.allCases.randomElement(using: &random) ?? .new
        let number = Double(m) / 4
        say("\(context.name): fetches with \(k), \(m), \(word)", count: "fetch")
        let things: [Predicate<Thing>] = [
            #Predicate { $0.number > m && $0.number <= k },
            #Predicate { $0.string == word || $0.optString == nil },
            #Predicate { $0.optString?.contains(word) == true },
            #Predicate { ($0.optInt ?? 3) > m },
            #Predicate { $0.text == condition || $0.optText == condition },
            #Predicate { $0.place.city == word },
            #Predicate { $0.optPlace?.zip == m || $0.optPlace?.point.x == number },
            #Predicate { !$0.bool && $0.optBool != false },
            #Predicate { $0.date < date || $0.optDate == date },
            #Predicate { $0.double * 2 >= number && $0.int != m },
            #Predicate { $0.list.contains(m) },
            #Predicate { $0.string.starts(with: word) },
            #Predicate { $0.optSide == nil || $0.optDouble == number },
            #Predicate { $0.picture == nil && $0.optInt != nil },
        ]
        let owners: [Predicate<SimulatedOwner>] = [
            #Predicate { $0.cards.isEmpty || $0.children.count > 1 },
            #Predicate { $0.cards.contains { $0.int > m } },
            #Predicate { $0.parent?.number == k || $0.parent == nil },
            #Predicate { $0.clubs.contains { $0.bool && $0.number > m } },
            #Predicate { $0.badge != nil && $0.badge?.string != word },
            #Predicate { $0.children.allSatisfy { $0.number > k } },
            #Predicate { $0.clubs.filter { $0.int < m }.count == 1 },
        ]
        let cards: [Predicate<SimulatedCard>] = [
            #Predicate { $0.owner?.string == word }, #Predicate { $0.owner == nil || $0.number < k }, #Predicate { ($0.owner?.cards.count ?? 0) > 1 },
        ]
        if let predicate = things.randomElement(using: &random) { try compare(context, predicate) }
        if let predicate = owners.randomElement(using: &random) { try compare(context, predicate) }
        if let predicate = cards.randomElement(using: &random) { try compare(context, predicate) }
    }

    private func compare<T: Thing>(_ context: SimulatedContext, _ predicate: Predicate<T>) throws {
        var descriptor = FetchDescriptor<T>(predicate: predicate, sortBy: order())
        func expected(_ context: ModelContext) throws -> [T] {
            try context.fetch(FetchDescriptor<T>()).filter { try predicate.evaluate($0) }.sorted(using: descriptor.sortBy)
        }
        func require(_ found: [Int], _ wanted: [Int], _ what: String) throws {
            guard found != wanted else { return }
            throw SimulationProblem("\(context.name): \(what) of \(predicate) by \(descriptor.sortBy) finds \(found), not \(wanted)")
        }
        let all = try expected(context.context).map(\.number)
        try require(try context.context.fetch(descriptor).map(\.number), all, "a fetch")
        try require([try context.context.fetchCount(descriptor)], [all.count], "a count")
        try require([try context.context.fetchIdentifiers(descriptor).count], [all.count], "identifiers")
        descriptor.includePendingChanges = false
        let saved = try expected(ModelContext(container)).map(\.number)
        // The values of the models are the context's own; the choice and the order are the store's.
        try require([try context.context.fetchCount(descriptor)], [saved.count], "a count of what is saved")
        let ids = try context.context.fetchIdentifiers(descriptor)
        try require(ids.map { numbers[$0] ?? -1 }, saved, "identifiers of what is saved")
        descriptor.includePendingChanges = true
        (descriptor.fetchOffset, descriptor.fetchLimit) = (Int.random(in: 0...2, using: &random), Int.random(in: 1...4, using: &random))
        let part = all.dropFirst(descriptor.fetchOffset ?? 0).prefix(descriptor.fetchLimit ?? 0)
        try require(try context.context.fetch(descriptor).map(\.number), Array(part), "a part")
        (descriptor.fetchOffset, descriptor.fetchLimit) = (nil, nil)
        guard !context.context.hasChanges else { return }
        try require(try context.context.fetch(descriptor, batchSize: 2).map(\.number), all, "batches")
        var visited: [Int] = []
        try context.context.enumerate(descriptor, batchSize: 3) { visited.append($0.number) }
        try require(visited, all, "an enumeration")
    }

    private func order<T: Thing>() -> [SortDescriptor<T>] {
        let first: [SortDescriptor<T>] = [
            SortDescriptor(\T.int), SortDescriptor(\T.double, order: .reverse), SortDescriptor(\T.optInt),
            SortDescriptor(\T.optDate, order: .reverse), SortDescriptor(\T.string, comparator: .lexical),
        ]
        let last = SortDescriptor<T>(\T.number, order: chance(2) ? .reverse : .forward)
        return chance(3) ? [last] : [first.randomElement(using: &random), last].compactMap(\.self)
    }
}
