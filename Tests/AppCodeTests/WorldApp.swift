import CoreData
import Foundation

// After a well-known book's example: regions, observers of notifications, and what it adds to contexts.

protocol DelayedDeletable: AnyObject {
    var changedForDelayedDeletion: Bool { get }
    var markedForDeletionDate: Date? { get set }
    func markForLocalDeletion()
}

private let markedForDeletionKey = "markedForDeletionDate"

extension DelayedDeletable {
    static var notMarkedForLocalDeletionPredicate: NSPredicate {
        return NSPredicate(format: "%K == NULL", markedForDeletionKey)
    }
}

extension DelayedDeletable where Self: NSManagedObject {
    var changedForDelayedDeletion: Bool { return changedValue(forKey: markedForDeletionKey) as? Date != nil }

    func markForLocalDeletion() {
        guard isFault || markedForDeletionDate == nil else { return }
        markedForDeletionDate = Date()
    }
}

extension NSManagedObject {
    func refresh(_ mergeChanges: Bool = true) { managedObjectContext?.refresh(self, mergeChanges: mergeChanges) }

    func changedValue(forKey key: String) -> Any? { return changedValues()[key] }
}

public class Region: NSManagedObject {}

extension Region: Managed {
    static var defaultSortDescriptors: [NSSortDescriptor] { return [NSSortDescriptor(key: "updatedAt", ascending: false)] }
    static var defaultPredicate: NSPredicate { return notMarkedForLocalDeletionPredicate }
}

extension Region: DelayedDeletable {
    @NSManaged public var markedForDeletionDate: Date?
}

extension Region {
    @NSManaged fileprivate(set) var updatedAt: Date?
    @NSManaged internal var code: Int16

    func refreshUpdateDate() {
        guard changedValues()["updatedAt"] == nil else { return }
        updatedAt = Date()
    }
}

final class Country: Region {
    @NSManaged fileprivate(set) var continent: Continent?

    static func findOrCreate(for code: Int16, in context: NSManagedObjectContext) -> Country {
        let predicate = NSPredicate(format: "%K == %d", #"code"#, Int(code))
        let country = findOrCreate(in: context, matching: predicate) {
            $0.code = code
            $0.updatedAt = Date()
            $0.continent = Continent.findOrCreateContinent(for: code / 100, in: context)
        }
        return country
    }

    public override func prepareForDeletion() {
        super.prepareForDeletion()
        guard let c = continent else { return }
        if c.countries.filter({ !$0.isDeleted && $0 !== self }).isEmpty { managedObjectContext?.delete(c) }
    }

    static func count(without other: Country, in context: NSManagedObjectContext) -> Int {
        count(in: context) { request in
            request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "self == %@", other))
        }
    }
}

final class Continent: Region {
    @NSManaged fileprivate(set) var countries: Set<Country>
    @NSManaged fileprivate(set) var numberOfCountries: Int16

    static func findOrCreateContinent(for code: Int16, in context: NSManagedObjectContext) -> Continent? {
        let predicate = NSPredicate(format: "%K == %d", "code", Int(code))
        return findOrCreate(in: context, matching: predicate) { $0.code = code }
    }

    override func willSave() {
        super.willSave()
        if hasChangedCountries { updateCountryCount() }
    }

    fileprivate func updateCountryCount() {
        guard Int(numberOfCountries) != countries.count else { return }
        numberOfCountries = Int16(countries.count)
    }

    fileprivate var hasChangedCountries: Bool { return changedValue(forKey: "countries") != nil }
}

struct ContextDidSaveNotification {
    init(note: Notification) {
        guard note.name == .NSManagedObjectContextDidSave else { fatalError() }
        notification = note
    }

    var insertedObjects: AnyIterator<NSManagedObject> { return iterator(forKey: NSInsertedObjectsKey) }
    var updatedObjects: AnyIterator<NSManagedObject> { return iterator(forKey: NSUpdatedObjectsKey) }
    var deletedObjects: AnyIterator<NSManagedObject> { return iterator(forKey: NSDeletedObjectsKey) }

    var managedObjectContext: NSManagedObjectContext {
        guard let c = notification.object as? NSManagedObjectContext else { fatalError("Invalid notification object") }
        return c
    }

    fileprivate let notification: Notification

    fileprivate func iterator(forKey key: String) -> AnyIterator<NSManagedObject> {
        guard let set = (notification as Notification).userInfo?[key] as? NSSet else { return AnyIterator { nil } }
        let innerIterator = set.makeIterator()
        return AnyIterator { return innerIterator.next() as? NSManagedObject }
    }
}

extension ContextDidSaveNotification: CustomDebugStringConvertible {
    public var debugDescription: String {
        var components = [notification.name.rawValue]
        components.append(managedObjectContext.description)
        for (name, set) in [("inserted", insertedObjects), ("updated", updatedObjects), ("deleted", deletedObjects)] {
            let all = set.map { $0.objectID.description }.joined(separator: ", ")
            components.append("\(name): {\(all)}")
        }
        return components.joined(separator: " ")
    }
}

struct ObjectsDidChangeNotification {
    init(note: Notification) {
        assert(note.name == .NSManagedObjectContextObjectsDidChange)
        notification = note
    }

    var insertedObjects: Set<NSManagedObject> { return objects(forKey: NSInsertedObjectsKey) }
    var updatedObjects: Set<NSManagedObject> { return objects(forKey: NSUpdatedObjectsKey) }
    var deletedObjects: Set<NSManagedObject> { return objects(forKey: NSDeletedObjectsKey) }
    var refreshedObjects: Set<NSManagedObject> { return objects(forKey: NSRefreshedObjectsKey) }
    var invalidatedObjects: Set<NSManagedObject> { return objects(forKey: NSInvalidatedObjectsKey) }
    var invalidatedAllObjects: Bool { return (notification as Notification).userInfo?[NSInvalidatedAllObjectsKey] != nil }

    fileprivate let notification: Notification

    fileprivate func objects(forKey key: String) -> Set<NSManagedObject> {
        return ((notification as Notification).userInfo?[key] as? Set<NSManagedObject>) ?? Set()
    }
}

extension NSManagedObjectContext {
    func addContextDidSaveNotificationObserver(_ handler: @escaping (ContextDidSaveNotification) -> ()) -> NSObjectProtocol {
        let nc = NotificationCenter.default
        return nc.addObserver(forName: .NSManagedObjectContextDidSave, object: self, queue: nil) { note in
            let wrappedNote = ContextDidSaveNotification(note: note)
            handler(wrappedNote)
        }
    }

    func addObjectsDidChangeNotificationObserver(_ handler: @escaping (ObjectsDidChangeNotification) -> ()) -> NSObjectProtocol {
        let nc = NotificationCenter.default
        return nc.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: self, queue: nil) { note in
            handler(ObjectsDidChangeNotification(note: note))
        }
    }

    func performMergeChanges(from note: ContextDidSaveNotification) {
        perform {
            self.mergeChanges(fromContextDidSave: note.notification)
        }
    }

    func perform(group: DispatchGroup, block: @escaping () -> ()) {
        group.enter()
        perform {
            block()
            group.leave()
        }
    }

    func delayedSaveOrRollback(group: DispatchGroup, completion: @escaping (Bool) -> () = { _ in }) {
        let changeCountLimit = 100
        guard changeCountLimit >= changedObjectsCount else { return completion(saveOrRollback()) }
        let queue = DispatchQueue.global(qos: DispatchQoS.QoSClass.default)
        group.notify(queue: queue) {
            self.perform(group: group) {
                guard self.hasChanges else { return completion(true) }
                completion(self.saveOrRollback())
            }
        }
    }

    fileprivate var changedObjectsCount: Int { return insertedObjects.count + updatedObjects.count + deletedObjects.count }
}

final class ManagedObjectObserver {
    enum ChangeType {
        case delete
        case update
    }

    init?(object: Managed, changeHandler: @escaping (ChangeType) -> ()) {
        guard let moc = object.managedObjectContext else { return nil }
        token = moc.addObjectsDidChangeNotificationObserver { [weak self] note in
            guard let changeType = self?.changeType(of: object, in: note) else { return }
            changeHandler(changeType)
        }
    }

    deinit {
        NotificationCenter.default.removeObserver(token!)
    }

    fileprivate var token: NSObjectProtocol!

    fileprivate func changeType(of object: Managed, in note: ObjectsDidChangeNotification) -> ChangeType? {
        let deleted = note.deletedObjects.union(note.invalidatedObjects)
        if note.invalidatedAllObjects || deleted.containsObjectIdentical(to: object) {
            return .delete
        }
        let updated = note.updatedObjects.union(note.refreshedObjects)
        if updated.containsObjectIdentical(to: object) {
            let predicate = type(of: object).defaultPredicate
            if predicate.evaluate(with: object) {
                return .update
            } else {
                return .delete
            }
        }
        return nil
    }
}

extension Sequence where Iterator.Element: AnyObject {
    public func containsObjectIdentical(to object: AnyObject) -> Bool {
        return contains { $0 === object }
    }
}

extension Sequence where Iterator.Element: NSManagedObject {
    func remap(to context: NSManagedObjectContext) -> [Iterator.Element] {
        return map { unmappedMO in
            guard unmappedMO.managedObjectContext !== context else { return unmappedMO }
            guard let object = context.object(with: unmappedMO.objectID) as? Iterator.Element else { fatalError("Invalid object type") }
            return object
        }
    }
}

extension Collection where Iterator.Element: NSManagedObject {
    public func fetchFaults() {
        guard !self.isEmpty else { return }
        guard let context = self.first?.managedObjectContext else { fatalError("Managed object must have context") }
        let faults = self.filter { $0.isFault }
        guard let object = faults.first else { return }
        let request = NSFetchRequest<Iterator.Element>()
        request.entity = object.entity
        request.returnsObjectsAsFaults = false
        request.predicate = NSPredicate(format: "self in %@", faults)
        let _ = try! context.fetch(request)
    }
}

private let SingleObjectCacheKey = "SingleObjectCache"
private typealias SingleObjectCache = [String: NSManagedObject]

extension NSManagedObjectContext {
    public func set(_ object: NSManagedObject?, forSingleObjectCacheKey key: String) {
        var cache = userInfo[SingleObjectCacheKey] as? SingleObjectCache ?? [:]
        cache[key] = object
        userInfo[SingleObjectCacheKey] = cache
    }

    public func object(forSingleObjectCacheKey key: String) -> NSManagedObject? {
        guard let cache = userInfo[SingleObjectCacheKey] as? [String: NSManagedObject] else { return nil }
        return cache[key]
    }
}

extension Managed where Self: NSManagedObject {
    static func fetchSingleObject(in context: NSManagedObjectContext, cacheKey: String, configure: (NSFetchRequest<Self>) -> ()) -> Self? {
        if let cached = context.object(forSingleObjectCacheKey: cacheKey) as? Self { return cached }
        let result = fetch(in: context) { request in
            configure(request)
            request.fetchLimit = 2
        }
        context.set(result.first, forSingleObjectCacheKey: cacheKey)
        return result.count == 1 ? result.first : nil
    }
}
