import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A store that keeps rows in a dictionary and records its calls.
final class Ledger: NSIncrementalStore, @unchecked Sendable {
    // Unchecked: it is called only on the main thread.
    static var calls: [String] = []
    private var rows: [NSManagedObjectID: [String: Any]] = [:]
    private var number = 0

    static func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    override func loadMetadata() throws {
        Self.calls.append("loadMetadata")
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: "Ledger"]
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        Self.calls.append("obtainPermanentIDs \(array.count)")
        return array.map { object in
            number += 1
            return newObjectID(for: object.entity, referenceObject: "r\(number)")
        }
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request {
        case let changes as NSSaveChangesRequest:
            let inserted = changes.insertedObjects ?? [], updated = changes.updatedObjects ?? [], deleted = changes.deletedObjects ?? []
            Self.calls.append("save \(inserted.count) \(updated.count) \(deleted.count)")
            for object in inserted.union(updated) {
                rows[object.objectID] = ["name": object.text("name") ?? "", "number": object.int("number") ?? 0]
            }
            for object in deleted { rows[object.objectID] = nil }
            return []
        case let fetch as NSFetchRequest<any NSFetchRequestResult>:
            Self.calls.append("fetch \(fetch.entityName ?? "-")")
            if fetch.resultType == .countResultType { return [rows.count] }
            guard let context, fetch.resultType == .managedObjectResultType else { return Array(rows.keys) }
            return rows.keys.map { context.object(with: $0) }
        default: throw CocoaError(.persistentStoreUnsupportedRequestType)
        }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        Self.calls.append("newValues")
        guard let row = rows[objectID] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        return NSIncrementalStoreNode(objectID: objectID, withValues: row, version: 1)
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        Self.calls.append("didRegister \(objectIDs.count)")
    }
}

@MainActor struct IncrementalStoreQuestions {
    private func context() throws -> NSManagedObjectContext {
        NSPersistentStoreCoordinator.registerStoreClass(Ledger.self, forStoreType: "Ledger")
        Ledger.calls = []
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sketch.items())
        try coordinator.addPersistentStore(ofType: "Ledger", configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func another(_ context: NSManagedObjectContext) -> NSManagedObjectContext {
        let other = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        return other
    }

    private func item(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        return item
    }

    private let all = NSFetchRequest<NSManagedObject>(entityName: "Item")

    @Test(.reference("nsincrementalstore/loadmetadata()"))
    func `A store loads its metadata when it is added`() throws {
        let context = try context()
        #expect(Ledger.take() == ["loadMetadata"] && context.persistentStoreCoordinator?.persistentStores.first is Ledger)
    }

    @Test(.reference("nsincrementalstore/obtainpermanentids(for:)"))
    func `A save asks for permanent IDs before it comes itself`() throws {
        let context = try context(), one = item("a", context)
        _ = Ledger.take()
        try context.save()
        #expect(Ledger.take().filter { !$0.hasPrefix("didRegister") && $0 != "newValues" } == ["obtainPermanentIDs 1", "save 1 0 0"])
        #expect(!one.objectID.isTemporaryID)
    }

    @Test(.reference("nssavechangesrequest"))
    func `A save brings what was inserted, updated and deleted`() throws {
        let context = try context(), changed = item("a", context), gone = item("b", context)
        try context.save()
        changed.setValue("c", forKey: "name")
        context.delete(gone)
        _ = item("d", context)
        _ = Ledger.take()
        try context.save()
        #expect(Ledger.take().contains("save 1 1 1"))
    }

    @Test(.reference("nsincrementalstore/referenceobject(for:)"))
    func `A reference makes an ID and is found by it`() throws {
        let context = try context(), one = item("a", context)
        try context.save()
        let store = try #require(one.objectID.persistentStore as? Ledger)
        #expect(store.referenceObject(for: one.objectID) as? String == "r1")
        #expect(one.objectID.uriRepresentation().lastPathComponent.hasSuffix("r1"))
        #expect(store.newObjectID(for: one.entity, referenceObject: "r1") == one.objectID)
    }

    @Test(.reference("nsincrementalstore/newvaluesforobject(with:with:)"))
    func `A fault asks the store for its values when it fires`() throws {
        let context = try context()
        _ = item("a", context)
        try context.save()
        let other = another(context), found = try #require(try other.fetch(all).first)
        #expect(found.isFault && found.text("name") == "a")
        #expect(Ledger.calls.contains("fetch Item"))
    }

    @Test(.reference("nsincrementalstore/execute(_:with:)"))
    func `A count is asked of the store`() throws {
        let context = try context()
        _ = item("a", context)
        try context.save()
        _ = Ledger.take()
        let count = try another(context).count(for: all)
        #expect(count == 1 && Ledger.take().contains("fetch Item"))
    }

    @Test(.reference("nsincrementalstore/execute(_:with:)"))
    func `An error of the store is the context's`() throws {
        let context = try context(), one = item("a", context)
        try context.save()
        context.delete(one)
        try context.save()
        let error = failure { _ = try another(context).existingObject(with: one.objectID) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSManagedObjectReferentialIntegrityError)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B22)"))
    func `A save registers its objects once, after it came`() throws {
        let context = try context()
        _ = item("a", context)
        _ = Ledger.take()
        try context.save()
        let calls = Ledger.take()
        #expect(calls == ["obtainPermanentIDs 1", "save 1 0 0", "didRegister 1"])
    }
}
