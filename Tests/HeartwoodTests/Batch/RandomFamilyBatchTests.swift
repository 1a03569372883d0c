import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Batch requests over two entities of a family that share unique values, beside rows in an array with the same changes.
@Suite struct RandomFamilyBatchTests {
    private struct Row {
        let entity: String
        var email: Int?
        var name: Int?
        var age: Int? = 1

        var text: String { "\(entity) \(Self.text(email)) \(Self.text(name)) \(Self.text(age))" }

        private static func text(_ number: Int?) -> String { number.map(String.init) ?? "-" }
    }

    private final class Run {
        let seed: UInt64
        var random: SeededGenerator
        let stack: TestStack
        var plain: [Row] = []

        init(_ kind: StoreKind, seed: UInt64) throws {
            self.seed = seed
            random = SeededGenerator(seed: seed)
            stack = try TestStack(kind, options: seed % 3 == 1 ? [NSRecordLogIndexMemoryOption: 64] : [:])
        }

        private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

        func step() throws {
            let entity = pick(2) == 0 ? "Person" : "Employee"
            switch pick(5) {
            case 0...2: try insert(entity)
            case 3: try update(entity)
            default: try delete(entity)
            }
            let found = try stack.fetch("Person", in: stack.anew()).map { object in
                ([object.entity.name ?? ""] + ["email", "name", "age"].map { key in object.value(forKey: key).map { "\($0)" } ?? "-" })
                    .joined(separator: " ")
            }
            try #require(found.sorted() == plain.map(\.text).sorted(), "seed \(seed)")
        }

        private func insert(_ entity: String) throws {
            let policy = [NSMergePolicy.error, .mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback][pick(5)]
            let rowsPerCommit = pick(3) == 0 ? 1 + pick(4) : 0
            var rows: [[String: Any]] = [], expected = plain, committed = plain, isRefused = false
            var told: Set<Int> = []
            for number in 0..<pick(10) {
                var row: [String: Any] = [:], new = Row(entity: entity)
                if pick(4) != 0 {
                    new.email = pick(4) == 0 ? nil : pick(8)
                    row["email"] = new.email.map { "\($0)" } ?? NSNull()
                }
                if pick(2) == 0 {
                    new.name = pick(3) == 0 ? nil : pick(100)
                    row["name"] = new.name.map { "\($0)" } ?? NSNull()
                }
                if pick(2) == 0 {
                    new.age = pick(3) == 0 ? nil : pick(100)
                    row["age"] = new.age.map { $0 as Any } ?? NSNull()
                }
                rows.append(row)
                guard !isRefused else { continue }
                if rowsPerCommit > 0, number % rowsPerCommit == 0 { committed = expected }
                guard let email = new.email, let holder = expected.firstIndex(where: { $0.email == email }) else {
                    expected.append(new)
                    told.insert(expected.count - 1)
                    continue
                }
                switch policy.mergeType {
                case .errorMergePolicyType: isRefused = true
                case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: break
                case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
                    let takesAll = policy.mergeType == .overwriteMergePolicyType
                    if takesAll || row["name"] != nil { expected[holder].name = new.name }
                    if takesAll || row["age"] != nil { expected[holder].age = new.age }
                    told.insert(holder)
                }
            }
            let request = NSBatchInsertRequest(entityName: entity, objects: rows)
            (request.resultType, request.rowsPerCommit) = (.objectIDs, rowsPerCommit)
            let context = stack.newContext()
            context.mergePolicy = policy
            do {
                let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
                let isRight = !isRefused && ids.count == told.count && Set(ids).count == ids.count
                try #require(isRight, "seed \(seed)")
                plain = expected
            } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
                try #require(isRefused, "seed \(seed)")
                if rowsPerCommit > 0 { plain = committed }
            }
        }

        private func update(_ entity: String) throws {
            let old = pick(8), new = pick(8)
            let hits = plain.indices.filter { plain[$0].email == old && (entity == "Person" || plain[$0].entity == entity) }
            let isRefused = !hits.isEmpty && plain.indices.contains { plain[$0].email == new && !hits.contains($0) }
            do {
                let count = try stack.updateBatch(entity, "email == '\(old)'", ["email": "\(new)"]).count
                try #require(!isRefused && count == hits.count, "seed \(seed)")
                for index in hits { plain[index].email = new }
            } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
                try #require(isRefused, "seed \(seed)")
            }
        }

        private func delete(_ entity: String) throws {
            let email = pick(8), count = plain.count
            plain.removeAll { ($0.email == email || ($0.age ?? 0) > 90) && (entity == "Person" || $0.entity == entity) }
            let gone = try stack.deleteBatch(entity, "email == '\(email)' OR age > 90").count
            try #require(gone == count - plain.count, "seed \(seed)")
        }
    }

    @Test(arguments: StoreKind.batching)
    func `Requests agree with the same work on rows in an array`(kind: StoreKind) throws {
        for seed in 1...30 {
            let run = try Run(kind, seed: UInt64(seed))
            for _ in 0..<8 { try run.step() }
        }
    }
}
