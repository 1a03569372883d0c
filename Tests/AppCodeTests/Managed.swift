import CoreData
import Foundation

// The helpers that many apps have, in the shape that books on Core Data gave them.

protocol Managed: AnyObject, NSFetchRequestResult {
    static var entityName: String { get }
    static var defaultSortDescriptors: [NSSortDescriptor] { get }
    static var defaultPredicate: NSPredicate { get }
    var managedObjectContext: NSManagedObjectContext? { get }
}

extension Managed {
    static var defaultSortDescriptors: [NSSortDescriptor] { return [] }
    static var defaultPredicate: NSPredicate { return NSPredicate(value: true) }

    static var sortedFetchRequest: NSFetchRequest<Self> {
        let request = NSFetchRequest<Self>(entityName: entityName)
        request.sortDescriptors = defaultSortDescriptors
        request.predicate = defaultPredicate
        return request
    }

    static func sortedFetchRequest(with predicate: NSPredicate) -> NSFetchRequest<Self> {
        let request = sortedFetchRequest
        guard let existing = request.predicate else { fatalError("must have predicate") }
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [existing, predicate])
        return request
    }
}

extension Managed where Self: NSManagedObject {
    static var entityName: String { return entity().name! }

    static func findOrCreate(in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> ()) -> Self {
        guard let object = findOrFetch(in: context, matching: predicate) else {
            let newObject: Self = context.insertObject()
            configure(newObject)
            return newObject
        }
        return object
    }

    static func findOrFetch(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
        guard let object = materializedObject(in: context, matching: predicate) else {
            return fetch(in: context) { request in
                request.predicate = predicate
                request.returnsObjectsAsFaults = false
                request.fetchLimit = 1
            }.first
        }
        return object
    }

    static func fetch(in context: NSManagedObjectContext, configurationBlock: (NSFetchRequest<Self>) -> () = { _ in }) -> [Self] {
        let request = NSFetchRequest<Self>(entityName: Self.entityName)
        configurationBlock(request)
        return (try? context.fetch(request)) ?? []
    }

    static func count(in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> () = { _ in }) -> Int {
        let request = NSFetchRequest<Self>(entityName: entityName)
        configure(request)
        return (try? context.count(for: request)) ?? -1
    }

    static func materializedObject(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
        for object in context.registeredObjects where !object.isFault {
            guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
            return result
        }
        return nil
    }
}

extension NSManagedObjectContext {
    func insertObject<A: NSManagedObject>() -> A where A: Managed {
        guard let obj = NSEntityDescription.insertNewObject(forEntityName: A.entityName, into: self) as? A else {
            fatalError("Wrong object type")
        }
        return obj
    }

    func saveOrRollback() -> Bool {
        do {
            try save()
            return true
        } catch {
            rollback()
            return false
        }
    }

    func performChanges(block: @escaping () -> ()) {
        perform {
            block()
            _ = self.saveOrRollback()
        }
    }

    private var store: NSPersistentStore {
        guard let psc = persistentStoreCoordinator else { fatalError("PSC missing") }
        guard let store = psc.persistentStores.first else { fatalError("No Store") }
        return store
    }

    func setMetaData(object: Any?, forKey key: String) {
        var md = persistentStoreCoordinator!.metadata(for: store)
        md[key] = object
        persistentStoreCoordinator!.setMetadata(md, for: store)
    }

    func metaData(forKey key: String) -> Any? { persistentStoreCoordinator!.metadata(for: store)[key] }
}

// Creation and fetching by the class alone.
func make<T: NSManagedObject>(_ type: T.Type, in context: NSManagedObjectContext) -> T { T(context: context) }

func makeOfEntity<T: NSManagedObject>(_ type: T.Type, in context: NSManagedObjectContext) -> T {
    T(entity: T.entity(), insertInto: context)
}

func everything<T: NSManagedObject>(_ type: T.Type, in context: NSManagedObjectContext) throws -> [T] {
    // Without the detour the compiler tells that the cast is none.
    guard let request = type.fetchRequest() as AnyObject as? NSFetchRequest<T> else { return [] }
    return try context.fetch(request)
}

extension NSManagedObject {
    static func create(in context: NSManagedObjectContext) -> Self { self.init(context: context) }

    class var className: String { String(describing: self) }
}
