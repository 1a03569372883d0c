import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Random work in a context that several controllers follow, and in one behind it. The list that each delegate builds from the reports is compared
/// with its controller's, and that with a new controller's fetch. A failure prints its seed and the steps; `HEARTWOOD_RESULTS_SEED=… swift test
/// --filter ResultsSimulation` repeats it, `HEARTWOOD_RESULTS_RUNS` sets the number of runs.
@Suite struct ResultsSimulationTests {
    private final class Run {
        let stack: TestStack
        let context: NSManagedObjectContext
        let other: NSManagedObjectContext
        let undoManager = UndoManager()
        var random: SeededGenerator
        var followed: [(name: String, controller: NSFetchedResultsController<Person>, make: () -> NSFetchedResultsController<Person>)] = []
        var mirrors: [ListMirror] = []
        let snapshots = SnapshotKeeper(), differences = DifferenceKeeper()
        let withSnapshots: NSFetchedResultsController<Person>
        let withDifferences: NSFetchedResultsController<Person>
        let isChild: Bool
        private let heard: Heard

        init(_ kind: StoreKind, seed: UInt64, isChild: Bool) throws {
            stack = try TestStack(kind, model: TestStack.model().widened())
            random = SeededGenerator(seed: seed)
            self.isChild = isChild
            let context = isChild ? stack.context.child() : stack.context
            self.context = context
            // A child follows the saves to its parent.
            other = isChild ? stack.context : stack.newContext()
            heard = Heard([.NSManagedObjectContextDidSave], of: other)
            for context in [context, other] { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
            context.undoManager = undoManager
            for number in 0..<4 { stack.insert("Group", ["title": "g\(number)"], into: other) }
            for number in 0..<8 { stack.insert("Tag", ["label": "t\(number % 3)"], into: other) }
            for number in 0..<12 { stack.insert("Person", ["name": "a\(number)", "age": number % 5], into: other) }
            try other.save()
            _ = heard.take()
            let stack = stack
            withSnapshots = stack.controller(sort: ["age", "name"], sections: "age", in: context)
            withDifferences = stack.controller("age > 1", sort: ["-name"], in: context)
            func follow(_ name: String, _ make: @escaping () -> NSFetchedResultsController<Person>) throws {
                let controller = make(), mirror = ListMirror()
                controller.delegate = mirror
                try controller.performFetch()
                mirror.start(controller)
                followed.append((name, controller, make))
                mirrors.append(mirror)
            }
            try follow("names") { stack.controller(in: context) }
            try follow("ages") { stack.controller("age > 1", sort: ["age", "name"], sections: "age", in: context) }
            try follow("ages downwards, in batches") {
                stack.controller(sort: ["-age", "name"], sections: "age", in: context) { $0.fetchBatchSize = 3 }
            }
            try follow("groups") { stack.controller(sort: ["group.title", "-age", "name"], sections: "group.title", in: context) }
            try follow("of a group") {
                stack.controller("group.title IN {'g1', 'g2'}", sort: ["age", "name"], in: context) { $0.fetchBatchSize = 2 }
            }
            try follow("tags") { stack.controller("ANY tags.label == 't1'", in: context) }
            try follow("many tags") { stack.controller("tags.@count > 1", sort: ["age", "name"], sections: "age", in: context) }
            try follow("a window") {
                stack.controller(sort: ["age", "name"], sections: "age", in: context) { ($0.fetchLimit, $0.fetchOffset) = (5, 2) }
            }
            try follow("nothing pending") {
                stack.controller(sort: ["age", "name"], sections: "age", in: context) { $0.includesPendingChanges = false }
            }
            try follow("no case") {
                stack.controller(in: context) {
                    $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false, textOrder: .caseInsensitive)]
                }
            }
            try follow("words") {
                stack.controller(in: context) {
                    $0.sortDescriptors = [
                        NSSortDescriptor(key: "group.title", ascending: false, textOrder: .localizedCaseInsensitive),
                        NSSortDescriptor(key: "name", ascending: true, textOrder: .localizedStandard),
                    ]
                }
            }
            try follow("by the group") { stack.controller(sort: ["group", "name"], in: context) }
            try follow("employees") { stack.controller(sort: ["age", "name"], in: context) { $0.includesSubentities = false } }
            withSnapshots.delegate = snapshots
            withDifferences.delegate = differences
            try withSnapshots.performFetch()
            try withDifferences.performFetch()
            differences.ids = withDifferences.list.entries.map { context.objectID(for: $0.key) }
        }

        func all(_ entity: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
            let key = ["Person": "name", "Group": "title", "Tag": "label"][entity]
            return try stack.fetch(entity, sort: [NSSortDescriptor(key: key, ascending: true)], in: context)
        }

        /// Few values, so that sections have several members; null and an end of the type are among them.
        func someAge() -> Int? { [nil, nil, 0, 1, 2, 3, 4, Int(Int32.min)].randomElement(using: &random)! }

        func pick(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
            try all(entity, in: context).randomElement(using: &random)
        }

        /// A change in one of the contexts.
        func change(_ number: Int, _ context: NSManagedObjectContext) throws -> String {
            switch Int.random(in: 0..<18, using: &random) {
            case 0..<4:
                let entity = Int.random(in: 0..<4, using: &random) == 0 ? "Employee" : "Person"
                let object = stack.insert(entity, ["name": "n\(number)"], into: context)
                object.setValue(someAge(), forKey: "age")
                if Bool.random(using: &random) { object.setValue(try pick("Group", context), forKey: "group") }
                return "inserts \(entity) n\(number)"
            case 4..<7:
                guard let object = try pick("Person", context) else { return "nothing" }
                context.delete(object)
                return "deletes a person"
            case 7..<10:
                guard let object = try pick("Person", context) else { return "nothing" }
                object.setValue(someAge(), forKey: "age")
                object.drawMoreValues(&random)
                return "sets the age of \(object.value(forKey: "name") ?? "-")"
            case 10:
                guard let object = try pick("Person", context) else { return "nothing" }
                // Null or an empty name only once, since equal ones have no order among each other.
                let isTaken = try all("Person", in: context).contains { ($0.text("name") ?? "").isEmpty }
                let name = ["a", "M", "z", "É", "e", "\0", String(repeating: "l", count: 300)].randomElement(using: &random)! + "\(number)"
                object.setValue(isTaken || Bool.random(using: &random) ? name : Bool.random(using: &random) ? nil : "", forKey: "name")
                return "renames to \(name.prefix(9))"
            case 11..<14:
                guard let object = try pick("Person", context) else { return "nothing" }
                object.setValue(Int.random(in: 0..<4, using: &random) == 0 ? nil : try pick("Group", context), forKey: "group")
                return "moves \(object.value(forKey: "name") ?? "-")"
            case 14:
                guard let group = try pick("Group", context) else { return "nothing" }
                group.setValue("g\(number % 7)x\(number)", forKey: "title")
                return "renames a group"
            case 15:
                guard let tag = try pick("Tag", context) else { return "nothing" }
                tag.setValue([nil, "", "t0", "t1", "t2", "t1"][number % 6], forKey: "label")
                return "labels a tag"
            default:
                guard let object = try pick("Person", context), let tag = try pick("Tag", context) else { return "nothing" }
                let tags = object.mutableSetValue(forKey: "tags")
                if tags.contains(tag) { tags.remove(tag) } else { tags.add(tag) }
                return "tags \(object.value(forKey: "name") ?? "-")"
            }
        }

        func step(_ number: Int) throws -> String {
            switch Int.random(in: 0..<26, using: &random) {
            case 22..<24 where !isChild && StoreKind.batching.contains(stack.kind): return try batch(number)
            case 24: return disturbNext(number)
            case 25:
                guard let index = followed.indices.randomElement(using: &random) else { return "nothing" }
                try followed[index].controller.performFetch()
                mirrors[index].start(followed[index].controller)
                return "fetches \(followed[index].name)"
            case 0..<9:
                let count = Int.random(in: 1...3, using: &random)
                return try (0..<count).map { try change(number * 10 + $0, context) }.joined(separator: ", ")
            case 9..<11:
                try context.save()
                return "saves"
            case 11..<15:
                let count = [1, 2, 3, 80].randomElement(using: &random)!
                var done = "the other one: "
                for index in 0..<count { done += try change(number * 100 + index, other) + ", " }
                try other.save()
                if let saved = heard.take() { context.mergeChanges(fromContextDidSave: saved) }
                return done
            case 15:
                guard undoManager.canUndo else { return "nothing to undo" }
                undoManager.undo()
                return "undoes"
            case 16:
                guard undoManager.canRedo else { return "nothing to redo" }
                undoManager.redo()
                return "redoes"
            case 17:
                context.rollback()
                return "rolls back"
            case 18:
                context.refreshAllObjects()
                return "refreshes all"
            case 19:
                guard let object = try pick("Person", context) else { return "nothing" }
                context.refresh(object, mergeChanges: Bool.random(using: &random))
                return "refreshes one"
            case 20:
                let inserted = Array(context.insertedObjects)
                try context.obtainPermanentIDs(for: inserted)
                return "obtains IDs"
            default:
                context.reset()
                wasReset = true
                undoManager.removeAllActions()
                return "resets"
            }
        }

        /// Whether a child differs from its parent: notifications of saves do not name objects that were never saved.
        func isOutdated() throws -> Bool {
            let twin = stack.context.child()
            return try withExtendedLifetime(twin) {
                for (entity, keys) in [("Person", ["name", "age"]), ("Group", ["title"]), ("Tag", ["label"])] {
                    let own = Dictionary(uniqueKeysWithValues: try all(entity, in: context).map { ($0.objectID, $0) })
                    let stored = Dictionary(uniqueKeysWithValues: try all(entity, in: twin).map { ($0.objectID, $0) })
                    for object in context.registeredObjects where [entity, "Employee"].contains(object.entity.name) {
                        guard !object.hasChanges, object.entity.propertiesByName[keys[0]] != nil else { continue }
                        guard let says = stored[object.objectID], own[object.objectID] != nil else { return true }
                        for key in keys where "\(object.value(forKey: key) ?? "-")" != "\(says.value(forKey: key) ?? "-")" { return true }
                        guard entity == "Person" else { continue }
                        if object.one("group")?.objectID != says.one("group")?.objectID { return true }
                        if Set(object.many("tags").map(\.objectID)) != Set(says.many("tags").map(\.objectID)) { return true }
                    }
                }
                return false
            }
        }

        /// Makes other changes while the next change is reported.
        func disturbNext(_ number: Int) -> String {
            let told = mirrors.indices.randomElement(using: &random)!, other = followed.indices.randomElement(using: &random)!
            let what = Int.random(in: 0..<6, using: &random)
            mirrors[told].during = { [unowned self] _ in
                mirrors[told].during = nil
                do {
                    switch what {
                    case 0: _ = try change(number * 10 + 7, context)
                    case 1:
                        _ = try change(number * 10 + 7, context)
                        context.processPendingChanges()
                    case 2:
                        // It throws for sections in pieces, and then nothing has changed.
                        try? followed[other].controller.performFetch()
                        mirrors[other].start(followed[other].controller)
                    case 3: context.rollback()
                    case 4:
                        context.reset()
                        wasReset = true
                    default:
                        _ = try change(number * 10 + 8, context)
                        // Not within a save.
                        try? context.save()
                    }
                } catch {
                    failure = error
                }
            }
            let done = ["changes", "changes and tells", "fetches \(followed[other].name)", "rolls back", "resets", "changes and saves"][what]
            return "the next callback of \(followed[told].name) \(done)"
        }

        /// A batch request, whose IDs are merged into the context.
        func batch(_ number: Int) throws -> String {
            let ids: [NSManagedObjectID], key: String, done: String
            let age = Int.random(in: 0..<5, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                ids = try stack.insertBatch((0..<3).map { ["name": "b\(number)\($0)", "age": $0] })
                (key, done) = (NSInsertedObjectsKey, "inserts")
            case 1:
                ids = try stack.updateBatch("Person", "age == \(age)", ["age": Int.random(in: 0..<5, using: &random)])
                (key, done) = (NSUpdatedObjectsKey, "updates")
            case 2:
                ids = try stack.updateBatch("Group", nil, ["title": "h\(number)"])
                (key, done) = (NSUpdatedObjectsKey, "renames groups")
            default:
                ids = try stack.deleteBatch("Person", "age == \(age) AND name BEGINSWITH 'a'")
                (key, done) = (NSDeletedObjectsKey, "deletes")
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [context, other])
            return "a batch \(done) \(ids.count)"
        }

        /// Whether controllers must fetch again before they show the current state.
        var wasReset = false
        /// The error thrown in a callback.
        var failure: (any Error)?
        var outdated = 0

        func problem() throws -> String? {
            if let failure { throw failure }
            guard let problem = try difference() else { return nil }
            guard isChild, problem.hasPrefix("fresh"), try isOutdated() else { return problem }
            outdated += 1
            context.refreshAllObjects()
            context.processPendingChanges()
            return try difference()
        }

        /// - Returns: the difference found.
        private func difference() throws -> String? {
            let isReset = wasReset
            if isReset {
                wasReset = false
                try withSnapshots.performFetch()
                try withDifferences.performFetch()
                differences.ids = withDifferences.list.entries.map { context.objectID(for: $0.key) }
            }
            for (position, (name, controller, make)) in followed.enumerated() {
                if let problem = mirrors[position].problems.first { return "\(name): \(problem)" }
                let shown = ListMirror.sections(of: controller), told = mirrors[position].sections
                // Permanent IDs appear with the next change.
                let isRenamed = zip(shown, told).contains { $0.keys != $1.keys } && shown.map(\.keys.count) == told.map(\.keys.count)
                if shown != told, !isRenamed { return "\(name): shown \(shown), told \(told)" }
                if isReset {
                    try controller.performFetch()
                    mirrors[position].start(controller)
                }
                let fresh = make()
                try fresh.performFetch()
                if fresh.shown != controller.shown { return "fresh \(name): shows \(controller.shown), not \(fresh.shown)" }
                let paths = controller.fetchedObjects?.map { controller.indexPath(forObject: $0) } ?? []
                if paths != controller.list.entries.indices.map({ controller.list.indexPath(of: $0) }) { return "\(name): index paths" }
            }
            let snapshot = snapshots.snapshot
            if snapshot?.itemIdentifiers != withSnapshots.list.entries.map({ context.objectID(for: $0.key) }) { return "the snapshot is old" }
            if snapshot?.sectionIdentifiers != withSnapshots.sections?.map(\.name) { return "the snapshot's sections are old" }
            if differences.isBroken { return "a difference does not apply" }
            if differences.ids != withDifferences.list.entries.map({ context.objectID(for: $0.key) }) { return "the differences lead elsewhere" }
            return nil
        }
    }

    private static func variable(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) }

    private func play(_ kind: StoreKind, seed: UInt64, isChild: Bool = false, steps: Int = 60) throws {
        let run = try Run(kind, seed: seed, isChild: isChild)
        var log: [String] = []
        for number in 1...steps {
            do {
                log.append(try run.step(number))
            } catch {
                Issue.record(
                    "\(kind) seed \(seed)\(isChild ? " in a child" : ""), step \(number): \(error)\n\(log.suffix(12).joined(separator: "\n"))")
                return
            }
            // Twice, because callbacks make changes.
            for _ in 0..<2 { run.context.processPendingChanges() }
            if let problem = try run.problem() {
                let done = log.suffix(12).joined(separator: "\n")
                Issue.record("\(kind) seed \(seed)\(isChild ? " in a child" : ""), step \(number): \(problem)\n\(done)")
                return
            }
        }
    }

    @Test(arguments: StoreKind.planning)
    func `The changes that delegates get lead to the fetched state`(kind: StoreKind) throws {
        let runs = Self.variable("HEARTWOOD_RESULTS_RUNS") ?? (kind == .inMemory ? 5 : 2)
        let first = Self.variable("HEARTWOOD_RESULTS_SEED") ?? UInt64.random(in: 0..<1_000_000)
        for seed in first..<first + runs { try play(kind, seed: seed) }
    }

    @Test
    func `The changes in a child lead to the fetched state`() throws {
        let runs = Self.variable("HEARTWOOD_RESULTS_RUNS") ?? 3
        let first = Self.variable("HEARTWOOD_RESULTS_SEED") ?? UInt64.random(in: 0..<1_000_000)
        for seed in first..<first + runs { try play(.inMemory, seed: seed, isChild: true) }
    }

    @Test
    func `The changes over an incremental store lead to the fetched state`() throws {
        guard StoreKind.allCases.contains(.incremental) else { return }
        let seed = Self.variable("HEARTWOOD_RESULTS_SEED") ?? UInt64.random(in: 0..<1_000_000)
        try play(.incremental, seed: seed, steps: 40)
    }
}
