import Foundation
import Testing

@testable import Heartwood

@Suite struct DeliveryTests {
    private func stack() throws -> TestStack {
        let stack = try TestStack(.inMemory)
        for (name, age) in [("ada", 1), ("bob", 2), ("cid", 2)] { stack.insert("Person", ["name": name, "age": age]) }
        try stack.context.save()
        return stack
    }

    @Test
    func `A delegate that takes snapshots gets nothing else`() throws {
        let stack = try stack()
        let controller = stack.controller(sort: ["age", "name"], sections: "age"), keeper = SnapshotKeeper()
        controller.delegate = keeper
        #expect(keeper.calls == 0)
        try controller.performFetch()
        #expect(keeper.calls == 1 && keeper.others == 0)
        var snapshot = try #require(keeper.snapshot)
        let ids = controller.fetchedObjects?.map(\.objectID) ?? []
        #expect(snapshot.sectionIdentifiers == ["1", "2"] && snapshot.itemIdentifiers == ids)
        #expect(snapshot.numberOfItems == 3 && snapshot.numberOfSections == 2 && snapshot.numberOfItems(inSection: "2") == 2)
        #expect(snapshot.itemIdentifiersInSection(withIdentifier: "2") == Array(ids[1...]))
        #expect(snapshot.itemIdentifiersInSection(withIdentifier: "9") == [] && snapshot.numberOfItems(inSection: "9") == 0)
        #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: ids[2]) == "2" && snapshot.index(ofItemIdentifier: ids[1]) == 1)
        #expect(snapshot.index(ofSectionIdentifier: "2") == 1 && snapshot.index(ofSectionIdentifier: "x") == NSNotFound)
        #expect(snapshot.reloadedItemIdentifiers == [] && snapshot.reloadedSectionIdentifiers == [])

        controller.fetchedObjects?[1].setValue("b@b.b", forKey: "email")
        let eve = stack.insert("Person", ["name": "eve", "age": 0])
        stack.context.processPendingChanges()
        #expect(keeper.calls == 2 && keeper.others == 0)
        let old = snapshot
        snapshot = try #require(keeper.snapshot)
        #expect(snapshot.sectionIdentifiers == ["0", "1", "2"] && snapshot.reloadedItemIdentifiers == [ids[1]])
        #expect(snapshot.itemIdentifiers.first?.isTemporaryID == true && old.numberOfItems == 3)
        // A save assigns another ID.
        try stack.context.save()
        #expect(keeper.calls == 3 && keeper.snapshot?.itemIdentifiers.first == eve.objectID)
        #expect(old.index(ofItemIdentifier: eve.objectID) == NSNotFound)
        #expect(old.sectionIdentifier(forSectionContainingItemIdentifier: eve.objectID) == nil)
        try stack.context.save()
        #expect(keeper.calls == 3)
    }

    @Test
    func `A delegate that takes differences gets them if there are no sections`() throws {
        let stack = try stack()
        let controller = stack.controller(), keeper = DifferenceKeeper()
        controller.delegate = keeper
        try controller.performFetch()
        keeper.ids = controller.fetchedObjects?.map(\.objectID) ?? []
        #expect(keeper.calls == 0)
        let people = controller.fetchedObjects ?? []
        people[0].name = "zoe"
        stack.context.delete(people[1])
        people[2].setValue("c@c.c", forKey: "email")
        stack.context.processPendingChanges()
        #expect(keeper.calls == 1 && keeper.others == 0 && keeper.ids == [people[2].objectID, people[0].objectID])
        let pairs = keeper.newest?.compactMap { change -> String? in
            if case .remove(let offset, _, let associated) = change { return "\(offset) \(associated.map(String.init) ?? "-")" }
            return nil
        }
        #expect(Set(pairs ?? []) == ["0 1", "1 -", "2 0"])
        stack.insert("Person", ["name": "eve"])
        stack.context.processPendingChanges()
        let temporary = keeper.ids
        try stack.context.save()
        #expect(keeper.ids != temporary && keeper.ids.allSatisfy { !$0.isTemporaryID } && !keeper.isBroken)

        let sectioned = stack.controller(sort: ["age", "name"], sections: "age"), second = DifferenceKeeper()
        sectioned.delegate = second
        try sectioned.performFetch()
        stack.insert("Person", ["name": "fay"])
        stack.context.processPendingChanges()
        #expect(second.calls == 0 && second.others == 1)
    }

    @Test
    func `The way of delivery is found for a delegate that is set late`() throws {
        let stack = try stack()
        let controller = stack.controller()
        try controller.performFetch()
        let mirror = ListMirror(), snapshots = SnapshotKeeper(), differences = DifferenceKeeper()
        mirror.start(controller)
        stack.insert("Person", ["name": "abe"])
        stack.context.processPendingChanges()
        #expect(mirror.takeLog() == ["will", "insert abe - 0.0", "did"] && mirror.problems == [])
        controller.delegate = snapshots
        stack.insert("Person", ["name": "eve"])
        stack.context.processPendingChanges()
        #expect(snapshots.calls == 1 && snapshots.snapshot?.numberOfItems == 5 && mirror.log == [])
        controller.delegate = differences
        differences.ids = snapshots.snapshot?.itemIdentifiers ?? []
        stack.insert("Person", ["name": "fay"])
        stack.context.processPendingChanges()
        #expect(differences.calls == 1 && differences.ids.count == 6 && snapshots.calls == 1)
    }

    @Test
    func `The delegate gets the controller that changed`() throws {
        final class Asker: NSFetchedResultsControllerDelegate {
            var known: NSFetchedResultsController<Person>?
            var answers: [String] = []

            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                answers.append("\(controller === known) \(controller == known)")
                answers.append("\(controller.fetchedObjects?.count ?? -1)")
                answers.append((controller.object(at: IndexPath(row: 0, section: 0)) as? Person)?.name ?? "-")
                answers.append(controller.fetchRequest.entityName ?? "-")
                let first = controller.object(at: IndexPath(row: 1, section: 0))
                answers.append(ListMirror.text(controller.indexPath(forObject: first)))
                answers.append((controller.sections?[0].objects?.first as? Person)?.name ?? "-")
            }
        }
        let stack = try stack()
        let asker = Asker()
        let controller = stack.controller()
        asker.known = controller
        controller.delegate = asker
        try controller.performFetch()
        stack.insert("Person", ["name": "abe"])
        stack.context.processPendingChanges()
        #expect(asker.answers == ["true true", "4", "abe", "Person", "0.1", "abe"])
        asker.known = nil
        // A controller that was made with the delegate's type is the same object.
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let erased = NSFetchedResultsController(fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
        try erased.performFetch()
        #expect((erased.fetchedObjects?.last as? Person)?.name == "cid")
    }

    /// In a view controller's form.
    @MainActor final class List {
        let controller: NSFetchedResultsController<Person>
        private(set) var titles: [String] = []
        /// Has an element for each change of the titles.
        let (changes, shown) = AsyncStream.makeStream(of: Void.self)

        init(_ context: NSManagedObjectContext) throws {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            controller = NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            controller.delegate = self
            try controller.performFetch()
        }

        func show() {
            titles = controller.fetchedObjects?.compactMap(\.name) ?? []
            shown.yield()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    @MainActor func `A list on the main actor follows the main context`() async throws {
        let model = TestStack.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.persistentStoreCoordinator = coordinator
        main.automaticallyMergesChangesFromParent = true
        let list = try List(main)
        var changes = list.changes.makeAsyncIterator()
        let background = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        background.persistentStoreCoordinator = coordinator
        try await background.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Person", into: background).setValue("ada", forKey: "name")
            try background.save()
        }
        await changes.next()
        #expect(list.titles == ["ada"])
        // A change outside of every block is reported when the queue gets to it.
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: main).setValue("bob", forKey: "name")
        await changes.next()
        #expect(list.titles == ["ada", "bob"])
    }
}

extension DeliveryTests.List: @preconcurrency NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { show() }
}
