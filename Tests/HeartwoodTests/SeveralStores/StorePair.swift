import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A coordinator with two stores, and a context.
final class StorePair {
    let urls: [URL]
    private let kinds: (StoreKind, StoreKind)
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let first, second: NSPersistentStore
    private var readers: [NSManagedObjectContext] = []

    /// - Parameter configurations: the two stores' configurations; nil for all entities.
    init(
        _ kinds: (StoreKind, StoreKind), model: NSManagedObjectModel = StorePair.model(), configurations: (String?, String?) = (nil, nil),
        at urls: [URL]? = nil, options: ([String: Any], [String: Any]) = ([:], [:])
    ) throws {
        let urls = urls ?? [kinds.0.newURL, kinds.1.newURL]
        (self.urls, self.kinds) = (urls, kinds)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        func add(_ kind: StoreKind, _ configuration: String?, _ url: URL, _ options: [String: Any], to coordinator: NSPersistentStoreCoordinator)
            throws -> NSPersistentStore
        {
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: configuration, at: url,
                options: options.merging([NSRecordLogDurabilityOption: "none"]) { first, _ in first })
        }
        first = try add(kinds.0, configurations.0, urls[0], options.0, to: coordinator)
        second = try add(kinds.1, configurations.1, urls[1], options.1, to: coordinator)
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    convenience init(_ kind: StoreKind, configured: Bool = false) throws {
        try self.init((kind, kind), configurations: configured ? ("Books", "Feedback") : (nil, nil))
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        for url in urls { try? FileManager.default.removeItem(at: url) }
        kinds.0.remove(at: urls[0])
        kinds.1.remove(at: urls[1])
    }

    /// A new context on the same coordinator, which lives as long as the pair.
    func anew() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        readers.append(context)
        return context
    }

    @discardableResult
    func insert(
        _ entity: String, _ values: [String: Any], into store: NSPersistentStore? = nil, in context: NSManagedObjectContext? = nil
    ) -> NSManagedObject {
        let context = context ?? self.context
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        if let store { context.assign(object, to: store) }
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func request(_ entity: String, _ format: String? = nil, _ arguments: Any..., sort: [String] = []) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    func titles(_ request: NSFetchRequest<NSManagedObject>, in context: NSManagedObjectContext? = nil) throws -> [String] {
        try (context ?? self.context).fetch(request).map { $0.value(forKey: "title") as? String ?? "-" }
    }

    /// One store's objects of an entity, found by a coordinator of its own.
    func titles(of entity: String, in store: NSPersistentStore) throws -> [String] {
        let request = request(entity, sort: ["title"])
        request.affectedStores = [store]
        return try titles(request, in: anew())
    }

    // MARK: Model

    /// Books with authors and tags, and readers' feedback, which a book finds by a fetched property.
    static func model() -> NSManagedObjectModel {
        let book = NSEntityDescription(), author = NSEntityDescription(), tag = NSEntityDescription(), feedback = NSEntityDescription()
        let comic = NSEntityDescription()
        for (entity, name) in [(book, "Book"), (author, "Author"), (tag, "Tag"), (feedback, "Feedback"), (comic, "Comic")] { entity.name = name }
        let by = TestStack.relationship("author", to: author, toMany: false), books = TestStack.relationship("books", to: book, toMany: true)
        let tags = TestStack.relationship("tags", to: tag, toMany: true), tagged = TestStack.relationship("books", to: book, toMany: true)
        TestStack.connect(by, books)
        TestStack.connect(tags, tagged)
        book.properties = [
            TestStack.attribute("title", .stringAttributeType), TestStack.attribute("uuid", .UUIDAttributeType),
            TestStack.attribute("pages", .integer32AttributeType), TestStack.attribute("code", .stringAttributeType), by, tags,
            fetched("feedback", feedback, "bookUUID == $FETCH_SOURCE.uuid", sort: ["rating"]),
            fetched("praise", feedback, "bookUUID == $FETCH_SOURCE.uuid AND rating >= $FETCHED_PROPERTY.userInfo.least", ["least": 4]),
        ]
        book.uniquenessConstraints = [["code"]]
        book.indexes = [TestStack.index("byPages", [book.properties[2]])]
        author.properties = [TestStack.attribute("title", .stringAttributeType), books]
        tag.properties = [TestStack.attribute("title", .stringAttributeType), tagged]
        feedback.properties = [
            TestStack.attribute("bookUUID", .UUIDAttributeType), TestStack.attribute("rating", .integer16AttributeType),
            TestStack.attribute("title", .stringAttributeType), TestStack.attribute("code", .stringAttributeType),
            TestStack.relationship("book", to: book, toMany: false),
        ]
        feedback.uniquenessConstraints = [["code"]]
        comic.properties = [TestStack.attribute("color", .booleanAttributeType)]
        book.subentities = [comic]
        let model = NSManagedObjectModel()
        model.entities = [book, author, tag, feedback, comic]
        model.setEntities([book, author, tag, comic], forConfigurationName: "Books")
        model.setEntities([feedback], forConfigurationName: "Feedback")
        return model
    }

    static func fetched(
        _ name: String, _ entity: NSEntityDescription, _ format: String, _ info: [String: Any] = [:], sort: [String] = []
    ) -> NSFetchedPropertyDescription {
        let property = NSFetchedPropertyDescription(), request = NSFetchRequest<any NSFetchRequestResult>()
        property.name = name
        property.userInfo = info
        request.entity = entity
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        property.fetchRequest = request
        return property
    }
}
