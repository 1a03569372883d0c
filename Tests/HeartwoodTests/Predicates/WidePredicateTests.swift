import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Predicates with everything in the format language, on values at the ends of their types, find the same objects: through each index by force, by
/// scans, by the planner's choice, with unsaved changes, printed and parsed again, and in memory.
@Suite struct WidePredicateTests {
    private static let rounds = 20

    @Test(arguments: StoreKind.recordLogs, [1, 2, 3] as [UInt64])
    func `All ways of answering find the same`(kind: StoreKind, seed: UInt64) throws {
        var maker = WideMaker(random: SeededGenerator(seed: seed))
        let stack = try TestStack(kind, model: WideGraph.model())
        let context = stack.context
        var tags: [NSManagedObject] = (0..<5).map { number in
            let tag = stack.insert("Tag", [:])
            if number < 4 { tag.setValue(WideMaker.texts[maker.pick(Array(0..<20))], forKey: "label") }
            if number > 0 { tag.setValue([1, 2, -0.0, 2.5, .infinity][number], forKey: "weight") }
            return tag
        }
        var people: [NSManagedObject] = []
        func person(_ number: Int) -> NSManagedObject {
            let one = stack.insert(["A", "B", "C", "A"][number % 4], ["id": "\(number)"])
            maker.set(one)
            maker.relate(one, people, tags)
            let kids = (0..<Int.random(in: 0..<4, using: &maker.random)).map { _ in
                var values: [String: Any] = [:]
                if !maker.chance(4) { values["n"] = Int(Int32(truncatingIfNeeded: maker.pick(WideMaker.ints))) }
                if !maker.chance(4) { values["label"] = maker.pick(WideMaker.texts) }
                return stack.insert("Item", values)
            }
            one.setValue(NSOrderedSet(array: kids), forKey: "kids")
            return one
        }
        for number in 0..<60 { people.append(person(number)) }
        try context.save()
        if seed % 2 == 0 { try stack.persistentStore.rows?.log?.checkpoint() }
        if seed % 3 == 0, kind == .recordLog {
            // Rows have two layouts from here on.
            try stack.changeLayouts()
            people = try stack.fetch("Base").sorted {
                Int($0.value(forKey: "id") as? String ?? "") ?? 0 < Int($1.value(forKey: "id") as? String ?? "") ?? 0
            }
            tags = try stack.fetch("Tag").sorted { $0.key.rawValue < $1.key.rawValue }
        }
        for (number, one) in people.enumerated() where number % 7 == 0 { maker.set(one) }
        for one in people.suffix(4) { context.delete(one) }
        people.removeLast(4)
        try context.save()
        for isChanged in [false, true] {
            if isChanged {
                for one in people where maker.chance(6) { maker.set(one) }
                for one in people where maker.chance(8) { maker.relate(one, people, tags) }
                for one in people where maker.chance(12) { context.delete(one) }
                people.removeAll(where: \.isDeleted)
                for number in 100..<106 { people.append(person(number)) }
                let new = stack.insert("Tag", ["label": "a", "weight": 3])
                tags[1].setValue(7, forKey: "weight")
                tags.append(new)
                people[3].mutableSetValue(forKey: "tags").add(new)
                context.processPendingChanges()
            }
            maker.objects = people
            let all = try stack.fetch("Base", in: context)
            if all.count != people.count { Issue.record("\(all.count) of \(people.count)") }
            for _ in 0..<Self.rounds {
                maker.arguments = []
                let format = maker.finished(maker.predicate(maker.pick([0, 1, 2, 3]), ""))
                let says = "seed \(seed) \(kind) changed \(isChanged): \(format) with \(maker.arguments.map { ValueText.of($0) })"
                let predicate: NSPredicate
                do { predicate = try NSPredicate(parsing: format, argumentArray: maker.arguments) } catch {
                    if !"\(error)".contains("IN needs a list"), !"\(error)".contains("cannot be cast"), !"\(error)".contains("does not compile") {
                        Issue.record("PARSE \(says): \(error)")
                    }
                    continue
                }
                let printed = predicate.predicateFormat
                if !printed.contains("x-coredata"), !printed.contains("<"),
                    !maker.arguments.contains(where: { $0 is NSDictionary || $0 is NSEntityDescription })
                {
                    do {
                        let again = try NSPredicate(parsing: printed)
                        if again.predicateFormat != printed { Issue.record("PRINT \(says): \(printed) became \(again.predicateFormat)") }
                        let a = all.filter { predicate.evaluate(with: $0) }, b = all.filter { again.evaluate(with: $0) }
                        if a != b { Issue.record("REPARSED \(says): \(printed) \(a.count) \(b.count)") }
                    } catch { Issue.record("REPARSE \(says): \(printed): \(error)") }
                }
                let entity = maker.pick(["Base", "Base", "Base", "A", "B", "C"]), own = maker.chance(5)
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = predicate
                request.includesSubentities = !own
                let pool = all.filter { one in entity == "Base" ? !own : own ? one.entity.name == entity : one.entity.isKindOf(entity: stack.coordinator.managedObjectModel.entitiesByName[entity]!) }
                let sort = maker.pick([
                    [], ["i32"], ["dbl", "id"], ["dec"], ["str", "i16"], ["date"], ["boss.str", "id"], ["uuid"], ["bool", "i64"],
                    ["boss.boss.i32", "dbl"], ["comp.lat"], ["uri"], ["data"], ["flt"], ["x"], ["comp.inner.s", "dec"]])
                request.sortDescriptors = sort.filter { $0 != "x" || entity == "A" || entity == "B" || entity == "C" }.map {
                    NSSortDescriptor(key: $0, ascending: maker.chance(2))
                }
                var keys: [SortKey] = []
                keys = try request.sortDescriptors!.map { try SortKey($0, entity: stack.coordinator.managedObjectModel.entitiesByName[entity]!) }
                func isBefore(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
                    keys.lazy.map { $0.compare(a, b) }.first { $0 != .orderedSame } == .orderedAscending
                }
                let matched = predicate.asFetched(entity, in: stack), expected = pool.filter { matched.evaluate(with: $0) }
                let wanted = Set(expected.map(\.objectID))
                let ordered = expected.sorted(by: isBefore)
                var ways: [(String, QueryTuning)] = [("planner", QueryTuning())]
                if !isChanged || maker.chance(4) {
                    ways.append(("scan", QueryTuning(cores: 1, access: .scan)))
                    if maker.chance(3) { ways.append(("cores", QueryTuning(cores: 3, rowsForCores: 1, access: .scan))) }
                    for name in WideGraph.indexNames.shuffled(using: &maker.random).prefix(6) {
                        ways.append((name, QueryTuning(access: .index("index:\(name)"))))
                    }
                }
                let limit = maker.pick([0, 1, 5]), offset = maker.pick([0, 2])
                for (name, tuning) in ways {
                    do {
                        try QueryTuning.with(tuning) { () throws in
                            (request.fetchLimit, request.fetchOffset) = (0, 0)
                            let found = try context.fetch(request)
                            let got = Set(found.map(\.objectID))
                            if got != wanted || found.count != expected.count {
                                let wrong = all.filter { got.contains($0.objectID) != wanted.contains($0.objectID) }.prefix(3).map {
                                    ($0.value(forKey: "id") as? String ?? "?") + (got.contains($0.objectID) ? " too many" : " missing")
                                }
                                Issue.record("FOUND \(name) \(says) as \(printed) of \(entity) own \(own): \(found.count) for \(expected.count), \(wrong): in memory \(context.queries.lastQueryWasInMemory)")
                                return
                            }
                            if zip(found, ordered).contains(where: { isBefore($0, $1) || isBefore($1, $0) }) {
                                Issue.record("ORDER \(name) \(says) by \(sort) of \(entity)")
                            }
                            if try context.count(for: request) != expected.count { Issue.record("COUNT \(name) \(says) of \(entity) own \(own)") }
                            (request.fetchLimit, request.fetchOffset) = (limit, offset)
                            let window = try context.fetch(request)
                            let cut = found.dropFirst(offset), right = Array(limit == 0 ? cut : cut.prefix(limit))
                            if sort.isEmpty ? window.count != right.count || !Set(window).isSubset(of: found) : window != right {
                                Issue.record("WINDOW \(name) \(says) by \(request.sortDescriptors!) \(limit) \(offset) of \(entity)")
                            }
                            if try context.count(for: request) != right.count { Issue.record("COUNTWINDOW \(name) \(says)") }
                        }
                    } catch {
                        if !(error as NSError).localizedDescription.contains("has no property") {
                            Issue.record("THROWN \(name) \(says) of \(entity): \((error as NSError).localizedDescription.prefix(600))")
                        }
                        break
                    }
                }
            }
        }
    }
}
