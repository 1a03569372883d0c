import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Contexts that are pinned to a commit, beside one that saves.
@Suite struct GenerationTests {
    /// Ada and Ben in a group with a tag; after `reader` is pinned, other contexts change all of it.
    private struct Scene {
        let stack: TestStack
        let reader: NSManagedObjectContext
        let writer: NSManagedObjectContext

        init(_ kind: StoreKind) throws {
            stack = try TestStack(kind)
            let group = stack.insert("Group", ["title": "g"]), tag = stack.insert("Tag", ["label": "x"])
            for (name, age) in [("Ada", 1), ("Ben", 2)] {
                stack.insert("Person", ["name": name, "age": age, "group": group, "tags": NSSet(object: tag)])
            }
            try stack.context.save()
            reader = stack.newContext()
            writer = stack.newContext()
            try reader.setQueryGenerationFrom(.current)
        }

        func change() throws {
            let group = try stack.fetch("Group", in: writer)[0]
            group.setValue("G", forKey: "title")
            let people = try stack.fetch("Person", sort: [NSSortDescriptor(key: "name", ascending: true)], in: writer)
            people[0].setValue(10, forKey: "age")
            writer.delete(people[1])
            stack.insert("Person", ["name": "Cy", "age": 3, "group": group], into: writer)
            try writer.save()
        }

        var names: [String] { get throws { try stack.names(in: reader) } }

        func person(_ name: String) throws -> NSManagedObject? { try stack.fetch("Person", "name == %@", [name], in: reader).first }
    }

    @Test(arguments: StoreKind.keepingStates)
    func `A pinned context reads one commit while others save`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack, reader = scene.reader
        let known = try #require(try scene.person("Ben"))
        try scene.change()
        #expect(known.isFault && known.value(forKey: "age") as? Int == 2, "a fault of what is deleted meanwhile fires")
        #expect(try scene.names == ["Ada", "Ben"] && stack.names(in: reader, "age == 1") == ["Ada"])
        let group = try #require(try stack.fetch("Group", in: reader).first)
        #expect(group.countOfManagedObjects(at: group.propertyIndex("people")) == 2)
        #expect(group.text("title") == "g" && Set(group.many("people").map { $0.text("name") }) == ["Ada", "Ben"])
        #expect(try stack.fetch("Tag", in: reader)[0].many("people").count == 2)
        #expect(try stack.names(in: reader, "group.title == 'g' AND ANY tags.label == 'x'") == ["Ada", "Ben"])
        #expect(try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == 2)
        let sums = NSFetchRequest<NSDictionary>(entityName: "Person")
        sums.resultType = .dictionaryResultType
        sums.propertiesToFetch = ["name", "age"]
        sums.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        #expect(try reader.fetch(sums).map { $0["age"] as? Int } == [1, 2])
        let pages = NSFetchRequest<NSManagedObject>(entityName: "Person")
        pages.fetchBatchSize = 1
        #expect(try reader.fetch(pages).map { $0.value(forKey: "age") as? Int } == [1, 2])
        let cy = try #require(try stack.fetch("Person", "name == 'Cy'", in: scene.writer).first)
        #expect(failure { _ = try reader.existingObject(with: cy.objectID) }?.code == NSManagedObjectReferentialIntegrityError)
        #expect(try stack.names(in: scene.writer) == ["Ada", "Cy"], "nobody else is pinned")
    }

    @Test(arguments: StoreKind.keepingStates)
    func `The pinned context's changes are on top`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack
        try scene.change()
        stack.insert("Person", ["name": "Dan", "age": 4], into: scene.reader)
        try scene.person("Ada")?.setValue("Eve", forKey: "name")
        #expect(try scene.names == ["Ben", "Dan", "Eve"])
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        let stored = Set(try scene.reader.fetch(request).compactMap { $0["name"] as? String })
        #expect(stored == ["Ada", "Ben"], "dictionaries tell of the commit")
    }

    @Test(arguments: StoreKind.keepingStates)
    func `Unpinning leaves objects that were read as they are`(kind: StoreKind) throws {
        let scene = try Scene(kind)
        let ada = try #require(try scene.person("Ada"))
        #expect(ada.value(forKey: "age") as? Int == 1 && scene.reader.queryGenerationToken != nil)
        try scene.change()
        try scene.reader.setQueryGenerationFrom(nil)
        #expect(scene.reader.queryGenerationToken == nil && ada.value(forKey: "age") as? Int == 1)
        #expect(try scene.names == ["Ada", "Cy"])
        scene.reader.refresh(ada, mergeChanges: true)
        #expect(ada.value(forKey: "age") as? Int == 10)
    }

    enum Step: CaseIterable {
        case save, saveOfNothing, reset, refreshAll, merge, mergeRemote, automatic
    }

    @Test(arguments: StoreKind.keepingStates, Step.allCases)
    func `Some steps move the pinned context to the newest commit; the others do not`(kind: StoreKind, step: Step) throws {
        let scene = try Scene(kind), stack = scene.stack, reader = scene.reader
        let ada = try #require(try scene.person("Ada"))
        #expect(ada.value(forKey: "age") as? Int == 1)
        let token = reader.queryGenerationToken
        if step == .automatic { reader.automaticallyMergesChangesFromParent = true }
        let heard = Heard([.NSManagedObjectContextDidSave], of: scene.writer)
        try scene.change()
        let saved = try #require(heard.take())
        #expect(saved.userInfo?[NSManagedObjectContextQueryGenerationKey] == nil, "the writer is not pinned")
        switch step {
        case .save:
            stack.insert("Tag", ["label": "y"], into: reader)
            let own = Heard([.NSManagedObjectContextDidSave], of: reader)
            try reader.save()
            let told = own.take()?.userInfo?[NSManagedObjectContext.NotificationKey.queryGeneration.rawValue]
            #expect(told as? NSQueryGenerationToken === reader.queryGenerationToken && told != nil)
        case .saveOfNothing: try reader.save()
        case .reset: reader.reset()
        case .refreshAll: reader.refreshAllObjects()
        case .merge: reader.mergeChanges(fromContextDidSave: saved)
        case .mergeRemote:
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [ada.objectID]], into: [reader])
        case .automatic: reader.automaticallyMergesChangesFromParent = false
        }
        #expect(reader.queryGenerationToken != nil && reader.queryGenerationToken !== token)
        #expect(try scene.names == ["Ada", "Cy"])
        switch step {
        case .save, .saveOfNothing: #expect(ada.value(forKey: "age") as? Int == 1, "objects are not refreshed by a save")
        case .reset: #expect(ada.managedObjectContext == nil)
        default: #expect(ada.value(forKey: "age") as? Int == 10)
        }
        stack.insert("Person", ["name": "Dan"], into: scene.writer)
        try scene.writer.save()
        #expect(try scene.names == ["Ada", "Cy"], "still pinned")
    }

    @Test(arguments: StoreKind.keepingStates)
    func `A token gives another context the same commit`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack
        let token = try #require(scene.reader.queryGenerationToken)
        #expect(token.copy() as AnyObject === token)
        try scene.change()
        let other = stack.newContext()
        try other.setQueryGenerationFrom(token)
        #expect(try stack.names(in: other) == ["Ada", "Ben"] && other.queryGenerationToken === token)
        try other.setQueryGenerationFrom(.current)
        #expect(try stack.names(in: other) == ["Ada", "Cy"])
        try other.setQueryGenerationFrom(token)
        #expect(try stack.names(in: other) == ["Ada", "Ben"], "back to the older one")
        let stranger = try TestStack(kind)
        #expect(failure { try stranger.context.setQueryGenerationFrom(token) }?.code == NSPersistentStoreOperationError)
        #expect(stranger.context.queryGenerationToken == nil)
        let bare = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        #expect(failure { try bare.setQueryGenerationFrom(.current) }?.code == NSPersistentStoreOperationError)
    }

    @Test(arguments: StoreKind.keepingStates)
    func `A save of an object that others have changed is a conflict`(kind: StoreKind) throws {
        let scene = try Scene(kind)
        try scene.change()
        let ada = try #require(try scene.person("Ada"))
        ada.setValue("Ada L", forKey: "name")
        #expect(failure { try scene.reader.save() }?.code == NSManagedObjectMergeError)
        #expect(try scene.names == ["Ada L", "Ben"] && ada.value(forKey: "age") as? Int == 1, "a save that fails leaves it where it was")
        scene.reader.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        try scene.reader.save()
        #expect(try scene.names == ["Ada L", "Cy"] && ada.value(forKey: "age") as? Int == 10)
        #expect(try scene.stack.storedNames() == ["Ada L", "Cy"])
    }

    @Test(arguments: StoreKind.keepingStates)
    func `A unique value that another context has taken is a conflict too`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack
        stack.insert("Person", ["name": "Cy", "email": "c@x"], into: scene.writer)
        try scene.writer.save()
        stack.insert("Person", ["name": "Cyrus", "email": "c@x", "age": 7], into: scene.reader)
        #expect(failure { try scene.reader.save() }?.code == NSManagedObjectConstraintMergeError)
        #expect(try scene.names == ["Ada", "Ben", "Cyrus"])
        scene.reader.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        try scene.reader.save()
        #expect(try scene.names == ["Ada", "Ben", "Cyrus"] && stack.storedNames() == ["Ada", "Ben", "Cyrus"])
    }

    @Test(arguments: StoreKind.recordLogs)
    func `A compaction keeps the pinned context's commit`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack
        let ben = try #require(try scene.person("Ben"))
        try scene.change()
        try stack.store.compactRecordLog()
        for age in 20..<30 {
            try stack.fetch("Person", "name == 'Ada'", in: scene.writer)[0].setValue(age, forKey: "age")
            try scene.writer.save()
        }
        try stack.store.compactRecordLog()
        #expect(ben.isFault && ben.value(forKey: "age") as? Int == 2)
        #expect(try scene.names == ["Ada", "Ben"] && scene.person("Ada")?.value(forKey: "age") as? Int == 1)
        #expect(try stack.fetch("Group", in: scene.reader)[0].many("people").count == 2)
        let other = stack.newContext()
        try other.setQueryGenerationFrom(scene.reader.queryGenerationToken)
        #expect(try stack.names(in: other) == ["Ada", "Ben"])
        try scene.reader.setQueryGenerationFrom(.current)
        scene.reader.refreshAllObjects()
        #expect(try scene.names == ["Ada", "Cy"] && scene.person("Ada")?.value(forKey: "age") as? Int == 29)
    }

    /// Another coordinator's handle acts as another process's.
    @Test
    func `Another process may save and compact`() throws {
        let scene = try Scene(.recordLog), stack = scene.stack
        let ben = try #require(try scene.person("Ben"))
        let other = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let store = try other.addPersistentStore(type: .recordLog, at: stack.url, options: [NSRecordLogDurabilityOption: "none"])
        let writer = other.newContext()
        for person in try stack.fetch("Person", in: writer) { writer.delete(person) }
        stack.insert("Person", ["name": "Cy"], into: writer)
        try writer.save()
        try store.compactRecordLog()
        #expect(try scene.names == ["Ada", "Ben"] && ben.value(forKey: "age") as? Int == 2)
        #expect(try stack.fetch("Group", in: scene.reader)[0].many("people").count == 2)
        try scene.reader.setQueryGenerationFrom(.current)
        #expect(try scene.names == ["Cy"])
        try other.remove(store)
    }

    /// A server checks references: there such a save fails, with 133000.
    @Test(arguments: StoreKind.keepingStates.filter { $0 != .postgreSQL })
    func `Delete rules follow the pinned context's state`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack
        stack.insert("Person", ["name": "Cy", "group": try stack.fetch("Group", in: scene.writer)[0]], into: scene.writer)
        try scene.writer.save()
        scene.reader.delete(try stack.fetch("Group", in: scene.reader)[0])
        try scene.reader.save()
        let fresh = stack.anew()
        #expect(try stack.names(in: fresh, "group == nil") == ["Ada", "Ben"])
        let cy = try #require(try stack.fetch("Person", "name == 'Cy'", in: fresh).first)
        #expect(cy.one("group")?.text("title") == nil, "what it points at is gone, and nothing ends the process")
    }

    @Test(arguments: StoreKind.keepingStates)
    func `A child reads the commit that its root is pinned to`(kind: StoreKind) throws {
        let scene = try Scene(kind), stack = scene.stack, child = scene.reader.child()
        try scene.change()
        #expect(try stack.names(in: child) == ["Ada", "Ben"] && child.queryGenerationToken == nil)
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        #expect(Set(try child.fetch(request).compactMap { $0["name"] as? String }) == ["Ada", "Ben"])
        stack.insert("Person", ["name": "Dan"], into: child)
        try child.save()
        #expect(try stack.names(in: child) == ["Ada", "Ben", "Dan"], "a save to the parent is none to a store")
        try scene.reader.save()
        #expect(try stack.names(in: child) == ["Ada", "Cy", "Dan"])
    }

    @Test
    func `A child cannot be pinned`() async {
        await #expect(processExitsWith: .failure) {
            let stack = try TestStack(.inMemory)
            try? stack.context.child().setQueryGenerationFrom(.current)
        }
    }

    @Test
    func `An incremental store is read in its current state`() throws {
        let scene = try Scene(.incremental)
        try scene.change()
        #expect(try scene.names == ["Ada", "Cy"])
    }

    @Test
    func `A store added later is read from the time when it was added`() throws {
        let model = TestStack.model(), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let reader = coordinator.newContext(), writer = coordinator.newContext()
        try reader.setQueryGenerationFrom(.current)
        let store = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/a"))
        func insert(_ name: String) throws {
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: writer).setValue(name, forKey: "label")
            try writer.save()
        }
        try insert("x")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        #expect(try reader.count(for: request) == 1)
        try insert("y")
        #expect(try reader.count(for: request) == 1)
        let tag = try #require(try reader.fetch(request).first)
        try coordinator.remove(store)
        #expect(failure { _ = try reader.count(for: request) }?.code == NSPersistentStoreOperationError)
        reader.refresh(tag, mergeChanges: false)
        #expect(tag.text("label") == nil && reader.readingFailure != nil)
    }
}
