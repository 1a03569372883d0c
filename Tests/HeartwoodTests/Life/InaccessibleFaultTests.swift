import Foundation
import Testing

@testable import Heartwood

/// Objects whose row another context has deleted.
@Suite struct InaccessibleFaultTests {
    /// A context, and a fault in it without a row.
    private func vanish(_ stack: TestStack) throws -> (NSManagedObjectContext, Diarist) {
        let mine = try stack.savedDiarist("one")
        let context = stack.newContext()
        let fault = context.object(with: mine.objectID) as! Diarist
        stack.context.delete(mine)
        try stack.context.save()
        return (context, fault)
    }

    @Test(arguments: StoreKind.allCases)
    func `Inaccessible faults do not exist for the context`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let (context, fault) = try vanish(stack)
        let error = #expect(throws: (any Error).self) { try context.existingObject(with: fault.objectID) } as? NSError
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(fault.isFault && !fault.isDeleted && fault.look() == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `An inaccessible fault counts as deleted once it fires`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let (context, fault) = try vanish(stack)
        #expect(context.shouldDeleteInaccessibleFaults)
        #expect(fault.title == nil && fault.value(forKey: "count") == nil)
        #expect((fault.value(forKey: "friends") as? NSSet)?.count == 0)
        #expect(!fault.isFault && fault.isDeleted && context.deletedObjects == [fault])
        #expect(fault.look() == [], "nothing was fetched")
        context.rollback()
        #expect(fault.isFault && !fault.isDeleted && !context.hasChanges)
        #expect(fault.title == nil && fault.isDeleted)
        let other = stack.insert("Diarist", ["title": "two"], into: context)
        try context.save()
        #expect(!fault.isDeleted && fault.managedObjectContext == nil && !other.isInserted)
        #expect(try stack.fetch("Diarist").count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `An inaccessible fault is an error if the context says so`(kind: StoreKind) throws {
        let stack = try Diarist.stack(kind)
        let (context, fault) = try vanish(stack)
        context.shouldDeleteInaccessibleFaults = false
        #expect(fault.title == nil && !fault.isDeleted && fault.isFault && !context.hasChanges)
        stack.insert("Diarist", ["title": "two"], into: context)
        let error = #expect(throws: (any Error).self) { try context.save() } as? NSError
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [fault])
        #expect(error?.localizedDescription.contains("could not fulfill a fault") == true)
        context.rollback()
        stack.insert("Diarist", ["title": "two"], into: context)
        try context.save()
        #expect(try stack.fetch("Diarist").count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `A context may decide for each inaccessible fault`(kind: StoreKind) throws {
        final class Picky: NSManagedObjectContext, @unchecked Sendable {
            var asked: [NSManagedObjectID] = []

            override func shouldHandleInaccessibleFault(
                _ fault: NSManagedObject, for objectID: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
            ) -> Bool {
                asked.append(objectID)
                return false
            }
        }
        let stack = try Diarist.stack(kind)
        let (_, fault) = try vanish(stack)
        let context = Picky(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        let mine = context.object(with: fault.objectID) as! Diarist
        #expect(mine.title == nil && mine.title == nil && !mine.isDeleted)
        #expect(context.asked == [fault.objectID])
    }
}
