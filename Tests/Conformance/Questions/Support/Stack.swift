import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A coordinator with one store in a folder of its own, and a context of the main queue.
@MainActor final class Stack {
    let kind: StoreKind
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    private let folder: TemporaryFolder

    init(
        _ kind: StoreKind = .inMemory, _ model: NSManagedObjectModel = Sketch.library(), in folder: TemporaryFolder? = nil,
        options: [String: Any] = [:]
    ) throws {
        self.kind = kind
        self.folder = try folder ?? TemporaryFolder()
        url = self.folder.url.appendingPathComponent("store")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.isFile ? url : nil,
            options: options.merging(StoreKind.quickOptions) { first, _ in first })
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// The same file in another coordinator; this one releases it.
    func reopened(_ model: NSManagedObjectModel = Sketch.library(), options: [String: Any] = [:]) throws -> Stack {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return try Stack(kind, model, in: folder, options: options)
    }

    /// A new context on the same coordinator, which lives as long as the stack.
    func sibling(_ policy: NSMergePolicy? = nil) -> NSManagedObjectContext {
        let context = another()
        context.persistentStoreCoordinator = coordinator
        if let policy { context.mergePolicy = policy }
        return context
    }

    func child(of parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
        let child = another()
        child.parent = parent ?? context
        return child
    }

    private var others: [NSManagedObjectContext] = []

    private func another() -> NSManagedObjectContext {
        others.append(NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType))
        return others[others.count - 1]
    }

    @discardableResult
    func new(_ entity: String, _ values: [String: Any] = [:], in context: NSManagedObjectContext? = nil) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context ?? self.context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// A new saved object.
    @discardableResult
    func saved(_ entity: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
        let object = new(entity, values)
        try context.save()
        return object
    }

    func request(
        _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by keys: String...
    ) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = keys.map { key in
            let isDescending = key.hasPrefix("-")
            return NSSortDescriptor(key: isDescending ? String(key.dropFirst()) : key, ascending: !isDescending)
        }
        return request
    }

    func fetch(
        _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], in context: NSManagedObjectContext? = nil
    ) throws -> [NSManagedObject] {
        try (context ?? self.context).fetch(request(entity, format, arguments))
    }

    func count(
        _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], in context: NSManagedObjectContext? = nil
    ) throws -> Int {
        try (context ?? self.context).count(for: request(entity, format, arguments))
    }

    /// The only object of an entity, in another context.
    func only(_ entity: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(request(entity)).first)
    }

    /// The codes of a save's failures: one, or those of its details.
    func codes(_ context: NSManagedObjectContext? = nil) -> [Int] {
        guard let error = failure({ try (context ?? self.context).save() }) else { return [] }
        guard error.code == NSValidationMultipleErrorsError else { return [error.code] }
        return (error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []).map(\.code).sorted()
    }
}

/// A folder that is deleted with its last user.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String? { value(forKey: key) as? String }
    func int(_ key: String) -> Int? { (value(forKey: key) as? NSNumber)?.intValue }
    func object(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }

    /// The members of a to-many relationship, ordered or not.
    func members(_ key: String) -> [NSManagedObject] {
        switch value(forKey: key) {
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}

/// Collects the notifications of an object while it lives.
final class Heard: @unchecked Sendable {
    // Unchecked: everything is posted and read on the main thread.
    private(set) var all: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ names: Notification.Name..., of object: AnyObject?) {
        for name in names {
            let center = NotificationCenter.default
            tokens.append(center.addObserver(forName: name, object: object, queue: nil) { [unowned self] in all.append($0) })
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    var names: [Notification.Name] { all.map(\.name) }
    var last: Notification? { all.last }

    func objects(_ key: String) -> Set<NSManagedObject> { last?.userInfo?[key] as? Set<NSManagedObject> ?? [] }
    func ids(_ key: String) -> Set<NSManagedObjectID> { last?.userInfo?[key] as? Set<NSManagedObjectID> ?? [] }
}
