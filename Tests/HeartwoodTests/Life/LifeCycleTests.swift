import Foundation
import Testing

@testable import Heartwood

@Suite struct LifeCycleTests {
    /// Inserted, updated, deleted, changed, changed for the store, a fault.
    private func flags(_ object: NSManagedObject) -> String {
        let flags: [(Bool, String)] = [
            (object.isInserted, "I"), (object.isUpdated, "U"), (object.isDeleted, "D"), (object.hasChanges, "C"),
            (object.hasPersistentChangedValues, "P"), (object.isFault, "F"),
        ]
        return flags.map { $0.0 ? $0.1 : "-" }.joined()
    }

    @Test(arguments: StoreKind.allCases)
    func `Every flag is right at every step`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let context = stack.context
        let one = stack.insert("Diarist", [:])
        #expect(flags(one) == "I--CP-" && one.faultingState == 0, "the defaults are values to be saved")
        try context.save()
        #expect(flags(one) == "------" && one.managedObjectContext === context)
        one.setValue("untitled", forKey: "title")
        #expect(flags(one) == "-U-C--", "set to what it was")
        one.setValue("a", forKey: "title")
        #expect(flags(one) == "-U-CP-")
        one.setValue("untitled", forKey: "title")
        #expect(flags(one) == "-U-C--")
        try context.save()
        one.setValue("only in memory", forKey: "note")
        #expect(flags(one) == "-U-C--")
        context.refresh(one, mergeChanges: false)
        #expect(flags(one) == "-----F" && one.faultingState != 0 && !context.hasChanges)
        #expect(one.value(forKey: "title") as? String == "untitled")
        #expect(flags(one) == "------")
        context.delete(one)
        #expect(flags(one) == "--DC--" && context.deletedObjects == [one])
        context.rollback()
        #expect(flags(one) == "------" && !context.hasChanges)
        context.delete(one)
        try context.save()
        #expect(flags(one) == "------" && one.managedObjectContext == nil)
        let brief = stack.insert("Diarist", [:])
        context.delete(brief)
        #expect(!brief.isInserted && brief.isDeleted && !context.hasChanges)
        #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `Each callback is called once and in order`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let context = stack.context
        let entity = try #require(NSEntityDescription.entity(forEntityName: "Diarist", in: context))
        let one = Diarist(entity: entity, insertInto: nil)
        #expect(one.look() == [] && one.managedObjectContext == nil && one.title == "untitled")
        context.insert(one)
        #expect(one.look() == ["inserted"])
        one.title = "a"
        try context.save()
        #expect(one.look() == ["saving", "saved false"])
        try context.save()
        #expect(one.look() == [], "nothing had changed")
        context.refresh(one, mergeChanges: false)
        #expect(one.look() == ["leaving a", "left true"])
        #expect(one.title == "a" && one.value(forKey: "count") as? Int == 7)
        #expect(one.look() == ["fetched"])
        context.refresh(one, mergeChanges: true)
        #expect(one.look() == ["leaving a", "left true"] && one.isFault, "where nothing has changed it becomes a fault")
        let two = try stack.savedDiarist("two")
        context.refresh(two, mergeChanges: true)
        #expect(two.look() == ["leaving two", "left true"], "the same")
        one.title = "b"
        #expect(one.look() == ["fetched"])
        context.refresh(one, mergeChanges: true)
        #expect(one.look() == ["refreshed"] && one.title == "b")
        context.rollback()
        #expect(one.look() == ["rolled back"] && one.title == "a" && !one.isFault)
        context.delete(one)
        #expect(one.look() == ["deleting false"])
        try context.save()
        #expect(one.look() == ["saving", "saved true"])
        #expect(!one.isDeleted)
    }

    @Test(arguments: StoreKind.allCases)
    func `A value that an object sets in awakeFromFetch is no change`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let id = try stack.savedDiarist("a").objectID
        let context = stack.newContext()
        let one = context.object(with: id) as! Diarist
        one.onWake = { $0.setValue(8, forKey: "count") }
        #expect(one.title == "a" && one.value(forKey: "note") as? String == "made on waking")
        #expect(one.value(forKey: "count") as? Int == 8)
        #expect(!one.hasChanges && !context.hasChanges)
        one.title = "b"
        #expect(one.hasChanges, "later changes count again")
    }

    @Test(arguments: StoreKind.allCases)
    func `Changes in willSave are saved`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = try stack.savedDiarist("one"), two = try stack.savedDiarist("two")
        one.onWillSave = { one in
            if one.value(forKey: "count") as? Int != 8 { one.setValue(8, forKey: "count") }
            if two.title != "by one" { two.title = "by one" }
            one.setPrimitiveValue("primitive", forKey: "title")
        }
        one.title = "changed"
        try stack.context.save()
        #expect(one.look() == ["saving", "saving", "saved false"], "its own change calls it again, a primitive one does not")
        #expect(two.look() == ["saving", "saved false"])
        stack.context.reset()
        let found = try stack.fetch("Diarist", sort: [NSSortDescriptor(key: "title", ascending: true)])
        #expect(found.map { $0.value(forKey: "title") as? String } == ["by one", "primitive"])
        #expect(found.map { $0.value(forKey: "count") as? Int } == [7, 8])
    }

    @Test(arguments: StoreKind.allCases)
    func `willSave may insert and delete`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let context = stack.context
        let one = try stack.savedDiarist("one"), two = try stack.savedDiarist("two")
        var made: Diarist?
        one.onWillSave = { _ in
            guard made == nil else { return }
            made = stack.insertDiarist("three")
            context.delete(two)
        }
        one.title = "changed"
        try context.save()
        #expect(made?.look() == ["inserted", "saving", "saved false"])
        #expect(two.look() == ["deleting false", "saving", "saved true"])
        #expect(try stack.fetch("Diarist").count == 2)
        // The closure retains the stack, whose file would stay.
        one.onWillSave = nil
    }

    @Test(arguments: StoreKind.allCases)
    func `A save posts its changes before it calls willSave`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = try stack.savedDiarist("one")
        // Posted on this thread.
        nonisolated(unsafe) var told: [String] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: stack.context, queue: nil) { _ in
            told.append("observer")
        }
        defer { NotificationCenter.default.removeObserver(token) }
        one.onWillSave = { _ in told.append("willSave") }
        one.title = "two"
        try stack.context.save()
        #expect(told == ["observer", "willSave"])
        one.onWillSave = nil
    }

    @Test(arguments: StoreKind.allCases)
    func `willSave is called for an object that an observer changes during the save`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        // Posted on this thread.
        nonisolated(unsafe) let first = try stack.savedDiarist("first"), second = try stack.savedDiarist("second")
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: stack.context, queue: nil) { _ in
            if first.title == "newer", second.title == "second" { second.title = "changed by an observer" }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        first.onWillSave = { if $0.title == "new" { $0.title = "newer" } }
        first.title = "new"
        _ = second.look()
        try stack.context.save()
        #expect(second.look() == ["saving", "saved false"])
        let stored = try stack.anew().existingObject(with: second.objectID)
        #expect(stored.value(forKey: "title") as? String == "changed by an observer")
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that is inserted again after a reset has its entity's default values`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = try stack.savedDiarist("one")
        one.title = "changed"
        stack.context.reset()
        stack.context.insert(one)
        #expect(one.title == "untitled" && one.isInserted)
        try stack.context.save()
        #expect(Set(try stack.fetch("Diarist").map { $0.value(forKey: "title") as? String }) == ["one", "untitled"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A willSave that never stops changing is an error`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = try stack.savedDiarist("one")
        one.onWillSave = { $0.setValue(($0.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count") }
        one.title = "changed"
        let error = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(error?.localizedDescription.contains("willSave") == true)
        #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [one])
        #expect(one.look().count == 1000)
        one.onWillSave = nil
        try stack.context.save()
        #expect(one.look() == ["saving", "saved false"], "a later save asks again")
    }

    @Test(arguments: StoreKind.allCases)
    func `A save inside a save is an error`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = stack.insertDiarist("one")
        var codes: [Int] = []
        let save: (Diarist) -> Void = { _ in
            do { try stack.context.save() } catch { codes.append((error as NSError).code) }
        }
        one.onWillSave = save
        one.onDidSave = save
        try stack.context.save()
        #expect(codes == [132001, 132001] && !stack.context.hasChanges)
        one.onDidSave = nil
        one.title = "two"
        try stack.context.save()
        #expect(codes.count == 3)
        // The closure retains the stack, whose file would stay.
        one.onWillSave = nil
    }

    @Test(arguments: StoreKind.allCases)
    func `Changed and committed values distinguish old from new`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = stack.insertDiarist("one"), two = stack.insertDiarist("two")
        #expect(one.committedValues(forKeys: nil).isEmpty)
        #expect(one.changedValues()["title"] as? String == "one" && one.changedValues()["count"] as? Int == 7)
        #expect(one.changedValuesForCurrentEvent()["title"] as? String == "untitled")
        try stack.context.save()
        #expect(one.changedValues().isEmpty && one.changedValuesForCurrentEvent().isEmpty)
        one.title = nil
        one.mutableSetValue(forKey: "friends").add(two)
        #expect(one.changedValues()["title"] is NSNull)
        #expect(one.changedValues()["friends"] as? NSSet == NSSet(object: two))
        let committed = one.committedValues(forKeys: ["title", "friends"])
        #expect(committed["title"] as? String == "one" && committed["friends"] as? NSSet == NSSet() && committed.count == 2)
        #expect(one.changedValuesForCurrentEvent()["title"] as? String == "one")
        #expect(two.changedValuesForCurrentEvent()["friends"] as? NSSet == NSSet())
        stack.context.processPendingChanges()
        #expect(one.changedValuesForCurrentEvent().isEmpty && two.changedValuesForCurrentEvent().isEmpty)
        one.title = "again"
        one.setValue(9, forKey: "count")
        let event = one.changedValuesForCurrentEvent()
        #expect(event["title"] is NSNull && event["count"] as? Int == 7 && event.count == 2)
        stack.context.processPendingChanges()
        one.setValue(10, forKey: "count")
        #expect(one.changedValuesForCurrentEvent() as? [String: Int] == ["count": 9])
        #expect(one.changedValues().count == 3 && one.isUpdated)
        try stack.context.save()
        #expect(one.changedValuesForCurrentEvent().isEmpty)
        #expect(one.committedValues(forKeys: ["title"])["title"] as? String == "again")
    }

    @Test(arguments: StoreKind.allCases)
    func `Setting a primitive value marks nothing as changed`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = try stack.savedDiarist("one")
        one.setPrimitiveValue("quiet", forKey: "title")
        #expect(one.title == "quiet" && one.primitiveValue(forKey: "title") as? String == "quiet")
        #expect(!one.hasChanges && !stack.context.hasChanges)
        one.willChangeValue(forKey: "title")
        one.setPrimitiveValue("told", forKey: "title")
        one.didChangeValue(forKey: "title")
        #expect(one.isUpdated && one.changedValues()["title"] as? String == "told")
        try stack.context.save()
        stack.context.reset()
        #expect(try stack.fetch("Diarist").first?.value(forKey: "title") as? String == "told")
    }

    @Test(arguments: StoreKind.allCases)
    func `An object stays in its sets when its ID becomes permanent`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let one = stack.insertDiarist("one"), two = stack.insertDiarist("two")
        let temporary = one.objectID
        let set: Set<NSManagedObject> = [one, two]
        #expect(temporary.isTemporaryID && temporary == one.objectID && temporary != two.objectID)
        #expect(stack.context.registeredObject(for: temporary) === one)
        let other = stack.newContext()
        let theirs = stack.insert("Diarist", [:], into: other)
        #expect(theirs.objectID != temporary && other.registeredObject(for: temporary) == nil, "it numbers its objects alike")
        #expect(throws: (any Error).self) { try other.existingObject(with: temporary) }
        try stack.context.save()
        #expect(!one.objectID.isTemporaryID && temporary.isTemporaryID && one.objectID != temporary)
        #expect(set.contains(one) && set.contains(two) && set.count == 2)
        #expect(one.objectID.hash == other.object(with: one.objectID).objectID.hash)
        #expect([one.objectID: 1][other.object(with: one.objectID).objectID] == 1)
    }

    /// The position of the last event's end was kept through a rollback, so that the first changes after it never counted as past.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `An event after a rollback or a reset ends as any other`(kind: StoreKind, isReset: Bool) throws {
        let stack = try Diarist.stack(kind)
        let id = try stack.savedDiarist("one").objectID
        for _ in 0..<3 { _ = stack.insertDiarist("other") }
        stack.context.processPendingChanges()
        if isReset { stack.context.reset() } else { stack.context.rollback() }
        let diarist = stack.context.object(with: id) as! Diarist
        diarist.title = "two"
        #expect(diarist.changedValuesForCurrentEvent().keys.sorted() == ["title"])
        stack.context.processPendingChanges()
        #expect(diarist.changedValuesForCurrentEvent().isEmpty)
    }
}
