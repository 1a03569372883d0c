import Foundation
import Testing

@testable import Heartwood

/// Changed values since the last save, and since the last event.
@Suite struct EventValueTests {
    private func titles(_ value: Any?) -> [String]? {
        let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects
        return members?.compactMap { member in (member as? NSManagedObject)?.value(forKey: member is Person ? "name" : "title") as? String }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `The event's old members are those from before it`(kind: StoreKind, isSaved: Bool) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["name": "Ada"]), tasks = (0..<4).map { stack.insert("Task", ["title": "t\($0)"]) }
        person.mutableOrderedSetValue(forKey: "tasks").add(tasks[0])
        if isSaved { try stack.context.save() } else { stack.context.processPendingChanges() }
        #expect(person.changedValuesForCurrentEvent().isEmpty)
        person.mutableOrderedSetValue(forKey: "tasks").add(tasks[1])
        #expect(titles(person.changedValuesForCurrentEvent()["tasks"]) == ["t0"])
        stack.context.processPendingChanges()
        #expect(person.changedValuesForCurrentEvent().isEmpty)
        person.mutableOrderedSetValue(forKey: "tasks").insert(tasks[2], at: 0)
        person.mutableOrderedSetValue(forKey: "tasks").remove(tasks[0])
        let old = person.changedValuesForCurrentEvent()["tasks"]
        #expect(old is NSOrderedSet && titles(old) == ["t0", "t1"])
        stack.context.processPendingChanges()
        person.mutableOrderedSetValue(forKey: "tasks").moveObjects(at: [0], to: 1)
        #expect(titles(person.changedValuesForCurrentEvent()["tasks"]) == ["t2", "t1"])
        #expect(titles(person.value(forKey: "tasks")) == ["t1", "t2"])
        person.setValue("Grace", forKey: "name")
        #expect(Set(person.changedValuesForCurrentEvent().keys) == ["tasks", "name"])
        #expect(isSaved ? titles(person.committedValues(forKeys: ["tasks"])["tasks"]) == ["t0"] : person.committedValues(forKeys: nil).isEmpty)
    }

    /// The members are not read before the question.
    @Test(arguments: StoreKind.planning)
    func `An unread relationship is compared too`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"])
        for name in ["a", "b"] { stack.insert("Person", ["name": name, "group": group]) }
        try stack.context.save()
        let context = stack.anew()
        let mine = context.object(with: group.objectID)
        let (c, d) = (stack.insert("Person", ["name": "c"], into: context), stack.insert("Person", ["name": "d"], into: context))
        c.setValue(mine, forKey: "group")
        context.processPendingChanges()
        let members = MembersRead(by: context)
        d.setValue(mine, forKey: "group")
        #expect(members.read == 0)
        #expect(titles(mine.changedValuesForCurrentEvent()["people"])?.sorted() == ["a", "b", "c"])
        context.processPendingChanges()
        _ = mine.value(forKey: "people")
        #expect(mine.changedValuesForCurrentEvent().isEmpty)
        d.setValue(nil, forKey: "group")
        #expect(titles(mine.changedValuesForCurrentEvent()["people"])?.sorted() == ["a", "b", "c", "d"])
    }

    @Test(arguments: StoreKind.allCases)
    func `Ordered members come in their order`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", ["tasks": NSOrderedSet(array: (0..<5).reversed().map { stack.insert("Task", ["title": "t\($0)"]) })])
        try stack.context.save()
        let committed = person.committedValues(forKeys: ["tasks", "tags"])
        #expect(committed["tasks"] is NSOrderedSet && titles(committed["tasks"]) == ["t4", "t3", "t2", "t1", "t0"])
        #expect(committed["tags"] as? NSSet == NSSet())
    }

    @Test(arguments: StoreKind.allCases)
    func `Transient values are no changes`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let diarist = try #require(stack.insert("Diarist", ["title": "a", "note": "mine"]) as? Diarist)
        #expect(Set(diarist.changedValues().keys) == ["title", "count"])
        try stack.context.save()
        #expect(diarist.value(forKey: "note") as? String == "mine")
        #expect(diarist.changedValues().isEmpty && !diarist.hasChanges)
        diarist.setValue("other", forKey: "note")
        #expect(diarist.hasChanges && !diarist.hasPersistentChangedValues)
        #expect(diarist.changedValues().isEmpty && diarist.changedValuesForCurrentEvent().isEmpty)
        #expect(diarist.committedValues(forKeys: nil)["note"] == nil && diarist.committedValues(forKeys: ["note"]).isEmpty)
        #expect(diarist.committedValues(forKeys: nil)["title"] as? String == "a")
    }

    /// The first value read from a fault is the one that it sets in awakeFromFetch.
    @Test(arguments: StoreKind.allCases)
    func `A value set in awakeFromFetch is read at once`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        stack.insert("Diarist", ["title": "a"])
        try stack.context.save()
        let found = try #require(stack.anew().fetch(NSFetchRequest<NSManagedObject>(entityName: "Diarist")).first)
        #expect(found.isFault && found.value(forKey: "note") as? String == "made on waking")
    }

    @Test(arguments: StoreKind.allCases)
    func `A refresh of an unchanged object forgets transient values`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let diarist = try #require(stack.insert("Diarist", ["title": "a", "note": "mine"]) as? Diarist)
        try stack.context.save()
        let other = stack.anew()
        let heard = Heard([.NSManagedObjectContextDidSave], of: other)
        other.object(with: diarist.objectID).setValue("b", forKey: "title")
        try other.save()
        stack.context.mergeChanges(fromContextDidSave: try #require(heard.all.first))
        #expect(diarist.title == "b" && diarist.value(forKey: "note") as? String == "made on waking" && !diarist.hasChanges)
        diarist.setValue("mine", forKey: "note")
        stack.context.refresh(diarist, mergeChanges: true)
        #expect(diarist.value(forKey: "note") as? String == "mine", "a change that is put on top")
        try stack.context.save()
        stack.context.refreshAllObjects()
        #expect(diarist.isFault && diarist.value(forKey: "note") as? String == "made on waking")
        stack.context.refresh(diarist, mergeChanges: false)
        #expect(diarist.isFault && diarist.title == "b" && diarist.value(forKey: "note") as? String == "made on waking")
    }

    @Test(arguments: StoreKind.allCases)
    func `An object is notified when a policy has changed it`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let diarist = try #require(stack.insert("Diarist", ["title": "a"]) as? Diarist)
        try stack.context.save()
        for (count, (policy, isOurs)) in [
            (NSMergePolicy.mergeByPropertyStoreTrump, false), (.mergeByPropertyObjectTrump, true), (.overwrite, true)].enumerated()
        {
            stack.context.refresh(diarist, mergeChanges: false)
            _ = diarist.title
            let other = stack.anew()
            other.object(with: diarist.objectID).setValue("theirs \(count)", forKey: "title")
            other.object(with: diarist.objectID).setValue(count, forKey: "count")
            try other.save()
            diarist.title = "mine \(count)"
            stack.context.mergePolicy = policy
            _ = diarist.look()
            let heard = Heard([.NSManagedObjectContextObjectsDidChange], of: stack.context)
            try stack.context.save()
            #expect(diarist.look().contains("merged by policy"), "\(policy)")
            stack.context.processPendingChanges()
            #expect(heard.all.contains { $0.objects(NSRefreshedObjectsKey)?.contains(diarist) ?? false })
            #expect(diarist.title == (isOurs ? "mine \(count)" : "theirs \(count)"))
        }
    }
}
