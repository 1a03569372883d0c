import Foundation
import Testing

@testable import Heartwood

/// `NSRecordLogOwnerVersionsOption`: whether a change of an object's to-many members gives the object a new version.
@Suite struct OwnerVersionTests {
    @Test(arguments: StoreKind.recordLogs, ["many", "list", "pairs"])
    func `Two contexts that change members of one object merge, or meet a conflict if the store's option asks for it`(
        kind: StoreKind, key: String
    ) throws {
        for isOn in [false, true] {
            let stack = try TestStack(kind, model: ReleasedObjectTests.Case.model(), options: isOn ? [NSRecordLogOwnerVersionsOption: true] : [:])
            let theirs = stack.insert("Owner", ["title": "o"])
            try stack.context.save()
            let mine = stack.anew().object(with: theirs.objectID), context = try #require(mine.managedObjectContext)
            func add(_ name: String, to owner: NSManagedObject) throws {
                let context = try #require(owner.managedObjectContext)
                let member = NSEntityDescription.insertNewObject(forEntityName: "Counter", into: context)
                member.setValue(name, forKey: "name")
                if key == "list" { owner.mutableOrderedSetValue(forKey: key).add(member) } else { owner.mutableSetValue(forKey: key).add(member) }
                try context.save()
            }
            func stored() throws -> Set<String?> {
                let reader = stack.anew(), owner = reader.object(with: theirs.objectID)
                return Set(owner.objectIDs(forRelationshipNamed: key).map { reader.object(with: $0).text("name") })
            }
            #expect(mine.text("title") == "o")
            try add("a", to: theirs)
            if isOn {
                let error = #expect(throws: NSError.self, "\(key)") { try add("b", to: mine) }
                let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
                #expect(error?.code == NSManagedObjectMergeError && conflict?.sourceObject === mine)
                #expect(conflict?.oldVersionNumber == 1 && conflict?.newVersionNumber == 2)
                #expect(try stored() == ["a"])
                // A program tries again.
                context.rollback()
                context.refresh(mine, mergeChanges: false)
                try add("b", to: mine)
            } else {
                try add("b", to: mine)
            }
            #expect(try stored() == ["a", "b"])
            // A change of an attribute meets a change of members.
            mine.setValue("mine", forKey: "title")
            try add("c", to: stack.anew().object(with: theirs.objectID))
            if isOn { #expect(throws: NSError.self) { try context.save() } } else { try context.save() }
            #expect(try stored() == ["a", "b", "c"])
            // Every policy saves both members.
            for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite] {
                context.rollback()
                context.refreshAllObjects()
                context.mergePolicy = policy
                #expect(mine.text("title") != nil)
                try add("d\(policy.mergeType.rawValue)", to: stack.anew().object(with: theirs.objectID))
                try add("e\(policy.mergeType.rawValue)", to: mine)
                #expect(try stored().isSuperset(of: ["d\(policy.mergeType.rawValue)", "e\(policy.mergeType.rawValue)"]), "\(isOn)")
            }
        }
    }
}
