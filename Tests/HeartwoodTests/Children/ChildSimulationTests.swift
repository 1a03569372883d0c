import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Random work in a root, two children and a grandchild, compared with layers of dictionaries. A failure prints its seed and the steps;
/// `HEARTWOOD_CHILD_SEED=… swift test --filter ChildSimulation` repeats it, `HEARTWOOD_CHILD_RUNS` sets the number of runs.
@Suite struct ChildSimulationTests {
    private final class Run {
        let stack: TestStack
        var contexts: [NSManagedObjectContext]
        let layers: [LayeredModel]
        let parents = [nil, 0, 0, 1]
        var random: SeededGenerator
        /// The first ID of each object by number; it stays temporary.
        var ids: [Int: NSManagedObjectID] = [:]

        init(_ kind: StoreKind, seed: UInt64) throws {
            stack = try TestStack(kind, model: TestStack.model().widened())
            let first = stack.context.child()
            contexts = [stack.context, first, stack.context.child(), first.child()]
            let store = LayeredModel(nil), root = LayeredModel(store), child = LayeredModel(root)
            layers = [root, child, LayeredModel(root), LayeredModel(child)]
            random = SeededGenerator(seed: seed)
            for context in contexts { context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
        }

        func pick(_ list: [Int]) -> Int? { list.randomElement(using: &random) }

        func object(_ id: Int, _ index: Int) -> NSManagedObject { contexts[index].object(with: ids[id]!) }

        /// Refreshes a context to the state of the contexts above it.
        func refresh(_ index: Int) {
            if let parent = parents[index] { refresh(parent) }
            contexts[index].refreshAllObjects()
            layers[index].refresh()
        }

        func step(_ number: Int) throws -> String {
            let level = Int.random(in: 0..<4, using: &random)
            refresh(level)
            let context = contexts[level], layer = layers[level]
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<5:
                let entity: LayeredModel.Entity = [.person, .person, .group, .tag].randomElement(using: &random)!
                let object = NSEntityDescription.insertNewObject(
                    forEntityName: entity == .person ? "Person" : entity == .group ? "Group" : "Tag", into: context)
                layer.insert(number, entity)
                ids[number] = object.objectID
                layer.names[number] = "n\(number)"
                object.setValue("n\(number)", forKey: Self.nameKey(entity))
                layer.values[number] = object.drawMoreValues(&random)
                return "\(level) inserts \(entity) \(number)"
            case 5..<7:
                guard let id = pick(layer.ids.filter(layer.exists).sorted()), let entity = layer.entity(id) else { return "nothing" }
                layer.names[id] = "n\(id)-\(number)"
                object(id, level).setValue("n\(id)-\(number)", forKey: Self.nameKey(entity))
                return "\(level) renames \(id)"
            case 7..<9:
                guard let id = pick(layer.all(.person)) else { return "nothing" }
                layer.ages[id] = number % 7
                object(id, level).setValue(number % 7, forKey: "age")
                let drawn = object(id, level).drawMoreValues(&random)
                layer.values[id, default: [:]].merge(drawn) { $1 }
                layer.forgetEqualValues()
                return "\(level) sets the age of \(id), and \(drawn)"
            case 9..<12:
                guard let id = pick(layer.all(.person)) else { return "nothing" }
                let group = pick(layer.all(.group) + [0]) ?? 0
                // A relationship to an object that has vanished below stays until it is set.
                layer.setGroup(id, group)
                layer.forgetEqualValues()
                object(id, level).setValue(group == 0 ? nil : object(group, level), forKey: "group")
                return "\(level) puts \(id) into \(group)"
            case 12..<14:
                guard let id = pick(layer.all(.person)), let tag = pick(layer.all(.tag)) else { return "nothing" }
                let isIn = !layer.has(id, tag)
                layer.setTag(id, tag, isIn)
                let tags = object(id, level).mutableSetValue(forKey: "tags")
                if isIn { tags.add(object(tag, level)) } else { tags.remove(object(tag, level)) }
                return "\(level) tags \(id) with \(tag): \(isIn)"
            case 14:
                guard let id = pick(layer.ids.filter(layer.exists).sorted()) else { return "nothing" }
                layer.delete(id)
                context.delete(object(id, level))
                return "\(level) deletes \(id)"
            case 15:
                layer.rollback()
                if Bool.random(using: &random) { context.rollback() } else { context.reset() }
                return "\(level) rolls back"
            default:
                try context.save()
                layer.save()
                return "\(level) saves"
            }
        }

        static func nameKey(_ entity: LayeredModel.Entity) -> String { entity == .person ? "name" : entity == .group ? "title" : "label" }

        /// - Throws: at the first difference.
        func check(_ index: Int) throws {
            refresh(index)
            let context = contexts[index], layer = layers[index]
            for (id, objectID) in ids {
                let object = try? context.existingObject(with: objectID)
                guard layer.exists(id), let entity = layer.entity(id) else {
                    try expect(object == nil, "\(index) has \(id)")
                    continue
                }
                guard let object else { throw Difference(what: "\(index) lacks \(id)") }
                try expect(object.text(Self.nameKey(entity)) == layer.name(id), "the name of \(id) in \(index)")
                for (key, value) in object.moreValues { try expect(layer.value(id, key) == value, "\(key) of \(id) in \(index) is \(value)") }
                guard entity == .person else {
                    let people = ids(of: layer.members(id, .person), context)
                    try expect(present(object.many("people"), context) == people, "the people of \(id) in \(index)")
                    continue
                }
                try expect(object.value(forKey: "age") as? Int == layer.age(id), "the age of \(id) in \(index)")
                let group = object.one("group").map { present([$0], context) } ?? []
                try expect(group == ids(of: layer.group(id) == 0 ? [] : [layer.group(id)], context), "the group of \(id) in \(index)")
                let tags = ids(of: layer.members(id, .tag), context)
                try expect(present(object.many("tags"), context) == tags, "the tags of \(id) in \(index)")
            }
            try checkFetches(index)
        }

        private struct Difference: Error {
            let what: String
        }

        private func expect(_ isSo: Bool, _ what: @autoclosure () -> String) throws {
            if !isSo { throw Difference(what: what()) }
        }

        private func present(_ objects: Set<NSManagedObject>, _ context: NSManagedObjectContext) -> Set<NSManagedObjectID> {
            Set(objects.map(\.objectID).filter { (try? context.existingObject(with: $0)) != nil })
        }

        private func ids(of numbers: Set<Int>, _ context: NSManagedObjectContext) -> Set<NSManagedObjectID> {
            Set(numbers.map { context.object(with: ids[$0]!).objectID })
        }

        private func checkFetches(_ index: Int) throws {
            let context = contexts[index], layer = layers[index]
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "name", ascending: true)]
            let sorted = layer.all(.person).sorted {
                (layer.age($1), layer.name($0)!) < (layer.age($0), layer.name($1)!)
            }
            let group = pick(layer.all(.group)), tag = pick(layer.all(.tag))
            var cases: [(String, (Int) -> Bool)] = [("TRUEPREDICATE", { _ in true }), ("age > 2", { layer.age($0) > 2 })]
            cases.append(("name CONTAINS '-'", { layer.name($0)!.contains("-") }))
            if let group { cases.append(("group.title == '\(layer.name(group)!)'", { layer.group($0) == group })) }
            if let tag { cases.append(("ANY tags.label == '\(layer.name(tag)!)'", { layer.has($0, tag) })) }
            for (format, isMatch) in cases {
                request.predicate = NSPredicate(format: format)
                request.fetchOffset = Int.random(in: 0..<3, using: &random)
                request.fetchLimit = Int.random(in: 0..<5, using: &random)
                let limit = request.fetchLimit == 0 ? Int.max : request.fetchLimit
                let expected = sorted.filter(isMatch).dropFirst(request.fetchOffset).prefix(limit)
                let found = try context.fetch(request)
                try expect(found.map { $0.text("name") } == expected.map { layer.name($0) }, "\(index) fetches \(format)")
                try expect(try context.count(for: request) == expected.count, "\(index) counts \(format)")
            }
        }
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `Random work agrees with a model of layers`(kind: StoreKind) throws {
        let environment = ProcessInfo.processInfo.environment
        let oneSeed = environment["HEARTWOOD_CHILD_SEED"].flatMap(UInt64.init)
        let runs = oneSeed != nil ? 1 : environment["HEARTWOOD_CHILD_RUNS"].flatMap(Int.init) ?? (kind == .inMemory ? 2 : 1)
        for _ in 0..<runs {
            let seed = oneSeed ?? UInt64.random(in: 1...UInt64.max)
            let run = try Run(kind, seed: seed)
            var story = ["seed \(seed)"]
            do {
                for number in 1...24 {
                    story.append(try run.step(number))
                    // Reads every relationship, so that both models know members that were added or removed twice, in two layers.
                    for index in 0..<4 { try run.check(index) }
                }
                for index in [3, 1, 2, 0] {
                    run.refresh(index)
                    try run.contexts[index].save()
                    run.layers[index].save()
                }
                story.append("all save")
                for index in 0..<4 { try run.check(index) }
                #expect(try run.stack.storedNames() == run.layers[0].all(.person).map { run.layers[0].name($0)! }.sorted(), "seed \(seed)")
            } catch {
                Issue.record("\(error) after \(story.joined(separator: "; "))")
                return
            }
        }
    }
}
