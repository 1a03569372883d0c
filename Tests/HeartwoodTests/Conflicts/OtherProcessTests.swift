import Foundation
import Testing

@testable import Heartwood

/// Two coordinators over one file are as independent as two processes.
@Suite struct OtherProcessTests {
    private func twoStacks() throws -> (TestStack, TestStack) {
        let first = try TestStack(.recordLog)
        return (first, try TestStack(.recordLog, at: first.url))
    }

    private func twin(_ object: NSManagedObject, in stack: TestStack) throws -> NSManagedObject {
        let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: object.objectID.uriRepresentation()))
        return try stack.context.existingObject(with: id)
    }

    @Test
    func `A fetch sees the commits of another process`() throws {
        let (one, two) = try twoStacks()
        one.insert("Person", ["name": "a"])
        try one.context.save()
        #expect(try two.names() == ["a"])
        two.insert("Person", ["name": "b"])
        try two.context.save()
        #expect(try one.names() == ["a", "b"])
        one.context.delete(try #require(try one.fetch("Person", "name == 'a'").first))
        try one.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        #expect(try two.context.count(for: request) == 1)
    }

    @Test
    func `A commit of another process is a conflict with a persisted snapshot`() throws {
        for policy in [NSMergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback] {
            let (one, two) = try twoStacks()
            let mine = one.insert("Person", ["name": "Ada", "age": 5])
            try one.context.save()
            #expect(mine.value(forKey: "name") as? String == "Ada")
            _ = try two.names()
            let theirs = try twin(mine, in: two)
            theirs.setValue("Grace", forKey: "name")
            try two.context.save()
            one.context.mergePolicy = policy
            mine.setValue("Edsger", forKey: "name")
            mine.setValue(6, forKey: "age")
            if policy.mergeType == .errorMergePolicyType {
                let error = #expect(throws: NSError.self) { try one.context.save() }
                let found = try #require((error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
                #expect(found.cachedSnapshot?["name"] as? String == "Ada" && found.persistedSnapshot?["name"] as? String == "Grace")
                continue
            }
            try one.context.save()
            let expected: (String, Int) = switch policy.mergeType {
            case .mergeByPropertyStoreTrumpMergePolicyType: ("Grace", 6)
            case .rollbackMergePolicyType: ("Grace", 5)
            default: ("Edsger", 6)
            }
            #expect(mine.value(forKey: "name") as? String == expected.0 && mine.value(forKey: "age") as? Int == expected.1)
            _ = try two.names()
            two.context.refresh(theirs, mergeChanges: false)
            #expect(theirs.value(forKey: "name") as? String == expected.0 && theirs.value(forKey: "age") as? Int == expected.1)
        }
    }

    @Test
    func `A row with another process's unique value is upserted`() throws {
        let (one, two) = try twoStacks()
        let theirs = two.insert("Person", ["name": "Ada", "email": "a@x"])
        try two.context.save()
        one.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        one.insert("Person", ["name": "Grace", "email": "a@x"])
        try one.context.save()
        #expect(try one.names() == ["Grace"])
        #expect(try two.names() == ["Ada"], "found by the store as it is, shown as it was read")
        two.context.refresh(theirs, mergeChanges: false)
        #expect(theirs.value(forKey: "name") as? String == "Grace")
    }

    @Test
    func `A save of another coordinator's context is merged`() throws {
        let (one, two) = try twoStacks()
        let mine = one.insert("Person", ["name": "Ada"])
        try one.context.save()
        #expect(mine.value(forKey: "name") as? String == "Ada")
        _ = try two.names()
        let heard = Heard([.NSManagedObjectContextDidSave], of: two.context)
        try twin(mine, in: two).setValue("Grace", forKey: "name")
        try two.context.save()
        one.context.mergeChanges(fromContextDidSave: try #require(heard.take()))
        #expect(mine.value(forKey: "name") as? String == "Grace")
    }

    /// Durability decides how a commit reaches the file: by a call that the system reports, or through memory.
    @Test(arguments: ["full", "none"])
    func `A commit of another process is announced`(durability: String) async throws {
        let two = try TestStack(.recordLog)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let heard = Heard([.NSPersistentStoreRemoteChange], of: coordinator)
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: two.url,
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSRecordLogDurabilityOption: durability])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
        let mine = try context.performAndWait {
            let mine = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            mine.setValue("Ada", forKey: "name")
            try context.save()
            #expect(mine.value(forKey: "name") as? String == "Ada")
            return mine
        }
        #expect(heard.take()?.userInfo?[NSStoreUUIDKey] as? String == store.identifier, "its own commits are told of too")
        // Long enough for a second one to come.
        try await Task.sleep(for: .milliseconds(50))
        #expect(heard.all.isEmpty, "once")
        let id = context.performAndWait { mine.objectID.uriRepresentation() }
        let key = try #require(two.coordinator.managedObjectID(forURIRepresentation: id))
        // Made here, since the test may have moved to another thread.
        let theirs = two.newContext()
        _ = try two.fetch("Person", in: theirs)
        theirs.object(with: key).setValue("Grace", forKey: "name")
        try theirs.save()
        #expect(await heard.wait())
        let told = try #require(heard.all.first)
        #expect(told.userInfo?[NSStoreUUIDKey] as? String == store.identifier && told.userInfo?[NSPersistentStoreURLKey] as? URL == two.url)
        #expect(context.performAndWait { mine.value(forKey: "name") as? String } == "Grace", "merged before it was told")
        try coordinator.remove(store)
    }
}
