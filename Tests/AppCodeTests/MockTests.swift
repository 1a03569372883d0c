import CoreData
import Foundation
import Testing

// Contexts, containers and coordinators as tests of apps have them: with something overridden.

private class ContextSpy: NSManagedObjectContext, @unchecked Sendable {
    var calls: [String] = []
    var inserted: Set<NSManagedObject>?
    var hidesCoordinator = false

    override func performAndWait(_ block: () -> Void) {
        calls.append("performAndWait")
        super.performAndWait(block)
    }

    override func save() throws {
        calls.append("save")
        try super.save()
    }

    override func refreshAllObjects() {
        calls.append("refreshAllObjects")
        super.refreshAllObjects()
    }

    override func processPendingChanges() {
        calls.append("processPendingChanges")
        super.processPendingChanges()
    }

    override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        calls.append("obtainPermanentIDs")
        try super.obtainPermanentIDs(for: objects)
    }

    override var insertedObjects: Set<NSManagedObject> { inserted ?? super.insertedObjects }
    override var updatedObjects: Set<NSManagedObject> { super.updatedObjects }
    override var deletedObjects: Set<NSManagedObject> { super.deletedObjects }

    override var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { hidesCoordinator ? nil : super.persistentStoreCoordinator }
        set { super.persistentStoreCoordinator = newValue }
    }
}

private class ContainerSpy: NSPersistentContainer, @unchecked Sendable {
    private(set) lazy var spy: ContextSpy = {
        let context = ContextSpy(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }()
    override var viewContext: ContextSpy { spy }
    override var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get {
            let descriptions = super.persistentStoreDescriptions
            descriptions.forEach { $0.url = URL(fileURLWithPath: "/dev/null") }
            return descriptions
        }
        set { super.persistentStoreDescriptions = newValue }
    }
}

private class CoordinatorStub: NSPersistentStoreCoordinator, @unchecked Sendable {
    private(set) var calls: [String] = []

    override func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        calls.append("add \(storeType)")
        return try super.addPersistentStore(ofType: storeType, configurationName: configuration, at: storeURL, options: options)
    }

    override func destroyPersistentStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil) throws {
        calls.append("destroy")
        throw CocoaError(.persistentStoreOperation)
    }
}

private class MigrationSpy: NSMigrationManager, @unchecked Sendable {
    var made = false

    override init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        super.init(sourceModel: sourceModel, destinationModel: destinationModel)
        made = true
    }
}

@MainActor @Suite struct MockTests {
    @Test func aContextsSpyIsAskedByEveryCaller() throws {
        let container = ContainerSpy(name: "Apps", managedObjectModel: PersistenceController.model)
        container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
        let context = container.viewContext
        let tag = Tag(name: "a", context: context)
        #expect(context.insertedObjects == [tag])
        context.inserted = []
        #expect((context as NSManagedObjectContext).insertedObjects.isEmpty)
        try context.obtainPermanentIDs(for: [tag])
        var ran = false
        context.performAndWait { ran = true }
        let name: String? = context.performAndWait { tag.name }
        try context.performAndWait {
            try context.save()
        }
        #expect(throws: CocoaError.self) { try context.performAndWait { throw CocoaError(.coreData) } }
        context.refreshAllObjects()
        #expect(ran && name == "a" && tag.isFault)
        #expect(context.calls == [
            "obtainPermanentIDs", "performAndWait", "performAndWait", "performAndWait", "save", "performAndWait", "refreshAllObjects",
        ])
        context.hidesCoordinator = true
        #expect(context.persistentStoreCoordinator == nil)
    }

    @Test func aCoordinatorsStubStandsBeforeEachWayOfAddingAndDestroying() throws {
        let stub = CoordinatorStub(managedObjectModel: PersistenceController.model), null = URL(fileURLWithPath: "/dev/null")
        try stub.addPersistentStore(type: .inMemory, at: null)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        stub.addPersistentStore(with: description) { #expect($1 == nil) }
        #expect(throws: CocoaError.self) { try stub.destroyPersistentStore(at: null, type: .recordLog) }
        #expect(stub.calls == ["add InMemory", "add InMemory", "destroy"])
    }

    @Test func aMigrationManagersInitializerIsOverridden() {
        let model = PersistenceController.model
        #expect(MigrationSpy(sourceModel: model, destinationModel: model).made)
    }

    @Test func aStoresConfigurationHasANameWhereNoneWasGiven() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PersistenceController.model)
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let name: String = store.configurationName
        #expect(name == "PF_DEFAULT_CONFIGURATION_NAME")
        #expect(coordinator.managedObjectModel.entities(forConfigurationName: name)?.count == coordinator.managedObjectModel.entities.count)
        // As code has it that moves a store's settings to another coordinator.
        let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        let same = try other.addPersistentStore(ofType: store.type, configurationName: name, at: store.url, options: store.options)
        #expect(same.configurationName == name)
    }

    @Test func conflictsAreMadeByHand() throws {
        let context = PersistenceController(inMemory: true).container.viewContext
        let tag = Tag(name: "a", context: context), other = Tag(name: "a", context: context)
        let conflict = NSConstraintConflict(
            constraint: ["name"], database: tag, databaseSnapshot: ["name": "a"], conflicting: [other], conflictingSnapshots: [[:]])
        #expect(conflict.databaseObject === tag && conflict.conflictingObjects == [other] && conflict.constraintValues["name"] as? String == "a")
        #expect(throws: (any Error).self) { try NSMergePolicy.error.resolve(constraintConflicts: [conflict]) }
    }
}
