import Foundation
import HeartwoodTestSupport
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Every kind of relationship, changed at random and compared with plain dictionaries.
@Suite struct RandomGraphTests {
    /// The expected graph, by the numbers in the objects' names.
    private struct Plain {
        var nodes: [Int] = [], items: [Int] = [], steps: [Int] = [], cards: [Int] = []
        var parent: [Int: Int] = [:], spouse: [Int: Int] = [:], card: [Int: Int] = [:], owner: [Int: Int] = [:]
        var friends: [Int: Set<Int>] = [:], follows: [Int: Set<Int>] = [:]
        /// Attributes as text.
        var values: [Int: [String: String]] = [:]
        var stepsOf: [Int: [Int]] = [:], itemsOf: [Int: [Int]] = [:], nodesOf: [Int: [Int]] = [:]

        mutating func marry(_ a: Int, _ b: Int?) {
            if let old = spouse.removeValue(forKey: a) { spouse[old] = nil }
            guard let b else { return }
            if let old = spouse.removeValue(forKey: b) { spouse[old] = nil }
            (spouse[a], spouse[b]) = (b, a)
        }

        mutating func give(_ card: Int, to node: Int?) {
            for (holder, held) in self.card where held == card { self.card[holder] = nil }
            if let node { self.card[node] = card }
        }

        mutating func own(_ step: Int, _ node: Int?) {
            guard owner[step] != node else { return }
            if let old = owner[step] { stepsOf[old]?.removeAll { $0 == step } }
            owner[step] = node
            if let node { stepsOf[node, default: []].append(step) }
        }

        mutating func link(_ node: Int, _ item: Int) {
            guard itemsOf[node]?.contains(item) != true else { return }
            itemsOf[node, default: []].append(item)
            nodesOf[item, default: []].append(node)
        }

        mutating func unlink(_ node: Int, _ item: Int) {
            itemsOf[node]?.removeAll { $0 == item }
            nodesOf[item]?.removeAll { $0 == node }
        }

        mutating func delete(_ node: Int) {
            nodes.removeAll { $0 == node }
            values[node] = nil
            marry(node, nil)
            parent = parent.filter { $0.key != node && $0.value != node }
            card[node] = nil
            for step in stepsOf[node] ?? [] { own(step, nil) }
            for item in itemsOf[node] ?? [] { unlink(node, item) }
            for other in friends[node] ?? [] { friends[other]?.remove(node) }
            friends[node] = nil
            follows[node] = nil
            for other in follows.keys { follows[other]?.remove(node) }
        }
    }

    private final class Run {
        var stack: TestStack
        var context: NSManagedObjectContext
        var plain = Plain(), saved = Plain()
        var objects: [Int: NSManagedObject] = [:]
        var random: SeededGenerator
        var counter = 0
        var trail: [String] = []
        let seed: UInt64

        init(_ kind: StoreKind, seed: UInt64) throws {
            stack = try TestStack(kind, model: GraphModel.make().widened())
            context = stack.context
            random = SeededGenerator(seed: seed)
            self.seed = seed
        }

        func make(_ entity: String, _ list: WritableKeyPath<Plain, [Int]>) {
            counter += 1
            objects[counter] = stack.insert(entity, ["name": "\(counter)"], into: context)
            plain[keyPath: list].append(counter)
            draw(counter)
        }

        func draw(_ number: Int) {
            guard let object = objects[number] else { return }
            plain.values[number, default: object.moreValues].merge(object.drawMoreValues(&random)) { $1 }
        }

        func pick(_ list: [Int]) -> Int? { list.randomElement(using: &random) }
        func object(_ number: Int?) -> NSManagedObject? { number.flatMap { objects[$0] } }

        func step() throws {
            let choice = Int.random(in: 0..<27, using: &random)
            trail.append("\(choice)")
            guard plain.nodes.count > 3, let a = pick(plain.nodes), let b = pick(plain.nodes), let node = objects[a], let other = objects[b]
            else { return make("Node", \.nodes) }
            let isFromOneSide = Bool.random(using: &random)
            let maybe = Bool.random(using: &random) ? b : nil
            if Bool.random(using: &random) { draw(a) }
            switch choice {
            case 0: make("Node", \.nodes)
            case 1: make("Item", \.items)
            case 2: make(Bool.random(using: &random) ? "Step" : "Pause", \.steps)
            case 3: make("Card", \.cards)
            case 4:
                node.setValue(object(maybe), forKey: "parent")
                plain.parent[a] = maybe
            case 5:
                other.mutableSetValue(forKey: "children").add(node)
                plain.parent[a] = b
            case 6:
                node.setValue(object(maybe), forKey: "spouse")
                plain.marry(a, maybe)
            case 7:
                guard let card = pick(plain.cards) else { return }
                if isFromOneSide, maybe != nil {
                    other.setValue(object(card), forKey: "card")
                } else {
                    object(card)?.setValue(object(maybe), forKey: "holder")
                }
                plain.give(card, to: maybe)
            case 8:
                node.addManagedObject(other, at: node.index("friends"))
                plain.friends[a, default: []].insert(b)
                plain.friends[b, default: []].insert(a)
            case 9:
                node.removeManagedObject(other, at: node.index("friends"))
                plain.friends[a]?.remove(b)
                plain.friends[b]?.remove(a)
            case 10:
                node.mutableSetValue(forKey: "follows").add(other)
                plain.follows[a, default: []].insert(b)
            case 11:
                node.mutableSetValue(forKey: "follows").remove(other)
                plain.follows[a]?.remove(b)
            case 12:
                guard let step = pick(plain.steps) else { return }
                objects[step]?.setValue(object(maybe), forKey: "owner")
                plain.own(step, maybe)
            case 13:
                guard let step = pick(plain.steps) else { return }
                node.addManagedObject(objects[step]!, at: node.index("steps"))
                plain.own(step, a)
            case 14:
                guard let steps = plain.stepsOf[a], let step = pick(steps) else { return }
                let position = Int.random(in: 0..<steps.count, using: &random)
                node.moveManagedObjects(atPositions: [steps.firstIndex(of: step)!], toPosition: position, at: node.index("steps"))
                plain.stepsOf[a]?.removeAll { $0 == step }
                plain.stepsOf[a]?.insert(step, at: position)
            case 15, 16:
                guard let item = pick(plain.items) else { return }
                let (owner, member, key) = choice == 15 ? (node, objects[item]!, "items") : (objects[item]!, node, "nodes")
                owner.addManagedObject(member, at: owner.index(key))
                plain.link(a, item)
            case 17:
                guard let item = pick(plain.items) else { return }
                let (owner, member, key) = isFromOneSide ? (node, objects[item]!, "items") : (objects[item]!, node, "nodes")
                owner.removeManagedObject(member, at: owner.index(key))
                plain.unlink(a, item)
            case 18:
                guard let item = pick(plain.items), let nodes = plain.nodesOf[item], !nodes.isEmpty else { return }
                let shuffled = nodes.shuffled(using: &random)
                objects[item]!.setValue(NSOrderedSet(array: shuffled.map { objects[$0]! }), forKey: "nodes")
                plain.nodesOf[item] = shuffled
            case 19:
                guard let item = pick(plain.items) else { return }
                let position = Int.random(in: 0...(plain.itemsOf[a]?.count ?? 0), using: &random)
                let isNew = plain.itemsOf[a]?.contains(item) != true
                node.insertManagedObject(objects[item]!, atPosition: position, at: node.index("items"))
                plain.link(a, item)
                if isNew {
                    plain.itemsOf[a]?.removeLast()
                    plain.itemsOf[a]?.insert(item, at: position)
                }
            case 20 where plain.nodes.count > 8:
                // Followers have no inverse, and learn of it at the save.
                for (follower, followed) in plain.follows where followed.contains(a) {
                    object(follower)?.mutableSetValue(forKey: "follows").remove(node)
                }
                context.delete(node)
                plain.delete(a)
            case 21: try save()
            case 22:
                context.rollback()
                plain = saved
            case 23:
                context.refreshAllObjects()
                try compare()
            default: for number in [pick(plain.items), pick(plain.steps), pick(plain.cards)] { number.map(draw) }
            }
        }

        func save() throws {
            try context.save()
            saved = plain
        }

        /// A new context over the same coordinator, or the store opened again.
        func reopen() throws {
            try save()
            objects = [:]
            if stack.kind.isFile, Bool.random(using: &random) {
                try stack.coordinator.remove(stack.coordinator.persistentStores[0])
                try stack.coordinator.addPersistentStore(
                    ofType: stack.kind.type, configurationName: nil, at: stack.url, options: [NSRecordLogDurabilityOption: "none"])
            }
            context = stack.newContext()
            for entity in ["Node", "Item", "Step", "Card"] {
                for object in try stack.fetch(entity, in: context) {
                    objects[Int(object.value(forKey: "name") as? String ?? "") ?? 0] = object
                }
            }
        }

        func compare() throws {
            if let view = try stack.persistentStore.rows?.newestView() as? RecordLogView {
                let findings = try StoreAudit.findings(in: view)
                try #require(findings.isEmpty, "seed \(seed): \(findings) after \(trail.count) steps")
            }
            func check(_ number: Int, _ key: String, _ expected: [Int], isOrdered: Bool = false) throws {
                let object = try #require(objects[number])
                let found = object.names(key).compactMap(Int.init)
                let isRight = isOrdered ? found == expected : found.sorted() == expected.sorted()
                try #require(isRight, "seed \(seed): \(key) of \(number) is \(found), not \(expected), after \(trail.count) steps")
                if object.runtime.properties[object.index(key)].kind == .toMany {
                    try #require(object.countOfManagedObjects(at: object.index(key)) == expected.count, "seed \(seed)")
                }
            }
            for node in plain.nodes {
                try check(node, "parent", plain.parent[node].map { [$0] } ?? [])
                try check(node, "children", plain.parent.filter { $0.value == node }.map(\.key))
                try check(node, "spouse", plain.spouse[node].map { [$0] } ?? [])
                try check(node, "card", plain.card[node].map { [$0] } ?? [])
                try check(node, "friends", Array(plain.friends[node] ?? []))
                try check(node, "follows", Array(plain.follows[node] ?? []))
                try check(node, "steps", plain.stepsOf[node] ?? [], isOrdered: true)
                try check(node, "items", plain.itemsOf[node] ?? [], isOrdered: true)
            }
            for (number, values) in plain.values {
                try #require(objects[number]?.moreValues == values, "seed \(seed): \(number) after \(trail.count) steps")
            }
            for item in plain.items { try check(item, "nodes", plain.nodesOf[item] ?? [], isOrdered: true) }
            for step in plain.steps { try check(step, "owner", plain.owner[step].map { [$0] } ?? []) }
            for card in plain.cards { try check(card, "holder", plain.card.filter { $0.value == card }.map(\.key)) }
        }
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `Relationships agree with plain dictionaries`(kind: StoreKind) throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("random graph: seed \(seed)")
        let rounds = ProcessInfo.processInfo.environment["HEARTWOOD_RELATIONSHIP_ROUNDS"].flatMap(UInt64.init) ?? (kind == .recordLog ? 2 : 1)
        for round in 0..<rounds {
            let run = try Run(kind, seed: seed &+ round)
            for _ in 0..<6 {
                for _ in 0..<60 { try run.step() }
                try run.compare()
                try run.save()
                try run.compare()
                try run.reopen()
                if Bool.random(using: &run.random) { try run.compare() }
            }
            try run.compare()
        }
    }
}
