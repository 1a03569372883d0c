import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct NotificationQuestions {
    private let didSave = Notification.Name.NSManagedObjectContextDidSave
    private let willSave = Notification.Name.NSManagedObjectContextWillSave
    private let didChange = Notification.Name.NSManagedObjectContextObjectsDidChange

    @Test(.reference("nsmanagedobjectcontext/didsaveobjectsnotification"), arguments: StoreKind.allCases)
    func `A save posts will-save, then did-save, for its context`(kind: StoreKind) throws {
        let stack = try Stack(kind), heard = Heard(willSave, didSave, of: stack.context)
        try stack.saved("Book")
        #expect(heard.names == [willSave, didSave] && heard.all.allSatisfy { $0.object as? NSManagedObjectContext === stack.context })
    }

    @Test(.reference("nsmanagedobjectcontext/willsaveobjectsnotification"), arguments: StoreKind.allCases)
    func `Will-save has no user info`(kind: StoreKind) throws {
        let stack = try Stack(kind), heard = Heard(willSave, of: stack.context)
        try stack.saved("Book")
        #expect(heard.last?.userInfo?.isEmpty ?? true)
    }

    @Test(.reference("nsmanagedobjectcontext/didchangeobjectsnotification"), arguments: StoreKind.allCases)
    func `Did-change comes before did-save`(kind: StoreKind) throws {
        let stack = try Stack(kind), heard = Heard(didChange, didSave, of: stack.context)
        try stack.saved("Book")
        #expect(heard.names.first == didChange && heard.names.last == didSave)
    }

    @Test(.header("NSManagedObjectContext", "NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey"), arguments: StoreKind.allCases)
    func `Did-save has sets of what was inserted, updated and deleted`(kind: StoreKind) throws {
        let stack = try Stack(kind), changed = try stack.saved("Book"), gone = try stack.saved("Book")
        let heard = Heard(didSave, of: stack.context)
        let new = stack.new("Book")
        changed.setValue("x", forKey: "title")
        stack.context.delete(gone)
        try stack.context.save()
        #expect(heard.objects(NSInsertedObjectsKey) == [new] && heard.objects(NSUpdatedObjectsKey) == [changed])
        #expect(heard.objects(NSDeletedObjectsKey) == [gone])
    }

    @Test(.header("NSManagedObjectContext", "NSManagedObjectContextDidSaveObjectIDsNotification"), arguments: StoreKind.allCases)
    func `Did-save's IDs are posted in a notification of their own, permanent ones`(kind: StoreKind) throws {
        let stack = try Stack(kind), gone = try stack.saved("Book")
        let heard = Heard(.NSManagedObjectContextDidSaveObjectIDs, of: stack.context)
        let new = stack.new("Book"), id = gone.objectID
        stack.context.delete(gone)
        try stack.context.save()
        #expect(heard.ids(NSInsertedObjectIDsKey) == [new.objectID] && !new.objectID.isTemporaryID)
        #expect(heard.ids(NSDeletedObjectIDsKey) == [id])
    }

    @Test(.source("Public code for Apple's platforms reads userInfo[\"inserted\"] and its like"))
    func `The keys are the documented texts`() {
        #expect(NSInsertedObjectsKey == "inserted" && NSUpdatedObjectsKey == "updated" && NSDeletedObjectsKey == "deleted")
        #expect(NSRefreshedObjectsKey == "refreshed" && NSInvalidatedObjectsKey == "invalidated")
        #expect(NSInvalidatedAllObjectsKey == "invalidatedAll")
    }

    @Test(.reference("nsmanagedobjectcontext"))
    func `The names of the class are the names of the constants`() {
        #expect(NSManagedObjectContext.didSaveObjectsNotification == didSave)
        #expect(NSManagedObjectContext.willSaveObjectsNotification == willSave)
        #expect(NSManagedObjectContext.didChangeObjectsNotification == didChange)
        #expect(NSManagedObjectContext.didSaveObjectIDsNotification == .NSManagedObjectContextDidSaveObjectIDs)
        #expect(NSManagedObjectContext.didMergeChangesObjectIDsNotification == .NSManagedObjectContextDidMergeChangesObjectIDs)
    }

    @Test(.reference("nsmanagedobjectcontext/notificationkey"))
    func `The typed keys are the constants' texts`() {
        #expect(NSManagedObjectContext.NotificationKey.insertedObjects.rawValue == NSInsertedObjectsKey)
        #expect(NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue == NSUpdatedObjectIDsKey)
        #expect(NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue == NSInvalidatedAllObjectsKey)
    }

    @Test(.header("NSManagedObjectContext", "processPendingChanges"), arguments: StoreKind.allCases)
    func `processPendingChanges() posts did-change with what changed since`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), heard = Heard(didChange, of: stack.context)
        book.setValue("x", forKey: "title")
        let new = stack.new("Author")
        #expect(heard.all.isEmpty)
        stack.context.processPendingChanges()
        #expect(heard.all.count == 1 && heard.objects(NSUpdatedObjectsKey) == [book] && heard.objects(NSInsertedObjectsKey) == [new])
        stack.context.processPendingChanges()
        #expect(heard.all.count == 1)
    }

    @Test(.header("NSManagedObjectContext", "processPendingChanges"), arguments: StoreKind.allCases)
    func `Several changes of one object are one did-change`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), heard = Heard(didChange, of: stack.context)
        for pages in 1...5 { book.setValue(pages, forKey: "pages") }
        stack.context.processPendingChanges()
        #expect(heard.all.count == 1)
    }

    @Test(.header("NSManagedObjectContext", "NSRefreshedObjectsKey"), arguments: StoreKind.allCases)
    func `A refresh is in did-change as refreshed`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), heard = Heard(didChange, of: stack.context)
        stack.context.refresh(book, mergeChanges: false)
        stack.context.processPendingChanges()
        #expect(heard.objects(NSRefreshedObjectsKey) == [book])
    }

    @Test(.header("NSManagedObjectContext", "NSInvalidatedAllObjectsKey"), arguments: StoreKind.allCases)
    func `A reset is in did-change as all invalidated`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book")
        let heard = Heard(didChange, of: stack.context)
        stack.context.reset()
        stack.context.processPendingChanges()
        #expect(heard.all.contains { $0.userInfo?[NSInvalidatedAllObjectsKey] != nil })
    }

    @Test(.header("NSManagedObjectContext", "NSManagedObjectContextDidMergeChangesObjectIDsNotification"), arguments: StoreKind.allCases)
    func `A merge posts did-merge with the IDs`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        let saved = Heard(didSave, of: stack.context), heard = Heard(.NSManagedObjectContextDidMergeChangesObjectIDs, of: other)
        _ = mine.text("title")
        book.setValue("x", forKey: "title")
        try stack.context.save()
        other.mergeChanges(fromContextDidSave: try #require(saved.last))
        #expect(heard.all.count == 1 && heard.ids(NSUpdatedObjectIDsKey) == [book.objectID])
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B13)"))
    func `Did-merge has refreshed IDs`() throws {
        let stack = try Stack(), book = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        let saved = Heard(didSave, of: stack.context), heard = Heard(.NSManagedObjectContextDidMergeChangesObjectIDs, of: other)
        _ = mine.text("title")
        book.setValue("x", forKey: "title")
        try stack.context.save()
        other.mergeChanges(fromContextDidSave: try #require(saved.last))
        #expect(heard.ids(NSRefreshedObjectIDsKey) == [book.objectID])
    }

    @Test(.header("NSManagedObjectContext", "mergeChangesFromContextDidSaveNotification:"), arguments: StoreKind.allCases)
    func `A merge is in the context's did-change as updated or refreshed`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        let saved = Heard(didSave, of: stack.context), heard = Heard(didChange, of: other)
        _ = mine.text("title")
        book.setValue("x", forKey: "title")
        try stack.context.save()
        other.mergeChanges(fromContextDidSave: try #require(saved.last))
        other.processPendingChanges()
        #expect(heard.objects(NSRefreshedObjectsKey).union(heard.objects(NSUpdatedObjectsKey)) == [mine])
    }

    @Test(.reference("nsmanagedobjectcontext/didsaveobjectsnotification"), arguments: StoreKind.allCases)
    func `A save that fails posts no did-save`(kind: StoreKind) throws {
        let stack = try Stack(kind, Sketch.items([Sketch.attribute("must", optional: false)])), heard = Heard(didSave, of: stack.context)
        stack.new("Item")
        #expect(stack.codes() == [1570] && heard.all.isEmpty)
    }

    @Test(.reference("nsmanagedobjectcontext/willsaveobjectsnotification"), arguments: StoreKind.allCases)
    func `An insertion by an observer of will-save is saved too`(kind: StoreKind) throws {
        let stack = try Stack(kind), context = stack.context
        let token = NotificationCenter.default.addObserver(forName: willSave, object: context, queue: nil) { _ in
            if context.insertedObjects.count == 1 { _ = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try stack.saved("Book")
        #expect(try stack.count("Author", in: stack.sibling()) == 1)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B14)"))
    func `A save without changes posts will-save and did-save`() throws {
        let stack = try Stack(), heard = Heard(willSave, didSave, of: stack.context)
        try stack.context.save()
        #expect(heard.names == [willSave, didSave])
    }

    @Test(.header("NSPersistentStoreCoordinator", "NSAddedPersistentStoresKey, NSRemovedPersistentStoresKey"), arguments: StoreKind.allCases)
    func `Adding and removing a store posts stores-did-change with the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), store = stack.store
        let heard = Heard(.NSPersistentStoreCoordinatorStoresDidChange, of: stack.coordinator)
        let second = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect((heard.last?.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore])?.first === second)
        try stack.coordinator.remove(store)
        #expect((heard.last?.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore])?.first === store)
    }

    @Test(.reference("nspersistentstorecoordinatorwillremovestorenotification"), arguments: StoreKind.allCases)
    func `Removing a store posts will-remove-store, while the store is there`(kind: StoreKind) throws {
        let stack = try Stack(kind), heard = Heard(.NSPersistentStoreCoordinatorWillRemoveStore, of: stack.coordinator)
        try stack.coordinator.remove(stack.store)
        #expect(heard.all.count == 1 && stack.coordinator.persistentStores.isEmpty)
    }

    @Test(.reference("nspersistentstorecoordinatorwillremovestorenotification"))
    func `Will-remove-store has no user info`() throws {
        let stack = try Stack(), heard = Heard(.NSPersistentStoreCoordinatorWillRemoveStore, of: stack.coordinator)
        try stack.coordinator.remove(stack.store)
        #expect(heard.last?.userInfo?.isEmpty ?? true)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B16)"))
    func `Adding a store posts no stores-will-change`() throws {
        let stack = try Stack(), heard = Heard(.NSPersistentStoreCoordinatorStoresWillChange, of: stack.coordinator)
        try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(heard.all.isEmpty)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B16)"))
    func `After a store's migration stores-did-change has the old store, the new one and the IDs`() throws {
        let stack = try Stack(.database), heard = Heard(.NSPersistentStoreCoordinatorStoresDidChange, of: stack.coordinator)
        try stack.saved("Book")
        try stack.coordinator.migratePersistentStore(
            stack.store, to: stack.url.appendingPathExtension("new"), options: StoreKind.quickOptions, withType: stack.kind.type)
        let lists = heard.all.compactMap { $0.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] }
        #expect(lists.first?.count == 3)
    }

    @Test(.reference("nsmanagedobjectcontext/parent"), arguments: StoreKind.allCases)
    func `A child's save changes the parent, which posts did-change`(kind: StoreKind) throws {
        let stack = try Stack(kind), child = stack.child(), heard = Heard(didChange, of: stack.context)
        stack.new("Book", in: child)
        try child.save()
        stack.context.processPendingChanges()
        #expect(heard.all.flatMap { $0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [] }.count == 1)
    }
}
