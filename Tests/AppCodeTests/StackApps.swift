import CoreData
import Foundation

// Stacks, in the forms that books, samples and large apps have them.

open class CoreDataStack {
    public static let modelName = "Apps"
    public static let model: NSManagedObjectModel = PersistenceController.model

    public init() {
    }

    public lazy var mainContext: NSManagedObjectContext = {
        return self.storeContainer.viewContext
    }()

    public lazy var storeContainer: NSPersistentContainer = {
        let container = NSPersistentContainer(name: CoreDataStack.modelName, managedObjectModel: CoreDataStack.model)
        container.loadPersistentStores { _, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }
        return container
    }()

    public func newDerivedContext() -> NSManagedObjectContext {
        let context = storeContainer.newBackgroundContext()
        return context
    }

    public func saveContext() {
        saveContext(mainContext)
    }

    public func saveContext(_ context: NSManagedObjectContext) {
        if context != mainContext {
            saveDerivedContext(context)
            return
        }

        context.perform {
            do {
                try context.save()
            } catch let error as NSError {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }
    }

    public func saveDerivedContext(_ context: NSManagedObjectContext) {
        context.perform {
            do {
                try context.save()
            } catch let error as NSError {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }

            self.saveContext(self.mainContext)
        }
    }
}

class TestCoreDataStack: CoreDataStack {
    override init() {
        super.init()

        let persistentStoreDescription = NSPersistentStoreDescription()
        persistentStoreDescription.type = NSInMemoryStoreType

        let container = NSPersistentContainer(name: CoreDataStack.modelName, managedObjectModel: CoreDataStack.model)
        container.persistentStoreDescriptions = [persistentStoreDescription]

        container.loadPersistentStores { _, error in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        }

        storeContainer = container
    }
}

// A privacy-minded browser's database.

public protocol ManagedObjectContextFactory {
    func makeContext(concurrencyType: NSManagedObjectContextConcurrencyType, name: String?) -> NSManagedObjectContext
}

public protocol CoreDataStoring: ManagedObjectContextFactory {
    var isDatabaseFileInitialized: Bool { get }
    var model: NSManagedObjectModel { get }
    var coordinator: NSPersistentStoreCoordinator { get }

    func loadStore(completion: @escaping (NSManagedObjectContext?, Error?) -> Void)
}

public class CoreDataDatabase: CoreDataStoring {
    public enum Error: Swift.Error {
        case dbInitializationError(underlyingError: Swift.Error)
    }

    private let containerLocation: URL
    private let container: NSPersistentContainer
    private let storeLoadedCondition = NSCondition()
    private var isLoaded = false

    public var isDatabaseFileInitialized: Bool {
        guard let containerURL = container.persistentStoreDescriptions.first?.url else { return false }
        return FileManager.default.fileExists(atPath: containerURL.path)
    }

    public var model: NSManagedObjectModel {
        return container.managedObjectModel
    }

    public var coordinator: NSPersistentStoreCoordinator {
        return container.persistentStoreCoordinator
    }

    public static func loadModel(from bundle: Bundle, named name: String) -> NSManagedObjectModel? {
        guard let url = bundle.url(forResource: name, withExtension: "momd") else { return nil }
        return NSManagedObjectModel(contentsOf: url)
    }

    public init(
        name: String, containerLocation: URL, model: NSManagedObjectModel, type: String = NSBinaryStoreType, readOnly: Bool = false,
        options: [String: NSObject] = [:]
    ) {
        self.container = NSPersistentContainer(name: name, managedObjectModel: model)
        self.containerLocation = containerLocation

        let description = NSPersistentStoreDescription(url: containerLocation.appendingPathComponent("\(name).sqlite"))
        description.type = type
        description.isReadOnly = readOnly
        description.shouldAddStoreAsynchronously = true

        for (key, value) in options {
            description.setOption(value, forKey: key)
        }

        self.container.persistentStoreDescriptions = [description]
    }

    public func loadStore(completion: @escaping (NSManagedObjectContext?, Swift.Error?) -> Void = { _, _ in }) {
        do {
            try FileManager.default.createDirectory(at: containerLocation, withIntermediateDirectories: true)
        } catch {
            completion(nil, Error.dbInitializationError(underlyingError: error))
            return
        }

        container.loadPersistentStores { _, error in
            if let error = error {
                completion(nil, error)
                return
            }

            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = self.container.persistentStoreCoordinator
            context.name = "Migration"
            context.perform {
                completion(context, nil)
                self.storeLoadedCondition.lock()
                self.isLoaded = true
                self.storeLoadedCondition.broadcast()
                self.storeLoadedCondition.unlock()
            }
        }
    }

    public func tearDown(deleteStores: Bool) throws {
        typealias StoreInfo = (url: URL?, type: String)
        var storesToDelete = [StoreInfo]()
        for store in container.persistentStoreCoordinator.persistentStores {
            storesToDelete.append((url: store.url, type: store.type))
            try container.persistentStoreCoordinator.remove(store)
        }

        if deleteStores {
            for (url, type) in storesToDelete {
                if let url = url {
                    try container.persistentStoreCoordinator.destroyPersistentStore(at: url, ofType: type)
                }
            }
        }
    }

    public func makeContext(concurrencyType: NSManagedObjectContextConcurrencyType, name: String? = nil) -> NSManagedObjectContext {
        storeLoadedCondition.lock()
        while !isLoaded { storeLoadedCondition.wait() }
        storeLoadedCondition.unlock()

        let context = NSManagedObjectContext(concurrencyType: concurrencyType)
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        context.name = name

        return context
    }
}

extension NSManagedObjectContext {
    public func deleteAll(entityDescriptions: [NSEntityDescription] = []) {
        for entityDescription in entityDescriptions {
            let request = NSFetchRequest<NSFetchRequestResult>()
            request.entity = entityDescription

            deleteAll(matching: request)
        }
    }

    public func deleteAll(matching request: NSFetchRequest<NSFetchRequestResult>) {
        if let result = try? fetch(request) as? [NSManagedObject] {
            for object in result {
                delete(object)
            }
        }
    }
}

// A stack by hand, as it was before containers.

final class HandMadeStack {
    let psc: NSPersistentStoreCoordinator
    let writer: NSManagedObjectContext
    let main: NSManagedObjectContext

    init() throws {
        psc = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel.mergedModel(from: []) ?? PersistenceController.model)
        try psc.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        writer.persistentStoreCoordinator = psc
        main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.parent = writer
        main.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }

    func save() throws {
        var failure: Error?
        main.performAndWait {
            guard main.hasChanges else { return }
            do { try main.save() } catch { failure = error }
        }
        if let failure { throw failure }
        try writer.performAndWait { if writer.hasChanges { try writer.save() } }
    }
}

// The template that Xcode gives, with its preview.

struct PreviewController {
    static let shared = PreviewController()

    static var preview: PreviewController = {
        let result = PreviewController(inMemory: true)
        let viewContext = result.container.viewContext
        for number in 0..<10 {
            let newItem = TodoItem(context: viewContext)
            newItem.dueDate = Date(timeIntervalSince1970: Double(number))
        }
        do {
            try viewContext.save()
        } catch {
            let nsError = error as NSError
            fatalError("Unresolved error \(nsError), \(nsError.userInfo)")
        }
        return result
    }()

    let container: NSPersistentContainer

    init(inMemory: Bool = false) {
        container = NSPersistentContainer(name: "Apps", managedObjectModel: PersistenceController.model)
        if inMemory {
            container.persistentStoreDescriptions.first!.url = URL(fileURLWithPath: "/dev/null")
        }
        container.loadPersistentStores(completionHandler: { (storeDescription, error) in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        })
        container.viewContext.automaticallyMergesChangesFromParent = true
    }
}

// Repositories.

enum RepositoryError: Error { case invalidManagedObjectType, missing }

protocol Repository {
    associatedtype Entity
    func get(predicate: NSPredicate?, sortDescriptors: [NSSortDescriptor]?) -> Result<[Entity], Error>
    func create() -> Result<Entity, Error>
    func delete(entity: Entity) -> Result<Bool, Error>
}

class CoreDataRepository<T: NSManagedObject>: Repository {
    typealias Entity = T

    private let managedObjectContext: NSManagedObjectContext

    init(managedObjectContext: NSManagedObjectContext) {
        self.managedObjectContext = managedObjectContext
    }

    func get(predicate: NSPredicate?, sortDescriptors: [NSSortDescriptor]?) -> Result<[Entity], Error> {
        let fetchRequest = Entity.fetchRequest()
        fetchRequest.predicate = predicate
        fetchRequest.sortDescriptors = sortDescriptors
        do {
            if let fetchResults = try managedObjectContext.fetch(fetchRequest) as? [Entity] {
                return .success(fetchResults)
            } else {
                return .failure(RepositoryError.invalidManagedObjectType)
            }
        } catch {
            return .failure(error)
        }
    }

    func create() -> Result<Entity, Error> {
        let className = String(describing: Entity.self)
        guard let managedObject = NSEntityDescription.insertNewObject(forEntityName: className, into: managedObjectContext) as? Entity else {
            return .failure(RepositoryError.invalidManagedObjectType)
        }
        return .success(managedObject)
    }

    func delete(entity: Entity) -> Result<Bool, Error> {
        managedObjectContext.delete(entity)
        return .success(true)
    }

    func first(_ format: String, _ arguments: CVarArg...) throws -> Entity {
        let request = NSFetchRequest<Entity>(entityName: String(describing: Entity.self))
        request.predicate = withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
        request.fetchLimit = 1
        guard let found = try managedObjectContext.fetch(request).first else { throw RepositoryError.missing }
        return found
    }

    func deleteAll() throws -> Int {
        let request = T.fetchRequest() as! NSFetchRequest<T>
        let all = try managedObjectContext.fetch(request)
        all.forEach(managedObjectContext.delete)
        return all.count
    }

    func update(_ id: NSManagedObjectID, _ body: (T) throws -> Void) throws {
        guard let object = try managedObjectContext.existingObject(with: id) as? T else { throw RepositoryError.invalidManagedObjectType }
        try body(object)
    }

    func observe(_ changed: @escaping (Set<T>) -> Void) -> NSObjectProtocol {
        NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: managedObjectContext, queue: nil
        ) { note in
            let keys: [NSManagedObjectContext.NotificationKey] = [.insertedObjects, .updatedObjects, .refreshedObjects]
            let all = keys.compactMap { note.userInfo?[$0.rawValue] as? Set<NSManagedObject> }.reduce(Set()) { $0.union($1) }
            changed(Set(all.compactMap { $0 as? T }))
        }
    }
}

// A server's service: every request of a client is a task.

actor BookmarkService {
    struct Bookmark: Codable, Equatable {
        var id: UUID
        var title: String
        var visits: Int
    }

    private let container: NSPersistentContainer

    init(container: NSPersistentContainer) { self.container = container }

    func create(title: String) async throws -> Bookmark {
        try await container.performBackgroundTask { context in
            context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
            let bookmark = AppCodeTests.Bookmark(context: context)
            bookmark.id = UUID()
            bookmark.title = title
            try context.save()
            return Bookmark(bookmark)
        }
    }

    func visit(_ id: UUID) async throws -> Int {
        try await container.performBackgroundTask { context in
            let request = NSFetchRequest<AppCodeTests.Bookmark>(entityName: "Bookmark")
            request.predicate = NSPredicate(format: "id == %@", id as CVarArg)
            request.fetchLimit = 1
            guard let bookmark = try request.execute().first else { throw RepositoryError.missing }
            bookmark.visits += 1
            do {
                try context.save()
            } catch let error as CocoaError where error.code == .managedObjectMerge {
                context.refreshAllObjects()
                throw error
            }
            return Int(bookmark.visits)
        }
    }

    func all() async throws -> [Bookmark] {
        let context = container.newBackgroundContext()
        return try await context.perform {
            let request: NSFetchRequest<AppCodeTests.Bookmark> = AppCodeTests.Bookmark.fetchRequest() as! NSFetchRequest<AppCodeTests.Bookmark>
            request.sortDescriptors = [NSSortDescriptor(keyPath: \AppCodeTests.Bookmark.title, ascending: true)]
            return try context.fetch(request).map(Bookmark.init)
        }
    }

    func purge() async throws -> Int {
        try await container.performBackgroundTask { context in
            let fetch: NSFetchRequest<NSFetchRequestResult> = AppCodeTests.Bookmark.fetchRequest()
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            let result = try context.execute(delete) as? NSBatchDeleteResult
            return result?.result as? Int ?? 0
        }
    }
}

extension BookmarkService.Bookmark {
    init(_ object: Bookmark) {
        self.init(id: object.id ?? UUID(), title: object.title, visits: Int(object.visits))
    }
}

// Contexts that tests put in the place of real ones.

final class FailingContext: NSManagedObjectContext, @unchecked Sendable {
    enum Failure: Error { case save, fetch }

    var failsToFetch = false
    var stands = 0
    private(set) var calls: [String] = []

    override func save() throws {
        calls.append("save")
        throw Failure.save
    }

    override func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [Any] {
        calls.append("fetch \(request.entityName ?? "?")")
        if failsToFetch { throw Failure.fetch }
        return try super.fetch(request)
    }

    override func count(for request: NSFetchRequest<NSFetchRequestResult>) throws -> Int {
        calls.append("count")
        return stands > 0 ? stands : try super.count(for: request)
    }

    override func insert(_ object: NSManagedObject) {
        calls.append("insert")
        super.insert(object)
    }

    override func delete(_ object: NSManagedObject) {
        calls.append("delete")
        super.delete(object)
    }

    override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        calls.append("refresh")
        super.refresh(object, mergeChanges: flag)
    }

    override func rollback() {
        calls.append("rollback")
        super.rollback()
    }

    override func reset() {
        calls.append("reset")
        super.reset()
    }

    override func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        calls.append("object")
        return super.object(with: objectID)
    }

    override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        calls.append("execute")
        return try super.execute(request)
    }

    override func perform(_ block: @escaping () -> Void) {
        calls.append("perform")
        super.performAndWait(block)
    }

    override var hasChanges: Bool { calls.append("hasChanges"); return super.hasChanges }

    func forget() { calls = [] }
}

extension NSManagedObject {
    // From before `init(context:)`.
    convenience init(usedContext: NSManagedObjectContext) {
        let name = String(describing: type(of: self))
        let entity = NSEntityDescription.entity(forEntityName: name, in: usedContext)!
        self.init(entity: entity, insertInto: usedContext)
    }
}
