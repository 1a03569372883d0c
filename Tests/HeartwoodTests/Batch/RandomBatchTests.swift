import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Batch requests and saves in any order, beside dictionaries with the same changes.
@Suite struct RandomBatchTests {
    private struct Plain: Equatable {
        struct Node: Equatable {
            var value = 0
            var code: Int?
            var parent: Int?
            /// The attributes of `widened()` as text.
            var more: [String: String] = Run.nothing
            var steps: [String] = []
        }

        var nodes: [Int: Node] = [:]
        var friends: Set<[Int]> = []

        mutating func delete(_ gone: Set<Int>) {
            for number in gone { nodes[number] = nil }
            for number in nodes.keys where nodes[number]?.parent.map(gone.contains) == true { nodes[number]?.parent = nil }
            friends = friends.filter { gone.isDisjoint(with: $0) }
        }
    }

    private final class Run {
        let seed: UInt64
        var random: SeededGenerator
        let stack: TestStack
        var plain = Plain()
        var next = 0
        var trail: [String] = []

        init(_ kind: StoreKind, seed: UInt64) throws {
            self.seed = seed
            random = SeededGenerator(seed: seed)
            let model = GraphModel.make(stepRule: .cascadeDeleteRule)
            let node = try #require(model.entitiesByName["Node"])
            let value = TestStack.attribute("value", .integer64AttributeType, default: 0)
            node.properties += [value, TestStack.attribute("code", .integer64AttributeType)]
            node.indexes = [TestStack.index("byValue", [value])]
            node.uniquenessConstraints = [["code"]]
            // Some runs have so little memory that index entries are spilled, and unique values checked at the end.
            stack = try TestStack(kind, model: model.widened(), options: seed % 3 == 1 ? [NSRecordLogIndexMemoryOption: 64] : [:])
        }

        private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

        static let nothing = ["note": "-", "level": "-", "motto": "-", "blob": "-", "isOpen": "-", "end": "-"]

        /// Values for some of the attributes of `widened()`, at once.
        private func someValues() -> [String: Any] {
            var values: [String: Any] = [:]
            for (key, type) in [
                ("note", .stringAttributeType), ("motto", .stringAttributeType), ("end", .stringAttributeType), ("level", .doubleAttributeType),
                ("blob", .binaryDataAttributeType), ("isOpen", .booleanAttributeType),
            ] as [(String, NSAttributeType)] where pick(2) == 0 {
                values[key] = ValueDomain.short.draw(attribute: type, &random) ?? NSNull()
            }
            return values
        }

        private func words(_ values: [String: Any]) -> [String: String] { values.mapValues { ValueWords.of($0 is NSNull ? nil : $0) } }

        private var anyone: Int? { plain.nodes.keys.sorted().isEmpty ? nil : plain.nodes.keys.sorted()[pick(plain.nodes.count)] }

        private func matching(_ low: Int, _ high: Int) -> Set<Int> {
            Set(plain.nodes.filter { $0.value.value >= low && $0.value.value < high }.keys)
        }

        func step() throws {
            switch pick(10) {
            case 0...2: try insertBatch()
            case 3...4: try updateBatch()
            case 5: try deleteBatch()
            default: try save()
            }
            try compare()
        }

        private func insertBatch() throws {
            let policy = [NSMergePolicy.error, .mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump][pick(4)]
            var rows: [[String: Any]] = [], expected = plain, count = 0, isRefused = false
            var updated: Set<Int> = [], inserted: Set<Int> = []
            // IDs stay when earlier rows change the names that identify the nodes.
            var renamed: [Int: Int] = [:]
            for _ in 0..<pick(12) {
                let number = next, parent = anyone
                next += 1
                var row: [String: Any] = ["name": "\(number)"]
                var node = Plain.Node()
                if pick(2) == 0 {
                    node.value = pick(100)
                    row["value"] = node.value
                }
                if pick(2) == 0 {
                    node.code = pick(30)
                    row["code"] = node.code
                }
                if let parent, pick(4) == 0 {
                    var current = parent
                    while let newer = renamed[current] { current = newer }
                    node.parent = current
                    row["parent"] = try id(parent)
                }
                let more = someValues()
                row.merge(more) { $1 }
                node.more.merge(words(more)) { $1 }
                rows.append(row)
                guard let code = node.code, let holder = expected.nodes.first(where: { $0.value.code == code })?.key else {
                    expected.nodes[number] = node
                    inserted.insert(number)
                    count += 1
                    continue
                }
                switch policy.mergeType {
                case .errorMergePolicyType: isRefused = true
                case .mergeByPropertyStoreTrumpMergePolicyType: continue
                default:
                    // The row gets the new name, which identifies it from now on.
                    var merged = expected.nodes[holder] ?? Plain.Node()
                    if policy.mergeType == .overwriteMergePolicyType || row["value"] != nil { merged.value = node.value }
                    if row["parent"] != nil { merged.parent = node.parent }
                    merged.more.merge(policy.mergeType == .overwriteMergePolicyType ? node.more : words(more)) { $1 }
                    if merged.parent == holder { merged.parent = number }
                    expected.nodes[holder] = nil
                    renamed[holder] = number
                    expected.nodes[number] = merged
                    for other in expected.nodes.keys where expected.nodes[other]?.parent == holder {
                        expected.nodes[other]?.parent = number
                    }
                    expected.friends = Set(expected.friends.map { $0.map { $0 == holder ? number : $0 }.sorted() })
                    if inserted.remove(holder) != nil {
                        inserted.insert(number)
                    } else {
                        if updated.remove(holder) == nil { count += 1 }
                        updated.insert(number)
                    }
                }
            }
            trail.append("insert \(rows.count) \(policy.mergeType)")
            do {
                let ids = try stack.insertBatch(rows, into: "Node", policy: policy)
                let isRight = !isRefused && ids.count == count && Set(ids).count == count
                try #require(isRight, "seed \(seed): \(ids.count), not \(count), \(trail)")
                plain = expected
            } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
                try #require(isRefused, "seed \(seed): refused, \(trail)")
            }
        }

        private func id(_ number: Int) throws -> NSManagedObjectID {
            try stack.named("\(number)", in: stack.newContext()).objectID
        }

        private func updateBatch() throws {
            let low = pick(100), high = low + pick(40), found = matching(low, high)
            let value = pick(100)
            let more = pick(3) == 0 ? ["note": NSNull(), "motto": NSNull()] : someValues()
            var values: [AnyHashable: Any] = ["value": value]
            for (key, value) in more { values[key] = value }
            var code: Int??
            if pick(3) == 0 {
                code = pick(2) == 0 ? .some(nil) : .some(pick(30))
                values["code"] = code.flatMap(\.self) ?? NSNull()
            }
            trail.append("update \(low)..<\(high)")
            let isTaken = code.flatMap(\.self).map { code in
                found.count > 1 || !found.isEmpty && plain.nodes.contains { $0.value.code == code && !found.contains($0.key) }
            } ?? false
            do {
                let ids = try stack.updateBatch("Node", "value >= \(low) AND value < \(high)", values)
                try #require(ids.count == found.count && !isTaken, "seed \(seed), \(trail)")
                for number in found {
                    plain.nodes[number]?.value = value
                    plain.nodes[number]?.more.merge(words(more)) { $1 }
                    if let code { plain.nodes[number]?.code = code }
                }
            } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
                try #require(isTaken, "seed \(seed): refused, \(trail)")
            }
        }

        private func deleteBatch() throws {
            let low = pick(100), found = matching(low, low + pick(20))
            trail.append("delete \(found.count)")
            let steps = found.reduce(0) { $0 + (plain.nodes[$1]?.steps.count ?? 0) }
            let list = found.map { "'\($0)'" }.joined(separator: ",")
            let ids = try stack.deleteBatch("Node", "name IN {\(list)}")
            try #require(ids.count == found.count + steps, "seed \(seed), \(trail)")
            plain.delete(found)
        }

        private func save() throws {
            trail.append("save")
            let context = stack.newContext()
            func object(_ number: Int) throws -> NSManagedObject { try stack.named("\(number)", in: context) }
            for _ in 0..<4 {
                switch pick(5) {
                case 0:
                    let made = stack.insert("Node", ["name": "\(next)", "value": next % 100], into: context)
                    plain.nodes[next] = Plain.Node(value: next % 100)
                    next += 1
                    if let parent = anyone, pick(2) == 0 {
                        made.setValue(try object(parent), forKey: "parent")
                        plain.nodes[next - 1]?.parent = parent
                    }
                case 1:
                    guard let a = anyone, let b = anyone, a != b else { continue }
                    try object(a).mutableSetValue(forKey: "friends").add(try object(b))
                    plain.friends.insert([a, b].sorted())
                case 2:
                    guard let owner = anyone else { continue }
                    let name = "s\(random.next())"
                    stack.insert("Step", ["name": name], into: context).setValue(try object(owner), forKey: "owner")
                    plain.nodes[owner]?.steps.append(name)
                case 3:
                    guard let gone = anyone else { continue }
                    context.delete(try object(gone))
                    plain.delete([gone])
                default:
                    guard let one = anyone else { continue }
                    try object(one).setValue(pick(100), forKey: "value")
                    plain.nodes[one]?.more.merge(try object(one).drawMoreValues(&random)) { $1 }
                    plain.nodes[one]?.value = try object(one).value(forKey: "value") as? Int ?? -1
                }
            }
            try context.save()
        }

        private func compare() throws {
            let context = stack.newContext()
            var found = Plain()
            for object in try stack.fetch("Node", in: context) {
                let number = Int(object.value(forKey: "name") as? String ?? "") ?? -1
                found.nodes[number] = Plain.Node(
                    value: object.value(forKey: "value") as? Int ?? -1, code: object.value(forKey: "code") as? Int,
                    parent: object.names("parent").first.flatMap(Int.init), more: object.moreValues, steps: object.names("steps"))
                for friend in object.names("friends").compactMap(Int.init) { found.friends.insert([number, friend].sorted()) }
            }
            try #require(found == plain, "seed \(seed), \(trail)")
            let steps = try stack.fetch("Step", in: context).count
            try #require(steps == plain.nodes.values.reduce(0) { $0 + $1.steps.count }, "seed \(seed), \(trail)")
            try #require(try stack.fetch("Node", "value >= 50", in: context).count == matching(50, 1000).count, "seed \(seed), \(trail)")
        }
    }

    @Test(arguments: StoreKind.batching.filter(StoreKind.keepingEveryValue.contains))
    func `Batches and saves agree with plain dictionaries`(kind: StoreKind) throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("random batches: seed \(seed)")
        for round in 0..<4 as Range<UInt64> {
            let run = try Run(kind, seed: seed &+ round)
            for _ in 0..<40 { try run.step() }
        }
    }
}
