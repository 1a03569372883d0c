import Foundation
import RecordLog
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// A child's view of its parent.
@Suite struct ChildReadingTests {
    @Test(arguments: StoreKind.allCases)
    func `A child has its root's coordinator`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let child = stack.context.child(), grandchild = child.child()
        #expect(child.parent === stack.context && grandchild.parent === child && stack.context.parent == nil)
        #expect(grandchild.persistentStoreCoordinator === stack.coordinator)
    }

    @Test(arguments: StoreKind.allCases)
    func `A child sees its parent's unsaved changes`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann", "age": 30, "birthday": Date(timeIntervalSinceReferenceDate: 5)])
        let bob = stack.insert("Person", ["name": "bob", "age": 40])
        let group = stack.insert("Group", ["title": "g"])
        try stack.context.save()
        let cid = stack.insert("Person", ["name": "cid", "age": 50, "group": group])
        ann.setValue("anna", forKey: "name")
        stack.context.delete(bob)
        for context in [stack.context.child(), stack.context.child().child()] {
            #expect(try stack.names(in: context) == ["anna", "cid"])
            let mine = context.own(ann) as! Person
            #expect(mine.name == "anna" && mine.age == 30 && mine.managedDate(at: mine.propertyIndex("birthday")) != nil)
            #expect(mine.managedInteger(at: mine.propertyIndex("age")) == 30)
            #expect(mine.managedString(at: mine.propertyIndex("name")) == "anna")
            #expect(mine.fetches == 1 && !mine.hasChanges && mine.changedValues().isEmpty)
            let new = context.own(cid)
            #expect(new.objectID == cid.objectID && new.objectID.isTemporaryID && !new.isInserted)
            #expect(new.one("group") === context.own(group) && new.text("name") == "cid")
            #expect(context.own(group).many("people") == [new])
            #expect(context.own(group).countOfManagedObjects(at: 1) == 1)
            #expect(context.own(group).objectIDs(forRelationshipNamed: "people") == [cid.objectID])
            #expect(context.registeredObject(for: ann.objectID) === mine && !context.hasChanges)
            #expect(throws: NSError.self) { try context.existingObject(with: bob.objectID) }
            #expect(try context.existingObject(with: cid.objectID) === new)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A child's first member of a relationship that it has not read is its parent's, saved or not`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"]), ann = stack.insert("Person", ["name": "ann", "group": group])
        try stack.context.save()
        ann.setValue(nil, forKey: "group")
        let early = stack.context.child(), late = stack.context.child()
        #expect(early.own(group).firstManagedObject(at: 1) == nil)
        let bob = stack.insert("Person", ["name": "bob", "group": group]), mine = late.own(group)
        #expect(mine.firstManagedObject(at: 1)?.objectID == bob.objectID)
        #expect(mine.hasFault(forRelationshipNamed: "people"))
    }

    @Test(arguments: StoreKind.allCases)
    func `An unchanged object shares its parent's row`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let child = stack.context.child()
        let mine = try stack.fetch("Person", in: child)[0]
        #expect(mine.isFault && mine.rowBody != nil && mine.storage?.base == nil)
        stack.context.reset()
        #expect(mine.text("name") == "ann", "the child keeps the row's memory itself")
        #expect(ann.managedObjectContext == nil)
        let large = stack.insert("Everything", ["string": "x", "data": Data([1])])
        #expect((child.own(large).value(forKey: "data") as? Data) == Data([1]))
    }

    @Test(arguments: StoreKind.allCases)
    func `A fetch merges the changes of every level`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for index in 0..<10 { stack.insert("Person", ["name": "s\(index)", "age": index]) }
        try stack.context.save()
        let child = stack.context.child(), grandchild = child.child()
        func first(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
            try #require(try stack.fetch("Person", "name == %@", [name], in: context).first)
        }
        stack.insert("Person", ["name": "r", "age": 4])
        try first("s1", in: stack.context).setValue(100, forKey: "age")
        stack.insert("Person", ["name": "c", "age": 5], into: child)
        try first("s2", in: child).setValue(200, forKey: "age")
        stack.insert("Person", ["name": "g", "age": 6], into: grandchild)
        grandchild.delete(try first("s3", in: grandchild))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "name", ascending: true)]
        func found(_ context: NSManagedObjectContext) throws -> [String] { try context.fetch(request).map { $0.text("name") ?? "-" } }
        #expect(try found(stack.context) == ["s1", "s9", "s8", "s7", "s6", "s5", "r", "s4", "s3", "s2", "s0"])
        #expect(try found(child) == ["s2", "s1", "s9", "s8", "s7", "s6", "c", "s5", "r", "s4", "s3", "s0"])
        #expect(try found(grandchild) == ["s2", "s1", "s9", "s8", "s7", "g", "s6", "c", "s5", "r", "s4", "s0"])
        request.fetchOffset = 1
        request.fetchLimit = 3
        for context in [child, grandchild] { #expect(try found(context) == ["s1", "s9", "s8"]) }
        #expect(try grandchild.count(for: request) == 3)
        request.fetchLimit = 0
        request.fetchOffset = 0
        request.predicate = NSPredicate(format: "age > 5 AND name BEGINSWITH 's'")
        #expect(try found(grandchild) == ["s2", "s1", "s9", "s8", "s7", "s6"])
        #expect(try grandchild.count(for: request) == 6 && child.count(for: request) == 6 && stack.context.count(for: request) == 5)
        request.predicate = NSPredicate(format: "name == email OR age == 200")
        #expect(try found(grandchild) == ["s2"], "a predicate that no row can answer")
        request.includesPendingChanges = false
        request.predicate = NSPredicate(format: "name == 'g' OR name == 's3' OR name == 'c'")
        #expect(try found(grandchild) == ["c", "s3"], "the parent's changes are no pending ones")
        request.resultType = .managedObjectIDResultType
        #expect(try child.count(for: request) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Key paths lead through the child's changes`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "old"])
        stack.insert("Person", ["name": "ann", "group": group])
        try stack.context.save()
        let child = stack.context.child()
        child.own(group).setValue("new", forKey: "title")
        for context in [child, child.child()] {
            #expect(try stack.names(in: context, "group.title == 'new'") == ["ann"])
            #expect(try stack.names(in: context, "group.title == 'old'") == [])
            #expect(try stack.names(in: context, "group == %@", context.own(group)) == ["ann"])
        }
        #expect(try stack.names(in: stack.context, "group.title == 'old'") == ["ann"])
        // A root, too, once asked only the rows if no person had changed.
        group.setValue("newer", forKey: "title")
        #expect(try stack.names(in: stack.context, "group.title == 'newer'") == ["ann"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "group.title == 'old'")
        #expect(try stack.context.count(for: request) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `Without pending changes, a fetch that no row can answer drops no match`(kind: StoreKind) throws {
        // A fetch without pending changes once left out changed objects if it had to evaluate objects.
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "x", "email": "x"])
        try stack.context.save()
        ann.setValue(9, forKey: "age")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == email")
        request.includesPendingChanges = false
        #expect(try stack.context.fetch(request) == [ann] && stack.context.count(for: request) == 1)
    }

    @Test(arguments: StoreKind.planning)
    func `Counting makes no objects when nothing is pending`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let group = stack.insert("Group", ["title": "g"])
        for index in 0..<20 { stack.insert("Person", ["name": "\(index)", "age": index, "group": group]) }
        try stack.context.save()
        let id = group.objectID
        stack.context.reset()
        let child = stack.context.child(), grandchild = child.child()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "age >= 5")
        #expect(try grandchild.count(for: request) == 15)
        for context in [stack.context, child, grandchild] { #expect(context.identities.count == 0) }
        #expect(grandchild.object(with: id).countOfManagedObjects(at: 1) == 20)
        #expect(stack.context.identities.count == 1 && grandchild.identities.count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Refreshing reads the parent again`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann", "age": 1]), red = stack.insert("Tag", ["label": "red"])
        try stack.context.save()
        let child = stack.context.child(), mine = child.own(ann)
        #expect(mine.text("name") == "ann" && mine.many("tags").isEmpty)
        mine.setValue(7, forKey: "age")
        ann.setValue("anna", forKey: "name")
        ann.setValue(2, forKey: "age")
        ann.setValue(Set([red]), forKey: "tags")
        #expect(mine.text("name") == "ann", "what was read stays")
        child.refresh(mine, mergeChanges: true)
        #expect(mine.text("name") == "anna" && mine.value(forKey: "age") as? Int == 7 && mine.many("tags") == [child.own(red)])
        #expect(mine.changedValues().keys.sorted() == ["age"] && mine.committedValues(forKeys: ["age"])["age"] as? Int == 2)
        child.rollback()
        #expect(mine.value(forKey: "age") as? Int == 2 && !child.hasChanges && mine.text("name") == "anna")
        mine.setValue(8, forKey: "age")
        child.refresh(mine, mergeChanges: false)
        #expect(mine.isFault && mine.value(forKey: "age") as? Int == 2)
        stack.context.rollback()
        child.refreshAllObjects()
        #expect(mine.text("name") == "ann" && mine.value(forKey: "age") as? Int == 1 && mine.many("tags").isEmpty)
        child.reset()
        #expect(mine.managedObjectContext == nil && child.registeredObjects.isEmpty && child.own(ann) !== mine)
        #expect(child.own(ann).text("name") == "ann")
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that the parent restores exists after a refresh`(kind: StoreKind) throws {
        // A refresh once made a vanished object a permanent deletion; the next save would have deleted it.
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"])
        try stack.context.save()
        let child = stack.context.child(), mine = child.own(ann)
        stack.context.delete(ann)
        #expect(mine.text("name") == nil && mine.isDeleted && child.hasChanges)
        stack.context.rollback()
        child.refreshAllObjects()
        #expect(!child.hasChanges && mine.text("name") == "ann" && !mine.isDeleted)
        try child.save()
        #expect(!stack.context.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that the parent deleted is an inaccessible fault`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let ann = stack.insert("Person", ["name": "ann"]), bob = stack.insert("Person", ["name": "bob"])
        try stack.context.save()
        let new = stack.insert("Person", ["name": "new"])
        let child = stack.context.child(), strict = stack.context.child()
        strict.shouldDeleteInaccessibleFaults = false
        let mine = [ann, bob, new].map(child.own), theirs = strict.own(ann)
        #expect(mine[1].text("name") == "bob")
        stack.context.delete(ann)
        stack.context.delete(bob)
        stack.context.delete(new)
        #expect(mine[1].text("name") == "bob" && !mine[1].isDeleted, "its values were read")
        #expect(mine[0].text("name") == nil && mine[0].isDeleted && mine[2].text("name") == nil && mine[2].isDeleted)
        #expect(child.deletedObjects == [mine[0], mine[2]])
        try child.save()
        #expect(mine[0].managedObjectContext == nil && !child.hasChanges)
        #expect(theirs.text("name") == nil && !theirs.isDeleted)
        strict.insert(Person(entity: ann.entity, insertInto: nil))
        let error = #expect(throws: (any Error).self) { try strict.save() } as? NSError
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }

    @Test(arguments: StoreKind.allCases)
    func `Values of every kind come from the parent and go back`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let values: [String: Any] = [
            "int16": 1, "int32": 2, "int64": 3, "double": 4.5, "float": 5.5, "decimal": NSDecimalNumber(string: "6.25"), "string": "seven",
            "bool": true, "date": Date(timeIntervalSinceReferenceDate: 8), "data": Data([9]), "uuid": UUID(),
            "uri": URL(string: "https://example.org")!, "transformable": NSArray(array: ["ten"]),
        ]
        let all = stack.insert("Everything", values)
        let context = stack.context.child(), child = context.child()
        func check(_ object: NSManagedObject, _ label: Comment) {
            for (key, value) in values {
                let seen = object.value(forKey: key).map { AttributeCoding.bridged($0) } as? NSObject
                #expect(seen == AttributeCoding.bridged(value) as? NSObject, "\(label): \(key)")
            }
        }
        check(child.own(all), "read")
        let new = stack.insert("Everything", values, into: child)
        try child.save()
        try context.save()
        check(new, "saved")
        check(stack.context.own(new), "pushed")
        try stack.context.save()
        child.refreshAllObjects()
        check(new, "stored")
        for key in values.keys { new.setValue(nil, forKey: key) }
        try child.save()
        #expect(values.keys.allSatisfy { new.value(forKey: $0) == nil && context.own(new).value(forKey: $0) == nil })
    }

    @Test(arguments: StoreKind.allCases)
    func `Large data is read from its file`(kind: StoreKind) throws {
        let photo = NSEntityDescription()
        photo.name = "Photo"
        let image = TestStack.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        photo.properties = [TestStack.attribute("title", .stringAttributeType), image]
        let model = NSManagedObjectModel()
        model.entities = [photo]
        let stack = try TestStack(kind, model: model)
        let data = Data(repeating: 7, count: 10_000)
        let mine = stack.insert("Photo", ["title": "a", "image": data])
        try stack.context.save()
        mine.setValue("b", forKey: "title")
        let child = stack.context.child(), theirs = child.own(mine)
        #expect(theirs.text("title") == "b")
        #expect(theirs.storage?.base?.values[1].isUnset == true, "the parent's value was not copied")
        #expect(theirs.value(forKey: "image") as? Data == data)
        theirs.setValue(data + data, forKey: "image")
        try child.save()
        #expect(mine.value(forKey: "image") as? Data == data + data && theirs.value(forKey: "image") as? Data == data + data)
    }

    @Test(arguments: StoreKind.allCases)
    func `Transient values go along with the others`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let mine = stack.insert("Diarist", ["title": "a", "note": "root"])
        let child = stack.context.child(), theirs = child.own(mine)
        #expect(theirs.text("title") == "a")
        theirs.setValue("child", forKey: "note")
        try child.save()
        #expect(mine.text("note") == "child" && theirs.text("note") == "child")
        try stack.context.save()
        #expect(mine.text("note") == "child")
    }

    @Test
    func `A failed read in a child is not a failure of the parent`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        let first = try TestStack(.recordLog, at: url)
        for number in 0..<200 { first.insert("Person", ["name": "\(number) " + String(repeating: "n", count: 500)]) }
        try first.context.save()
        try first.store.log?.checkpoint()
        for store in first.coordinator.persistentStores { try first.coordinator.remove(store) }
        let bytes = try Data(contentsOf: url)
        let stack = try TestStack(.recordLog, at: url, options: [NSRecordLogMemoryMappingOption: false])
        let runtime = stack.context.runtime(for: try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"]))
        let child = stack.context.child()
        let mine = try #require(child.object(for: ObjectKey(slot: runtime.slot, row: 100)))
        let handle = try FileHandle(forUpdating: url)
        try handle.truncate(atOffset: 8192)
        #expect(mine.text("name") == nil)
        try handle.seek(toOffset: 8192)
        try handle.write(contentsOf: bytes[8192...])
        try handle.close()
        stack.insert("Tag", ["label": "t"], into: child)
        let error = #expect(throws: (any Error).self) { try child.save() } as? NSError
        #expect(error?.code == NSPersistentStoreSaveError && stack.context.readingFailure == nil && !stack.context.hasChanges)
        child.rollback()
        #expect(mine.text("name")?.hasPrefix("99 ") == true)
        stack.insert("Tag", ["label": "t"], into: child)
        try child.save()
        try stack.context.save()
    }
}
