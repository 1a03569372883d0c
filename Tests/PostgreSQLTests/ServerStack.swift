import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport

/// A coordinator with one store in a schema of its own on the tests' server, and a context.
final class ServerStack {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    /// - Parameter proxy: to count round trips, or to disturb the connection.
    init(_ model: NSManagedObjectModel, at url: URL? = nil, options: [String: Any] = [:], socketFolder: String? = nil) throws {
        self.url = try url ?? Self.newURL(socketFolder: socketFolder)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: self.url, options: options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? coordinator.destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType)
    }

    /// The URL of a new schema.
    static func newURL(socketFolder: String? = nil, schema: String = "heartwood-\(UUID().uuidString)") throws -> URL {
        let server = try PostgreSQLTestServer.shared.get()
        var parts = URLComponents(string: server.connectionString) ?? URLComponents()
        if let folder = socketFolder ?? server.socketFolder {
            parts = URLComponents()
            (parts.scheme, parts.host, parts.path) = ("postgresql", "", "/postgres")
            parts.queryItems = [URLQueryItem(name: "host", value: folder), URLQueryItem(name: "user", value: "postgres")]
        }
        parts.queryItems = (parts.queryItems ?? []) + [URLQueryItem(name: "schema", value: schema)]
        return parts.url ?? URL(fileURLWithPath: "/")
    }

    /// The same database with another schema.
    static func url(_ url: URL, schema: String) -> URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) ?? URLComponents()
        parts.queryItems = parts.queryItems?.map { $0.name == "schema" ? URLQueryItem(name: "schema", value: schema) : $0 }
        return parts.url ?? url
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Runs a statement beside the store.
    @discardableResult
    func sql(_ text: String) throws -> PostgreSQLResult {
        let connection = try PostgreSQLConnection(PostgreSQLConfiguration(StoreAddress(url).connection))
        defer { connection.close() }
        return try connection.execute(PostgreSQLStatement(text, isPrepared: false))
    }

    var schema: String { StoreAddress(url).schema }
}

/// What a store's URL consists of.
struct StoreAddress {
    let connection: String
    let schema: String

    init(_ url: URL) {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) ?? URLComponents()
        schema = parts.queryItems?.first { $0.name == "schema" }?.value ?? ""
        parts.queryItems?.removeAll { $0.name == "schema" }
        connection = parts.string ?? ""
    }
}

/// Books, their authors, and shelves in which books stand in an order.
enum ServerModel {
    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    static func relationship(_ name: String, to entity: NSEntityDescription, toMany: Bool, ordered: Bool = false) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, entity, toMany ? 0 : 1)
        (relationship.isOrdered, relationship.deleteRule) = (ordered, .nullifyDeleteRule)
        return relationship
    }

    static func connect(_ a: NSRelationshipDescription, _ b: NSRelationshipDescription) { (a.inverseRelationship, b.inverseRelationship) = (b, a) }

    static func make() -> NSManagedObjectModel {
        let book = NSEntityDescription(), novel = NSEntityDescription(), author = NSEntityDescription(), shelf = NSEntityDescription()
        (book.name, novel.name, author.name, shelf.name) = ("Book", "Novel", "Author", "Shelf")
        let title = attribute("title", .stringAttributeType), id = attribute("id", .integer64AttributeType)
        let authorOf = relationship("author", to: author, toMany: false), books = relationship("books", to: book, toMany: true)
        let shelves = relationship("shelves", to: shelf, toMany: true), content = relationship("content", to: book, toMany: true, ordered: true)
        connect(authorOf, books)
        connect(shelves, content)
        book.properties = [
            title, id, attribute("pages", .integer32AttributeType), attribute("price", .decimalAttributeType),
            attribute("published", .dateAttributeType), attribute("rating", .doubleAttributeType), attribute("isRead", .booleanAttributeType),
            attribute("key", .UUIDAttributeType), authorOf, shelves,
        ]
        book.uniquenessConstraints = [["id"]]
        book.indexes = [
            NSFetchIndexDescription(name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        ]
        novel.properties = [attribute("genre", .stringAttributeType)]
        book.subentities = [novel]
        author.properties = [attribute("name", .stringAttributeType), books]
        shelf.properties = [attribute("room", .stringAttributeType), content]
        let model = NSManagedObjectModel()
        model.entities = [book, novel, author, shelf]
        return model
    }
}
