import Foundation
import SwiftData

enum Condition: String, Codable, CaseIterable { case new, used, lost }

enum Side: Int, Codable { case front = 3, back = 7 }

enum Origin: Codable, Equatable {
    case bought(price: Double)
    case gift(from: String, year: Int)
    case unknown
}

struct Place: Codable, Equatable {
    var city: String
    var zip: Int?
    var point: Point

    struct Point: Codable, Equatable {
        var x: Double
        var y: Double
    }
}

@Model
final class Author {
    @Attribute(.unique) var name: String
    var born: Date?
    @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []

    init(name: String) { self.name = name }
}

@Model
final class Book {
    #Index<Book>([\.title], [\.pages, \.title])

    var title: String
    var pages: Int = 0
    var condition: Condition = Condition.new
    var shelf: Side?
    var origin: Origin = Origin.unknown
    var place: Place?
    var keywords: [String] = []
    var author: Author?
    var tags: [Tag] = []
    @Transient var isOpen = false

    init(title: String, pages: Int = 0, author: Author? = nil) {
        self.title = title
        self.pages = pages
        self.author = author
    }

    var summary: String { "\(title), \(pages)" }
}

@Model
final class Tag {
    var label: String
    var books: [Book] = []

    init(label: String) { self.label = label }
}

@Model
class Item {
    var name: String

    init(name: String) { self.name = name }
}

@Model
class Tool: Item {
    var weight: Double = 1

    init(name: String, weight: Double) {
        self.weight = weight
        super.init(name: name)
    }
}

@Model
final class Saw: Tool {
    var teeth: Int = 10

    override init(name: String, weight: Double) { super.init(name: name, weight: weight) }
}

/// Stores of the sample models, each test's own.
struct Library {
    static let types: [any PersistentModel.Type] = [Author.self, Book.self, Tag.self, Item.self, Tool.self, Saw.self]
    let url: URL
    let container: ModelContainer
    let context: ModelContext

    /// - Parameter isInMemory: nil for a store in a file.
    init(inMemory: Bool = false) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")
        container = try Self.open(url, inMemory: inMemory)
        context = ModelContext(container)
    }

    static func open(_ url: URL, inMemory: Bool = false) throws -> ModelContainer {
        let schema = Schema(types)
        return try ModelContainer(
            for: schema, configurations: inMemory ? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true) : ModelConfiguration(url: url))
    }

    /// A context that has seen nothing yet.
    func other() -> ModelContext { ModelContext(container) }
}
