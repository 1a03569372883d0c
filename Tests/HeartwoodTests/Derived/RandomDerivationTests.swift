import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Saves and batch requests in any order; after each, every derived attribute agrees with a plain computation over the objects.
@Suite struct RandomDerivationTests {
    private final class Run {
        let seed: UInt64
        var random: SeededGenerator
        let stack: TestStack
        var context: NSManagedObjectContext
        var counter = 0
        var trail: [String] = []
        /// Whether the store keeps every value.
        let drawsAll: Bool

        init(_ kind: StoreKind, seed: UInt64) throws {
            self.seed = seed
            drawsAll = StoreKind.keepingEveryValue.contains(kind)
            random = SeededGenerator(seed: seed)
            stack = try TestStack(kind, model: ClubModel.make().widened())
            context = stack.newContext()
        }

        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }

        func any(_ entity: String) throws -> NSManagedObject? {
            let all = try stack.fetch(entity, sort: [NSSortDescriptor(key: "name", ascending: true)], in: context)
            return all.isEmpty || pick(8) == 0 ? nil : all[pick(all.count)]
        }

        func insert(_ entity: String) {
            counter += 1
            stack.insert(entity, ["name": "É\(counter)"], into: context)
        }

        func change() throws {
            let choice = pick(14)
            trail.append("\(choice)")
            switch choice {
            case 0: insert("Region")
            case 1: insert("Club")
            case 2...3: insert(pick(3) == 0 ? "Captain" : "Member")
            case 4: insert("Tag")
            case 5:
                // No extreme values: a sum of those is not an integer.
                let member = try any("Member")
                member?.setValue(pick(4) == 0 ? nil : pick(1000), forKey: "dues")
                if drawsAll { member?.drawValues(keeping: ["dues", "height"], &random) }
            case 6:
                let member = try any("Member")
                member?.setValue(pick(3) == 0 ? nil : Double(pick(64)) / 4, forKey: "height")
                if drawsAll { member?.drawValues(keeping: ["name", "dues", "height"], &random) }
            case 7: try any("Member")?.setValue(ValueDomain.isNothing(&random) ? nil : try any("Club"), forKey: "club")
            case 8: try any("Club")?.setValue(ValueDomain.isNothing(&random) ? nil : try any("Region"), forKey: "region")
            case 9:
                let object = try any(["Club", "Region", "Member"][pick(3)])
                let names = [nil, "", "Ö\(pick(100))", "Ö\(pick(100))", String(repeating: "é", count: 150), "\0"]
                object?.setValue(names[pick(drawsAll ? 6 : 5)], forKey: "name")
                if drawsAll { object?.drawValues(keeping: ["name", "dues", "height"], &random) }
            case 10:
                guard let member = try any("Member") else { return }
                let tags = try any("Tag")?.mutableSetValue(forKey: "members")
                if pick(3) == 0 { tags?.remove(member) } else { tags?.add(member) }
            case 11:
                guard let member = try any("Member"), let club = try any("Club") else { return }
                let queue = club.mutableOrderedSetValue(forKey: "queue")
                if queue.contains(member), pick(2) == 0 { queue.remove(member) } else { queue.insert(member, at: pick(queue.count + 1)) }
            case 12:
                guard pick(3) == 0, let gone = try any(["Club", "Region", "Member", "Tag"][pick(4)]) else { return }
                context.delete(gone)
            default:
                try context.save()
                if pick(2) == 0 { context = stack.newContext() }
            }
        }

        func batch() throws {
            try context.save()
            let club = try any("Club")?.objectID
            switch pick(4) {
            case 0:
                counter += 1
                var row: [String: Any] = ["name": "Ñ\(counter)", "dues": pick(50), "height": 1.5]
                if let club { row["club"] = club }
                try stack.insertBatch([row, ["name": "Ñ\(counter)b"]], into: "Member")
            case 1:
                let some: Any = pick(3) == 0 ? NSNull() : "Å\(pick(10))"
                _ = try stack.updateBatch("Member", "dues > \(pick(1000))", ["dues": pick(1000), "note": NSNull(), "end": NSNull(), "name": some])
            case 2: _ = try stack.updateBatch("Member", "name ENDSWITH '\(pick(10))'", ["club": club ?? NSNull()])
            default: _ = try stack.deleteBatch(["Member", "Club", "Region"][pick(3)], "name ENDSWITH '\(pick(10))'")
            }
            context = stack.newContext()
        }

        func compare(_ stack: TestStack) throws {
            let fresh = stack.anew()
            if let view = try stack.persistentStore.seam.newestView() as? RecordLogView {
                let findings = try StoreAudit.findings(in: view)
                try #require(findings.isEmpty, "seed \(seed): \(findings) after \(trail)")
            }
            func check(_ object: NSManagedObject, _ key: String, _ expected: Any?) throws {
                let found = object.value(forKey: key)
                let isRight = (found as? NSNumber)?.doubleValue == (expected as? NSNumber)?.doubleValue
                    && found as? String == expected as? String
                let property = "\(object.entity.name!).\(key)"
                try #require(isRight, "seed \(seed): \(property) is \(found ?? "nil"), not \(expected ?? "nil"), after \(trail)")
            }
            func set(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
                let members = object.value(forKey: key)
                return ((members as? NSOrderedSet)?.array ?? (members as? NSSet)?.allObjects ?? []) as? [NSManagedObject] ?? []
            }
            func sum(_ members: [NSManagedObject], _ key: String) -> NSNumber {
                NSNumber(value: members.reduce(0.0) { $0 + (($1.value(forKey: key) as? NSNumber)?.doubleValue ?? 0) })
            }
            for club in try stack.fetch("Club", in: fresh) {
                try check(club, "memberCount", set(club, "members").count as NSNumber)
                try check(club, "dues", sum(set(club, "members"), "dues"))
                try check(club, "height", sum(set(club, "queue"), "height"))
                try check(club, "queueCount", set(club, "queue").count as NSNumber)
                let name = club.value(forKey: "name") as? String
                try check(club, "search", name?.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
            }
            for region in try stack.fetch("Region", in: fresh) {
                try check(region, "clubCount", set(region, "clubs").count as NSNumber)
                try check(region, "dues", sum(set(region, "clubs").flatMap { set($0, "members") }, "dues"))
            }
            for member in try stack.fetch("Member", in: fresh) {
                try check(member, "upper", (member.value(forKey: "name") as? String)?.uppercased())
                try check(member, "clubName", member.value(forKeyPath: "club.name"))
                try check(member, "regionName", (member.value(forKeyPath: "club.region.name") as? String)?.lowercased())
            }
            for tag in try stack.fetch("Tag", in: fresh) {
                try check(tag, "use", set(tag, "members").count as NSNumber)
                try check(tag, "dues", sum(set(tag, "members"), "dues"))
            }
        }
    }

    @Test(arguments: StoreKind.deriving)
    func `Derived attributes agree with a plain computation`(kind: StoreKind) throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("random derivation: seed \(seed)")
        for round in 0..<3 as Range<UInt64> {
            let run = try Run(kind, seed: seed &+ round)
            for _ in 0..<14 {
                for _ in 0..<14 { try run.change() }
                try run.context.save()
                try run.compare(run.stack)
                guard StoreKind.recordLogs.contains(kind) || kind == .postgreSQL else { continue }
                try run.batch()
                try run.compare(run.stack)
            }
            if kind.isFile { try run.compare(try TestStack(kind, model: ClubModel.make().widened(), at: run.stack.url)) }
        }
    }
}
