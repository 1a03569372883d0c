import Foundation
import HeartwoodTestSupport
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Random work in several contexts, of one coordinator or one tree, that know only the changes that they have merged or refreshed. After each save
/// the two sides of every relationship agree in the store, and a new reader sees the store's state.
@Suite struct RandomContextsTests {
    private struct Difference: Error {
        let what: String
    }

    private final class Run {
        let stack: TestStack
        var contexts: [NSManagedObjectContext] = []
        let parents: [Int?]
        var random: SeededGenerator
        var story: [String] = []
        private var count = 0

        init(seed: UInt64, parents: [Int?], policy: NSMergePolicy, follows: Bool) throws {
            let stepRule: NSDeleteRule = seed % 3 == 0 ? .cascadeDeleteRule : .nullifyDeleteRule
            let childRule: NSDeleteRule = seed % 5 == 0 ? .cascadeDeleteRule : .nullifyDeleteRule
            stack = try TestStack(.inMemory, model: GraphModel.make(stepRule: stepRule, childRule: childRule).widened())
            random = SeededGenerator(seed: seed)
            self.parents = parents
            for parent in parents {
                let context = parent.map { contexts[$0].child() } ?? stack.newContext()
                context.mergePolicy = policy
                context.automaticallyMergesChangesFromParent = follows
                contexts.append(context)
            }
        }

        // MARK: Work

        private func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        private func all(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        }

        private func isThere(_ object: NSManagedObject) -> Bool {
            object.fireFault()
            return !object.isDeleted && object.managedObjectContext != nil
        }

        /// An existing object; nil if there is none, or if the one that was found has vanished.
        private func pick(_ entities: [String], _ context: NSManagedObjectContext) throws -> NSManagedObject? {
            guard let object = try all(entities[number(entities.count)], context).randomElement(using: &random) else { return nil }
            return isThere(object) ? object : nil
        }

        func step() throws {
            let index = number(contexts.count), context = contexts[index]
            switch number(12) {
            case 0..<8: for _ in 0...number(4) { try edit(index) }
            case 8, 9: try save(index)
            case 10:
                story.append("\(index) refreshes all")
                refresh(index)
            default:
                story.append("\(index) rolls back")
                if number(2) == 0 { context.rollback() } else { context.reset() }
            }
        }

        private func edit(_ index: Int) throws {
            let context = contexts[index]
            let (key, entity, destination) = [
                ("parent", "Node", "Node"), ("spouse", "Node", "Node"), ("card", "Node", "Card"), ("holder", "Card", "Node"),
                ("owner", "Step", "Node"), ("children", "Node", "Node"), ("friends", "Node", "Node"), ("steps", "Node", "Step"),
                ("items", "Node", "Item"), ("nodes", "Item", "Node"),
            ][number(10)]
            switch number(12) {
            case 0, 1:
                let made = ["Node", "Node", "Card", "Item", "Step", "Pause"][number(6)]
                count += 1
                stack.insert(made, ["name": "\(made)\(count)"], into: context)
                story.append("\(index) inserts \(made)\(count)")
            case 2:
                guard let object = try pick(["Node", "Card", "Item", "Step"], context) else { return }
                story.append("\(index) deletes \(object.text("name") ?? "")")
                context.delete(object)
            case 3:
                guard let object = try pick(["Node"], context) else { return }
                let isMerged = number(2) == 0
                story.append("\(index) refreshes \(object.text("name") ?? "") \(isMerged)")
                context.refresh(object, mergeChanges: isMerged)
            default:
                guard let object = try pick([entity], context) else { return }
                let other = number(4) == 0 ? nil : try pick([destination], context)
                guard isThere(object) else { return }
                // Attributes change together with the object's relationships.
                if number(2) == 0 { object.drawMoreValues(&random) }
                story.append("\(index) \(key) of \(object.text("name") ?? ""): \(other?.text("name") ?? "nil")")
                set(key, object, other)
            }
        }

        private func set(_ key: String, _ object: NSManagedObject, _ other: NSManagedObject?) {
            let relationship = object.entity.relationshipsByName[key]
            guard relationship?.isToMany == true else { return object.setValue(other, forKey: key) }
            let index = object.propertyIndex(key)
            guard let other else { return object.setManagedObjects(object.managedObjects(at: index).dropLast(), at: index) }
            if object.containsManagedObject(other, at: index) {
                object.removeManagedObject(other, at: index)
            } else if relationship?.isOrdered == true {
                object.insertManagedObject(other, atPosition: number(object.countOfManagedObjects(at: index) + 1), at: index)
            } else {
                object.addManagedObject(other, at: index)
            }
        }

        private func refresh(_ index: Int) {
            if let parent = parents[index] { refresh(parent) }
            contexts[index].refreshAllObjects()
        }

        // MARK: What must be

        private static let expected = [NSManagedObjectMergeError, NSManagedObjectValidationError, NSValidationMultipleErrorsError]

        /// Saves; after a conflict, or a reference to a deleted object, the context starts again.
        private func save(_ index: Int) throws {
            story.append("\(index) saves")
            do {
                try contexts[index].save()
            } catch let error as NSError where Self.expected.contains(error.code) {
                story.append("fails \(error.code)")
                contexts[index].rollback()
                return contexts[index].refreshAllObjects()
            }
            guard !contexts[index].hasChanges else { throw Difference(what: "\(index) has changes after its save") }
            guard parents[index] == nil else { return }
            try withExtendedLifetime(stack.newContext()) { try checkInverses($0, "the store after \(index) has saved") }
        }

        func finish() throws {
            for index in contexts.indices.reversed() { try save(index) }
            for index in contexts.indices {
                contexts[index].refreshAllObjects()
                try checkInverses(contexts[index], "\(index) at the end")
            }
        }

        private func checkInverses(_ context: NSManagedObjectContext, _ what: String) throws {
            for object in try ["Node", "Card", "Item", "Step"].flatMap({ try all($0, context) }) {
                for (name, relationship) in object.entity.relationshipsByName {
                    guard let inverse = relationship.inverseRelationship else { continue }
                    let destinations = members(object, name)
                    // An object whose destination another context had deleted refers to nothing.
                    for destination in destinations where isThere(destination) {
                        guard members(destination, inverse.name).contains(object) else {
                            throw Difference(what: "\(what): \(object.plain) has by \(name) \(destination.plain)")
                        }
                    }
                    guard Set(destinations).count == destinations.count else { throw Difference(what: "\(what): \(object) twice by \(name)") }
                }
            }
        }

        private func members(_ object: NSManagedObject, _ name: String) -> [NSManagedObject] {
            let index = object.propertyIndex(name)
            if object.runtime.properties[index].kind == .toMany { return object.managedObjects(at: index) }
            return object.managedObject(at: index).map { [$0] } ?? []
        }
    }

    /// `HEARTWOOD_CONTEXTS_SEED` repeats a run, `HEARTWOOD_CONTEXTS_RUNS` sets the number of runs.
    private static let environment = ProcessInfo.processInfo.environment
    private static let runs = environment["HEARTWOOD_CONTEXTS_RUNS"].flatMap(UInt64.init) ?? 6
    private static let policies: [NSMergePolicyType] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]

    @Test(arguments: policies, [[nil, nil], [nil, 0, 0, 1]] as [[Int?]])
    func `Both sides of every relationship agree after each save`(type: NSMergePolicyType, parents: [Int?]) throws {
        let seed = Self.environment["HEARTWOOD_CONTEXTS_SEED"].flatMap(UInt64.init)
        for seed in seed.map({ $0...$0 }) ?? 1...Self.runs {
            for follows in [false, true] {
                let run = try Run(seed: seed, parents: parents, policy: NSMergePolicy(merge: type), follows: follows)
                do {
                    for _ in 0..<40 { try run.step() }
                    try run.finish()
                } catch {
                    Issue.record("\(error) with seed \(seed), \(follows), after \(run.story.joined(separator: "; "))")
                    return
                }
            }
        }
    }
}
