import Foundation
import Testing

@testable import Heartwood

/// A program that loads its model twice uses entities of one copy with a store of the other: a class's `entity()` has no context to ask.
@Suite struct CopiedModelTests {
    @Test(arguments: StoreKind.batching)
    func `A copy's entity stands for the model's own in objects, requests and batches`(kind: StoreKind) throws {
        let stack = try TestStack(kind), context = stack.context
        let copy = try #require(stack.coordinator.managedObjectModel.copy() as? NSManagedObjectModel)
        let foreign = try #require(copy.entitiesByName["Person"]), own = stack.coordinator.managedObjectModel.entitiesByName["Person"]
        #expect(foreign !== own)

        let person = Person(entity: foreign, insertInto: context)
        person.name = "object"
        #expect(person.entity === own && person.objectID.entity === own)
        try context.save()

        let insertion = NSBatchInsertRequest(entity: foreign, objects: [["name": "batch"]])
        #expect(try (context.execute(insertion) as? NSBatchInsertResult)?.result as? Bool == true)

        let update = NSBatchUpdateRequest(entity: foreign)
        update.propertiesToUpdate = ["age": 5]
        update.resultType = .updatedObjectsCountResultType
        #expect(try (context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)

        let request = NSFetchRequest<Person>()
        request.entity = foreign
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.predicate = NSPredicate(format: "age == 5")
        #expect(try context.fetch(request).map(\.name) == ["batch", "object"] && context.count(for: request) == 2)
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.count == 2)

        let ids = NSFetchRequest<any NSFetchRequestResult>()
        ids.entity = foreign
        let deletion = NSBatchDeleteRequest(fetchRequest: ids)
        deletion.resultType = .resultTypeCount
        #expect(try (context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 2)
    }

    @Test
    func `The error for an entity of another version says that no store holds it`() throws {
        let stack = try TestStack(.inMemory)
        let copy = try #require(stack.coordinator.managedObjectModel.copy() as? NSManagedObjectModel)
        let foreign = try #require(copy.entitiesByName["Person"])
        foreign.versionHashModifier = "other"
        let request = NSFetchRequest<Person>()
        request.entity = foreign
        let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
        #expect(error?.errorCode == NSPersistentStoreOperationError)
    }
}
