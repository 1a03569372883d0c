import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// Relationships of each kind, with no, one, two and all members, among entities with and without subentities.
@Suite struct SQLiteExportRelationshipTests {
    struct Kind: CustomTestStringConvertible {
        var isToMany = true
        var isOrdered = false
        /// nil without an inverse.
        var inverse: (isToMany: Bool, isOrdered: Bool)? = (false, false)
        /// Whether the relationship leads to its own entity.
        var isSelf = false
        /// Whether it is its own inverse.
        var isReflexive = false
        var hasSubentity = false

        var testDescription: String {
            let names = [
                isToMany ? "to-many" : "to-one", isOrdered ? "ordered" : "",
                inverse.map { $0.isToMany ? "of many" : "of one" } ?? "without inverse", inverse?.isOrdered == true ? "ordered too" : "",
                isSelf ? "self" : "", isReflexive ? "reflexive" : "", hasSubentity ? "hierarchy" : "",
            ]
            return names.filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }

    static let kinds: [Kind] = [false, true].flatMap { hasSubentity in
        var kinds: [Kind] = []
        for isSelf in [false, true] {
            for isToMany in [false, true] {
                for isOrdered in isToMany ? [false, true] : [false] {
                    for inverse in [nil, (false, false), (true, false), (true, true)] as [(Bool, Bool)?] {
                        kinds.append(Kind(
                            isToMany: isToMany, isOrdered: isOrdered, inverse: inverse.map { (isToMany: $0.0, isOrdered: $0.1) }, isSelf: isSelf,
                            hasSubentity: hasSubentity))
                    }
                }
            }
        }
        for isToMany in [false, true] {
            kinds.append(Kind(isToMany: isToMany, isSelf: true, isReflexive: true, hasSubentity: hasSubentity))
        }
        return kinds
    }

    private static func model(_ kind: Kind) -> NSManagedObjectModel {
        let owner = NSEntityDescription(), member = kind.isSelf ? owner : NSEntityDescription(), model = NSManagedObjectModel()
        owner.name = "Owner"
        let forward = TestStack.relationship("members", to: member, toMany: kind.isToMany, ordered: kind.isOrdered)
        var ownProperties: [NSPropertyDescription] = [TestStack.attribute("name", .stringAttributeType), forward]
        var memberProperties: [NSPropertyDescription] = [TestStack.attribute("name", .stringAttributeType)]
        if kind.isReflexive {
            forward.inverseRelationship = forward
        } else if let inverse = kind.inverse {
            let back = TestStack.relationship("owners", to: owner, toMany: inverse.isToMany, ordered: inverse.isOrdered)
            TestStack.connect(forward, back)
            if kind.isSelf { ownProperties.append(back) } else { memberProperties.append(back) }
        }
        owner.properties = ownProperties
        var entities = [owner]
        if !kind.isSelf {
            member.name = "Member"
            member.properties = memberProperties
            entities.append(member)
        }
        if kind.hasSubentity {
            let special = NSEntityDescription()
            special.name = "Special"
            special.properties = [TestStack.attribute("extra", .stringAttributeType)]
            member.subentities = [special]
            entities.append(special)
        }
        model.entities = entities
        return model
    }

    /// The members' numbers for each owner: none, one, two in an order of their own, all. Exclusive relationships have no member twice.
    private static func pairs(_ kind: Kind) -> [[[Int]]] {
        let isExclusive = kind.inverse.map { !$0.isToMany } ?? kind.isToMany
        if kind.isReflexive { return kind.isToMany ? [[], [[1]], [[2, 1], [2]], [[0, 3]]] : [[], [[1]], [[3], [2]]] }
        if !kind.isToMany { return isExclusive ? [[], [[2]], [[3], [1]], [[1], [2], [3], [0]]] : [[], [[2]], [[2], [2]], [[1], [2], [2], [0]]] }
        return isExclusive
            ? [[], [[2]], [[], [3, 0]], [[3, 1, 2, 0]], [[2], [3, 1], [], [0]]]
            : [[], [[2]], [[3, 0], [0, 3]], [[3, 1, 2, 0], [0, 1], [], [2, 3, 1]], [[1, 0, 3, 2], [3, 2, 1, 0], [0, 1, 2, 3], [2, 0]]]
    }

    private static func names(_ object: NSManagedObject, _ key: String) -> [String] {
        let value = object.value(forKey: key)
        let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value].compactMap { $0 }
        let names = objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        return value is NSOrderedSet ? names : names.sorted()
    }

    /// Each object with the names at its relationships' other ends.
    private static func description(_ context: NSManagedObjectContext) throws -> [String] {
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        return try model.entities.flatMap { entity in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            return try context.fetch(request).map { object in
                let ends = entity.relationshipsByName.keys.sorted().map { "\($0): \(names(object, $0))" }
                return "\(entity.name ?? "") \(object.value(forKey: "name") ?? "") \(ends.joined(separator: " "))"
            }
        }.sorted()
    }

    @Test(arguments: kinds)
    func `Members and their orders come back`(kind: Kind) throws {
        let lists = Self.pairs(kind)
        for (number, pairs) in lists.enumerated() {
            // A process of its own for each file of the longest list only: they take long.
            let isChecked = number == lists.count - 1
            let stack = try TestStack(.inMemory, model: Self.model(kind))
            let memberNames = kind.hasSubentity ? [kind.isSelf ? "Owner" : "Member", "Special"] : [kind.isSelf ? "Owner" : "Member"]
            let members = (0..<4).map { stack.insert(memberNames[$0 % memberNames.count], ["name": "m\($0)"]) }
            let owners = kind.isSelf ? members : (0..<4).map { stack.insert("Owner", ["name": "o\($0)"]) }
            try stack.context.save()
            for (owner, list) in zip(owners, pairs) {
                let found = list.map { members[$0] }
                let value: Any? = kind.isToMany ? kind.isOrdered ? NSOrderedSet(array: found) : NSSet(array: found) : found.first
                owner.setValue(value, forKey: "members")
            }
            try stack.context.save()
            let expected = try Self.description(stack.newContext())
            try ExportedStore.with(stack.persistentStore) { exported in
                #expect(try Self.description(exported.context(stack.coordinator.managedObjectModel)) == expected, "\(number)")
                if isChecked { try exported.check("\(number)") }
                #expect(exported.summary.renumbered.isEmpty != kind.hasSubentity)
            }
            guard isChecked else { continue }
            try ExportedStore.with(stack.persistentStore, .plain) { try $0.check("plain \(number)") }
        }
    }

    @Test
    func `A member of two owners without an inverse cannot be written, and the error names the relationship`() throws {
        for isOrdered in [false, true] {
            let stack = try TestStack(.inMemory, model: Self.model(Kind(isOrdered: isOrdered, inverse: nil)))
            let member = stack.insert("Member", ["name": "m"])
            for name in ["a", "b"] {
                let set: Any = isOrdered ? NSOrderedSet(object: member) : NSSet(object: member)
                stack.insert("Owner", ["name": name, "members": set])
            }
            try stack.context.save()
            try CoreDataStoreFiles.withFolder { folder in
                do {
                    let file = folder.appendingPathComponent("Shared.sqlite")
                    try SQLiteStoreExport(stack.persistentStore, .coreData(version: nil)).write(to: file)
                    Issue.record("the member was given to one owner")
                } catch let error as NSError {
                    #expect(error.code == NSPersistentStoreSaveError && error.localizedDescription.contains("Owner.members"), "\(error)")
                }
                let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(left == [])
            }
            // Tables for people have a row for each pair.
            try ExportedStore.with(stack.persistentStore, .plain) { exported in
                try exported.check()
                if let rows = try exported.rows("select count(*) from Owner_members") { #expect(rows == "[2]\n") }
            }
        }
    }

    @Test
    func `Order keys are multiples of 1024, in the order of the members`() throws {
        let stack = try TestStack(.inMemory, model: Self.model(Kind(isOrdered: true)))
        let members = (0..<5).map { stack.insert("Member", ["name": "m\($0)"]) }
        let owner = stack.insert("Owner", ["name": "o", "members": NSOrderedSet(array: members)])
        let others = (0..<2).map { stack.insert("Member", ["name": "n\($0)"]) }
        stack.insert("Owner", ["name": "p", "members": NSOrderedSet(array: others)])
        try stack.context.save()
        // Members come between and before others.
        for _ in 0..<40 {
            let list = owner.mutableOrderedSetValue(forKey: "members")
            list.moveObjects(at: IndexSet(integer: 4), to: 1)
            try stack.context.save()
        }
        try ExportedStore.with(stack.persistentStore) { exported in
            guard let rows = try exported.rows("select Z_FOK_OWNERS from ZMEMBER order by Z_FOK_OWNERS") else { return }
            #expect(rows == "[1024]\n[1024]\n[2048]\n[2048]\n[3072]\n[4096]\n[5120]\n")
            let context = try exported.context(stack.coordinator.managedObjectModel)
            let owners = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
            let read = try #require(owners.first { $0.value(forKey: "name") as? String == "o" })
            #expect(Self.names(read, "members") == Self.names(owner, "members"))
        }
    }
}
