import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Relationships among the members of one entity family: their own inverses, ordered on both sides, without an inverse. Derived attributes over
/// them, and over each other.
@Suite struct FamilyDerivationTests {
    private static func model() -> NSManagedObjectModel {
        let being = NSEntityDescription(), person = NSEntityDescription(), animal = NSEntityDescription()
        being.name = "Being"
        being.isAbstract = true
        person.name = "Person"
        animal.name = "Animal"
        being.subentities = [person, animal]
        let friends = TestStack.relationship("friends", to: being, toMany: true)
        friends.inverseRelationship = friends
        let partner = TestStack.relationship("partner", to: being, toMany: false)
        partner.inverseRelationship = partner
        let mentor = TestStack.relationship("mentor", to: being, toMany: false)
        let pupils = TestStack.relationship("pupils", to: being, toMany: true, ordered: true, rule: .cascadeDeleteRule)
        TestStack.connect(mentor, pupils)
        let owners = TestStack.relationship("owners", to: person, toMany: true, ordered: true)
        let pets = TestStack.relationship("pets", to: being, toMany: true, ordered: true)
        TestStack.connect(owners, pets)
        being.properties = [
            TestStack.attribute("name", .stringAttributeType), TestStack.attribute("n", .integer32AttributeType), friends, partner, mentor,
            pupils, owners, TestStack.relationship("boss", to: being, toMany: false),
            TestStack.relationship("likes", to: person, toMany: true),
            ClubModel.derived("friendCount", .integer32AttributeType, "friends.@count"),
            ClubModel.derived("friendSum", .integer64AttributeType, "friends.@sum.n"),
            ClubModel.derived("likeSum", .integer64AttributeType, "likes.@sum.n"),
            ClubModel.derived("bossName", .stringAttributeType, "uppercase:(boss.name)"),
            ClubModel.derived("second", .stringAttributeType, "boss.partner.name"),
            ClubModel.derived("ownerCount", .integer16AttributeType, "owners.@count"),
            ClubModel.derived("pupilCount", .integer16AttributeType, "pupils.@count"),
            ClubModel.derived("pupilFriends", .integer64AttributeType, "pupils.@sum.friendCount"),
            ClubModel.derived("classmates", .integer64AttributeType, "mentor.pupilCount"),
            ClubModel.derived("above", .integer64AttributeType, "mentor.mentor.classmates"),
        ]
        person.properties = [pets, ClubModel.derived("petFriends", .integer64AttributeType, "pets.@sum.pupilFriends")]
        let model = NSManagedObjectModel()
        model.entities = [being, person, animal]
        return model
    }

    /// The expected values by attribute, computed from an object's relationships.
    private static func expected(_ object: NSManagedObject) -> [String: String] {
        func members(_ key: String) -> [NSManagedObject] {
            let value = object.value(forKey: key)
            return (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? (value as? NSSet)?.allObjects as? [NSManagedObject] ?? []
        }
        func sum(_ key: String, _ of: String) -> Int { members(key).reduce(0) { $0 + ($1.value(forKey: of) as? Int ?? 0) } }
        func value(_ path: String...) -> Any? {
            path.dropLast().reduce(object) { $0?.value(forKey: $1) as? NSManagedObject }?.value(forKey: path.last ?? "")
        }
        var result: [String: Any?] = [
            "friendCount": members("friends").count, "friendSum": sum("friends", "n"), "likeSum": sum("likes", "n"),
            "bossName": (value("boss", "name") as? String)?.uppercased(), "second": value("boss", "partner", "name"),
            "ownerCount": members("owners").count, "pupilCount": members("pupils").count, "pupilFriends": sum("pupils", "friendCount"),
            "classmates": value("mentor", "pupilCount"), "above": value("mentor", "mentor", "classmates"),
        ]
        if object.entity.name == "Person" { result["petFriends"] = sum("pets", "pupilFriends") }
        return result.mapValues { $0.map { "\($0)" } ?? "nil" }
    }

    private static func compare(_ context: NSManagedObjectContext, _ trail: String) throws {
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Being")) {
            let expected = expected(object)
            let found = Dictionary(uniqueKeysWithValues: expected.keys.map { key in (key, object.value(forKey: key).map { "\($0)" } ?? "nil") })
            #expect(found == expected, "\(object.value(forKey: "name") ?? "") after \(trail)")
            if found != expected { throw CocoaError(.fileReadUnknown) }
        }
    }

    @Test(arguments: StoreKind.deriving)
    func `Attributes derived from derived attributes follow along a new path`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        // Rows are written in the order of their numbers: dependent ones come first.
        let beings = (0..<6).map { stack.insert("Person", ["name": "b\($0)", "n": $0]) }
        for (below, above) in zip(beings, beings.dropFirst()) { below.setValue(above, forKey: "mentor") }
        beings[5].setValue(beings[5], forKey: "mentor")
        for being in beings.dropFirst() { beings[0].mutableSetValue(forKey: "friends").add(being) }
        beings[0].mutableOrderedSetValue(forKey: "pets").add(beings[5])
        try stack.context.save()
        try Self.compare(stack.anew(), "the first save")
        beings[0].setValue(beings[3], forKey: "mentor")
        beings[1].mutableSetValue(forKey: "friends").add(beings[2])
        beings[3].mutableOrderedSetValue(forKey: "pets").add(beings[1])
        try stack.context.save()
        try Self.compare(stack.anew(), "the second save")
        guard kind.isFile else { return }
        let again = try TestStack(kind, model: Self.model(), at: stack.url)
        try Self.compare(again.context, "opening again")
    }

    @Test(arguments: [.recordLog, .binary] as [StoreKind], 1...4)
    func `Derived attributes agree with a plain computation`(kind: StoreKind, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        func pick(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }
        let stack = try TestStack(kind, model: Self.model().widened())
        stack.context.undoManager = UndoManager()
        var trail: [Int] = [], counter = 0
        for _ in 0..<60 {
            var child: NSManagedObjectContext?
            if pick(4) == 0 {
                child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                child?.parent = stack.context
            }
            let context = child ?? stack.context
            for _ in 0..<1 + pick(4) {
                let all = try stack.fetch("Being", sort: [NSSortDescriptor(key: "name", ascending: true)], in: context)
                let object = all.isEmpty ? nil : all[pick(all.count)], other = all.isEmpty || pick(9) == 0 ? nil : all[pick(all.count)]
                let choice = pick(13)
                trail.append(choice)
                switch (choice, object) {
                case (0...2, _), (_, nil):
                    counter += 1
                    stack.insert(pick(2) == 0 ? "Person" : "Animal", ["name": "o\(1000 + counter)", "n": pick(100)], into: context)
                case (3, let object?): object.setValue(pick(3) == 0 ? nil : pick(100), forKey: "n")
                case (4...6, let object?): object.setValue(other, forKey: ["boss", "partner", "mentor"][choice - 4])
                case (7...8, let object?):
                    guard let other, choice == 7 || other.entity.name == "Person" else { continue }
                    let members = object.mutableSetValue(forKey: choice == 7 ? "friends" : "likes")
                    if members.contains(other) { members.remove(other) } else { members.add(other) }
                case (9...10, let object?):
                    guard let other, choice == 9 || object.entity.name == "Person" else { continue }
                    let members = object.mutableOrderedSetValue(forKey: choice == 9 ? "pupils" : "pets")
                    if members.contains(other) { members.remove(other) } else { members.insert(other, at: pick(members.count + 1)) }
                case (11, let object?): if pick(3) == 0 { context.delete(object) }
                case (_, let object?):
                    object.setValue([nil, "", "x\(pick(2000))", "x\(pick(2000))"][pick(4)], forKey: "name")
                    object.drawValues(keeping: ["name", "n"], &random)
                }
            }
            // A reference to a deleted object without an inverse refuses the save.
            guard (try? child?.save()) != nil || child == nil else { continue }
            if pick(6) == 0 {
                stack.context.processPendingChanges()
                stack.context.undoManager?.undo()
            }
            guard (try? stack.context.save()) != nil else {
                stack.context.rollback()
                continue
            }
            if StoreKind.recordLogs.contains(kind), pick(5) == 0 {
                let update = NSBatchUpdateRequest(entityName: ["Person", "Animal", "Being"][pick(3)])
                update.predicate = NSPredicate(format: "n < %d", pick(50))
                update.propertiesToUpdate = ["n": pick(100)]
                _ = try stack.context.execute(update)
                let gone = NSFetchRequest<any NSFetchRequestResult>(entityName: "Animal")
                gone.predicate = NSPredicate(format: "n < %d", pick(9))
                _ = try? stack.context.execute(NSBatchDeleteRequest(fetchRequest: gone))
                stack.context.reset()
                stack.context.undoManager?.removeAllActions()
            }
            try Self.compare(stack.newContext(), "seed \(seed), \(trail.suffix(12))")
        }
    }
}
