import Foundation
import Testing

@testable import Heartwood

/// Keys and IDs of objects without a row, in a tree of contexts.
@Suite struct ChildIdentityTests {
    @Test(arguments: StoreKind.allCases)
    func `Temporary keys are unique in the context tree`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let contexts = [stack.context, stack.context.child(), stack.context.child(), stack.context.child().child()]
        let ids = contexts.flatMap { context in (0..<3).map { _ in stack.insert("Tag", [:], into: context).objectID } }
        #expect(Set(ids).count == 12 && Set(ids.map(\.key)).count == 12 && ids.allSatisfy(\.isTemporaryID))
        #expect(Set(ids.map(\.contextToken)).count == 1)
        #expect(stack.newContext().registeredObject(for: ids[0]) == nil)
        #expect(throws: NSError.self) { try stack.newContext().existingObject(with: ids[0]) }
    }

    @Test
    func `A context gets only the keys that were renamed since it last adopted names`() {
        let keys = (1...6).map { ObjectKey(slot: 1, row: $0) }
        let tree = ContextTree()
        tree.rename(keys[0], to: keys[1])
        // No context has the first name any more.
        tree.dropIfAlone()
        tree.join()
        let joined = tree.count
        tree.rename(keys[2], to: keys[3])
        tree.rename(keys[4], to: keys[5])
        #expect(tree.oldNames(after: joined) == [keys[3]: keys[2], keys[5]: keys[4]])
        #expect(tree.oldNames(after: joined + 1) == [keys[5]: keys[4]])
        #expect(tree.oldNames(after: joined + 2) == nil)
        #expect(tree.oldNames(after: 0) == [keys[3]: keys[2], keys[5]: keys[4]])
    }

    @Test(arguments: StoreKind.allCases)
    func `IDs stay temporary until the root saves`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), grandchild = child.child()
        let new = stack.insert("Person", ["name": "new"], into: grandchild)
        let group = stack.insert("Group", ["title": "g"], into: grandchild)
        new.setValue(group, forKey: "group")
        let old = new.objectID
        try grandchild.save()
        try child.save()
        let mine = stack.context.own(new)
        #expect(mine.objectID == old && child.own(new).objectID == old && new.objectID == old)
        try stack.context.save()
        #expect(!mine.objectID.isTemporaryID && new.objectID == old)
        #expect(new.one("group") === group && group.many("people") == [new], "old names still lead to objects")
        new.setValue("newer", forKey: "name")
        try grandchild.save()
        #expect(new.objectID == mine.objectID && group.objectID == stack.context.own(group).objectID)
        #expect(child.own(new).text("name") == "newer" && mine.text("name") == "new")
        for context in [stack.context, child, grandchild] {
            let found = try #require(try stack.fetch("Person", in: context).first)
            #expect(context.object(with: old) === found && context.registeredObject(for: old) === found)
            #expect(context.object(with: mine.objectID) === found && found.one("group") === context.own(group))
        }
        #expect(try stack.fetch("Person", in: grandchild) == [new], "one instance an object")
        try child.save()
        try stack.context.save()
        #expect(try stack.storedNames() == ["newer"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A fault with an old ID fires`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let new = stack.insert("Person", ["name": "new"])
        let group = stack.insert("Group", ["title": "g"])
        let tag = stack.insert("Tag", ["label": "t"])
        let child = stack.context.child()
        let mine = child.own(new), theirGroup = child.own(group), mineToo = child.own(tag)
        #expect(mineToo.many("people").isEmpty && theirGroup.isFault)
        new.setValue(group, forKey: "group")
        new.setValue(Set([tag]), forKey: "tags")
        let old = new.objectID
        try stack.context.save()
        #expect(mine.isFault && mine.objectID == old && mine.text("name") == "new")
        #expect(mine.one("group") === theirGroup && theirGroup.many("people") == [mine] && mine.many("tags") == [mineToo])
        #expect(mine.objectIDs(forRelationshipNamed: "group") == [theirGroup.objectID])
        child.refreshAllObjects()
        #expect(mine.objectID == new.objectID && mine.one("group") === theirGroup && mineToo.many("people") == [mine])
        #expect(child.identities.checkInvariants() && stack.context.identities.checkInvariants())
    }

    @Test(arguments: StoreKind.numbering)
    func `Old IDs are kept while a child context lives`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let alone = stack.insert("Person", ["name": "alone"]).objectID
        try stack.context.save()
        #expect(stack.context.tree.count == 0 && stack.context.registeredObject(for: alone) == nil)
        do {
            let child = stack.context.child()
            let first = stack.insert("Person", ["name": "first"]).objectID
            try stack.context.save()
            #expect(child.object(with: first).text("name") == "first" && stack.context.registeredObject(for: first) != nil)
        }
        #expect(stack.context.tree.count == 1 && stack.context.tree.renames(after: 0).map.isEmpty)
        let second = stack.context.child()
        let new = stack.insert("Person", ["name": "new"], into: second)
        try second.save()
        try stack.context.save()
        #expect(try stack.fetch("Person", "name == 'new'", in: second) == [new] && !new.objectID.isTemporaryID)
    }

    @Test(arguments: StoreKind.allCases)
    func `Permanent IDs can be obtained before the save`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"]), bob = stack.insert("Person", ["name": "bob", "partner": ann])
        let saved = stack.insert("Person", ["name": "cid"]), old = ann.objectID
        try stack.context.obtainPermanentIDs(for: [ann, bob, ann])
        let ids = [ann.objectID, bob.objectID]
        #expect(ids.allSatisfy { !$0.isTemporaryID } && ids[0] != ids[1] && ann.isInserted && saved.objectID.isTemporaryID)
        #expect(bob.one("partner") === ann && ann.one("partner") === bob && stack.context.object(with: ids[0]) === ann)
        #expect(stack.context.registeredObject(for: old) == nil, "nobody has the old name")
        #expect(try stack.storedNames() == [], "nothing was saved")
        let other = stack.newContext()
        stack.insert("Person", ["name": "x"], into: other)
        try other.save()
        try stack.context.obtainPermanentIDs(for: [ann])
        try stack.context.save()
        #expect([ann.objectID, bob.objectID] == ids && ann.text("name") == "ann")
        #expect(try stack.storedNames() == ["ann", "bob", "cid", "x"])
        #expect(other.object(with: ids[0]).one("partner")?.objectID == ids[1])
        ann.setValue("anna", forKey: "name")
        try stack.context.save()
        #expect(other.object(with: ids[1]).one("partner")?.text("name") == "anna" || other.object(with: ids[0]).text("name") == "ann")
        #expect(try stack.storedNames() == ["anna", "bob", "cid", "x"])
        let never = stack.insert("Person", ["name": "never"])
        try stack.context.obtainPermanentIDs(for: [never])
        let id = never.objectID
        stack.context.rollback()
        #expect(never.managedObjectContext == nil)
        #expect(throws: NSError.self) { try stack.context.existingObject(with: id) }
        let late = stack.insert("Person", ["name": "late"])
        try stack.context.save()
        #expect(late.objectID != id, "a number that was taken stays taken")
    }

    @Test(arguments: StoreKind.allCases)
    func `Permanent IDs obtained in a child hold for the whole tree`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), grandchild = child.child()
        let known = stack.insert("Person", ["name": "known"], into: child)
        try child.save()
        let new = stack.insert("Person", ["name": "new", "partner": grandchild.own(known)], into: grandchild)
        try grandchild.obtainPermanentIDs(for: [new, grandchild.own(known)])
        let ids = [new.objectID, grandchild.own(known).objectID]
        #expect(ids.allSatisfy { !$0.isTemporaryID } && new.isInserted && !grandchild.own(known).isInserted)
        #expect(stack.context.object(with: ids[1]).isInserted && stack.context.insertedObjects.map(\.objectID) == [ids[1]])
        try grandchild.save()
        #expect(known.objectID == ids[1] && known.one("partner")?.objectID == ids[0])
        try child.save()
        try stack.context.save()
        #expect([new.objectID, known.objectID] == ids && stack.context.object(with: ids[0]).text("name") == "new")
        let other = stack.newContext()
        #expect(other.object(with: ids[0]).one("partner")?.text("name") == "known" && other.object(with: ids[1]).text("name") == "known")
    }

    @Test
    func `Reserved rows survive reopening and compaction`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        let stack = try TestStack(.recordLog, at: url)
        let ann = stack.insert("Person", ["name": "ann", "email": "e"])
        try stack.context.obtainPermanentIDs(for: [ann])
        let id = ann.objectID
        try stack.store.compactRecordLog()
        let second = try TestStack(.recordLog, at: url)
        let other = second.insert("Person", ["name": "other"])
        try second.context.save()
        try stack.context.save()
        #expect(other.objectID.key.row != id.key.row && ann.objectID == id)
        #expect(try second.storedNames() == ["ann", "other"])
        ann.setValue(2, forKey: "age")
        try stack.context.save()
        #expect(try second.fetch("Person", "email == 'e'", in: second.newContext()).first?.value(forKey: "age") as? Int == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `An insertion that becomes an update in the root leaves one instance in the child`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann", "email": "e"])
        try stack.context.save()
        stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let knowing = stack.context.child(), child = stack.context.child()
        let both = knowing.own(ann)
        let new = stack.insert("Person", ["name": "new", "email": "e"], into: child)
        try child.save()
        let theirs = knowing.own(new)
        #expect(theirs.text("name") == "new" && both.text("name") == "ann")
        try stack.context.save()
        #expect(ann.text("name") == "new")
        #expect(try stack.fetch("Person", in: child) == [new] && new.objectID == ann.objectID)
        #expect(try stack.fetch("Person", in: knowing) == [both] && theirs.managedObjectContext == nil)
        knowing.refreshAllObjects()
        #expect(both.text("name") == "new" && !knowing.hasChanges)
    }
}
