import CoreData
import Foundation
import Testing

// What mocks override.

private final class FakeTransaction: NSPersistentHistoryTransaction, @unchecked Sendable {
    override var author: String? { "tests" }
    override var changes: [NSPersistentHistoryChange]? { [FakeChange()] }
    override var token: NSPersistentHistoryToken { NSPersistentHistoryToken() }
}

private final class FakeChange: NSPersistentHistoryChange, @unchecked Sendable {
    override var changeType: NSPersistentHistoryChangeType { .delete }
    override var changedObjectID: NSManagedObjectID { FakeID() }
}

private final class FakeID: NSManagedObjectID, @unchecked Sendable {
    override init() { super.init() }
    override var isTemporaryID: Bool { false }
    override func uriRepresentation() -> URL { URL(string: "x-coredata://fake/A/p1")! }
}

private final class FakeHistoryRequest: NSPersistentHistoryChangeRequest {}

private final class MergeSpy: NSManagedObjectContext, @unchecked Sendable {
    var calls: [String] = []

    override func mergeChanges(fromContextDidSave notification: Notification) {
        calls.append("merge")
        super.mergeChanges(fromContextDidSave: notification)
    }

    override var parent: NSManagedObjectContext? {
        get { super.parent }
        set {
            calls.append("parent")
            super.parent = newValue
        }
    }

    override var undoManager: UndoManager? {
        get { super.undoManager }
        set {
            calls.append("undoManager")
            super.undoManager = newValue
        }
    }

    override func undo() {
        calls.append("undo")
        super.undo()
    }
}

private final class ExecutingSpy: NSPersistentStoreCoordinator, @unchecked Sendable {
    var calls: [String] = []

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        calls.append("execute")
        return try super.execute(request, with: context)
    }

    override func perform(_ block: @escaping () -> Void) {
        calls.append("perform")
        block()
    }

    override func performAndWait(_ block: () -> Void) {
        calls.append("performAndWait")
        super.performAndWait(block)
    }

    override var managedObjectModel: NSManagedObjectModel {
        calls.append("model")
        return super.managedObjectModel
    }
}

private final class ResultsStub: NSFetchedResultsController<Tag> {
    var stubbed: [Tag] = []

    override var fetchedObjects: [Tag]? { stubbed }
    override func object(at indexPath: IndexPath) -> Tag { indexPath.section == 9 ? stubbed[0] : super.object(at: indexPath) }
}

final class WatchedTag: NSManagedObject {
    override func changedValues() -> [String: Any] { super.changedValues().merging(["seen": true]) { $1 } }
}

private final class AnsweringManager: NSMigrationManager, @unchecked Sendable {
    override func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        guard selector == "shout:" else { return try super.value(ofFunction: selector, arguments: arguments) }
        return (arguments.first as? String)?.uppercased()
    }
}

@MainActor @Suite struct OverrideTests {
    @Test func aHistoryIsMadeUp() {
        let transaction: NSPersistentHistoryTransaction = FakeTransaction()
        let change = transaction.changes?.first
        #expect(transaction.author == "tests" && change?.changeType == .delete && change?.changedObjectID.isTemporaryID == false)
        #expect(change?.changedObjectID.uriRepresentation().host == "fake" && transaction != FakeTransaction())
        let info = transaction.objectIDNotification().userInfo
        #expect((info?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
        let request: FakeHistoryRequest = FakeHistoryRequest.fetchHistory(after: Date(timeIntervalSince1970: 0))
        #expect(request.resultType == .transactionsAndChanges && FakeHistoryRequest.deleteHistory(before: Date()).resultType == .statusOnly)
    }

    @Test func aContextsSpyHearsOfMergesParentsAndUndo() throws {
        let container = PersistenceController(inMemory: true).container
        let spy = MergeSpy(concurrencyType: .mainQueueConcurrencyType)
        spy.parent = container.viewContext
        spy.undoManager = UndoManager()
        spy.undo()
        spy.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave, object: nil, userInfo: [:]))
        #expect(spy.calls == ["parent", "undoManager", "undo", "merge"] && spy.parent === container.viewContext && spy.undoManager != nil)
    }

    @Test func aCoordinatorsSpyIsAskedToExecuteAndPerform() throws {
        let spy = ExecutingSpy(managedObjectModel: PersistenceController.model)
        try spy.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = spy
        spy.calls = []
        _ = try spy.execute(NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag"), with: context)
        spy.perform {}
        let five = spy.performAndWait { 5 }
        _ = (spy as NSPersistentStoreCoordinator).managedObjectModel
        #expect(five == 5 && spy.calls == ["execute", "perform", "performAndWait", "model"])
    }

    @Test func aResultsControllersStubGivesItsOwn() throws {
        let context = PersistenceController(inMemory: true).container.viewContext
        let kept = Tag(name: "kept", context: context), stubbed = Tag(name: "stubbed", context: context)
        let request = NSFetchRequest<Tag>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.predicate = NSPredicate(format: "name == 'kept'")
        let stub = ResultsStub(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try stub.performFetch()
        stub.stubbed = [stubbed]
        let plain: NSFetchedResultsController<Tag> = stub
        #expect(stub.fetchedObjects == [stubbed] && plain.fetchedObjects == [stubbed] && stub.sections?.first?.numberOfObjects == 1)
        let away = IndexPath(indexes: [9, 0]), first = IndexPath(indexes: [0, 0])
        #expect(plain.object(at: away) == stubbed && plain.object(at: first) == kept && stub.object(at: first) == kept)
        final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
            var seen: [Any] = []
            func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
                seen = controller.fetchedObjects ?? []
            }
        }
        let delegate = Delegate()
        stub.delegate = delegate
        kept.name = "kept"
        context.delete(kept)
        context.processPendingChanges()
        #expect(delegate.seen as? [Tag] == [stubbed])
    }

    @Test func anObjectSaysMoreOfItsChanges() throws {
        let entity = NSEntityDescription()
        entity.name = "Watched"
        entity.managedObjectClassName = NSStringFromClass(WatchedTag.self)
        let object: NSManagedObject = WatchedTag(entity: entity, insertInto: nil)
        #expect(object.changedValues()["seen"] as? Bool == true)
    }

    @Test func aMigrationManagersSubclassAnswersFunctions() throws {
        let model = PersistenceController.model
        let manager = AnsweringManager(sourceModel: model, destinationModel: model)
        let call = NSExpression(format: "FUNCTION($manager, \"shout:\", \"a\")")
        #expect(call.expressionValue(with: nil, context: [NSMigrationManagerKey: manager]) as? String == "A")
        #expect(throws: CocoaError.self) { try manager.value(ofFunction: "whisper:", arguments: []) }
    }
}
