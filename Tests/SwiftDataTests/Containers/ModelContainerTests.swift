import Foundation
import SwiftData
import Testing

@Model
final class Left {
    var name: String = ""
    var one: Right?
    var other: Right?
    init() {}
}

@Model
final class Right {
    var lefts: [Left] = []
    init() {}
}

@Model
final class Unfit {
    var name: String = ""
    init() {}
}

@Suite struct ModelContainerTests {
    private func temporary() -> URL { FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store") }

    @Test func `Two configurations keep their models in stores of their own`() throws {
        let urls = [temporary(), temporary()]
        let configurations = [
            ModelConfiguration("people", schema: Schema([Author.self, Book.self, Tag.self]), url: urls[0]),
            ModelConfiguration("things", schema: Schema([Item.self, Tool.self, Saw.self]), url: urls[1]),
        ]
        let container = try ModelContainer(for: Schema(Library.types), configurations: configurations)
        let context = ModelContext(container)
        context.insert(Author(name: "A"))
        context.insert(Saw(name: "s", weight: 1))
        try context.save()
        #expect(container.storeIdentifier(forConfigurationNamed: "people") != container.storeIdentifier(forConfigurationNamed: "things"))
        let identifier = try #require(container.storeIdentifier(forConfigurationNamed: "things"))
        #expect(container.configurationName(forStoreIdentifier: identifier) == "things")
        let alone = try ModelContainer(for: Schema([Item.self, Tool.self, Saw.self]), configurations: ModelConfiguration(url: urls[1]))
        #expect(try ModelContext(alone).fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @Test func `Impossible configurations and schemas are refused with what to write`() throws {
        let url = temporary()
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(for: Author.self, configurations: ModelConfiguration("a", url: url), ModelConfiguration("a", url: temporary()))
        }
        #expect(throws: SwiftDataError.configurationFileNameTooLong) {
            try ModelContainer(for: Author.self, configurations: ModelConfiguration(String(repeating: "x", count: 300)))
        }
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
            try ModelContainer(for: Author.self, configurations: ModelConfiguration("a/b", url: url))
        }
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Schema([Author.self]),
                configurations: [ModelConfiguration("a", schema: Schema([Item.self]), url: url), ModelConfiguration("b", url: temporary())])
        }
        let error = #expect(throws: SwiftDataError.self) { try ModelContainer(for: Left.self, configurations: ModelConfiguration(url: url)) }
        #expect(error == .loadIssueModelContainer && error?.explanation?.contains("@Relationship(inverse:)") == true)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `A read-only configuration refuses saves`() throws {
        let library = try Library()
        library.context.insert(Book(title: "x"))
        try library.context.save()
        let configuration = ModelConfiguration(url: library.url, allowsSave: false)
        let readOnly = ModelContext(try ModelContainer(for: Schema(Library.types), configurations: configuration))
        #expect(try readOnly.fetchCount(FetchDescriptor<Book>()) == 1)
        readOnly.insert(Book(title: "y"))
        #expect(throws: (any Error).self) { try readOnly.save() }
    }

    @Test func `Erasing a container deletes the models of all stores`() throws {
        let library = try Library()
        library.context.insert(Book(title: "x", author: Author(name: "A")))
        library.context.insert(Saw(name: "s", weight: 1))
        try library.context.save()
        try library.container.erase()
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(try library.other().fetchCount(FetchDescriptor<Item>()) == 0)
        library.context.insert(Book(title: "z"))
        try library.context.save()
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 1)
    }

    @Test func `A schema tells its entities, and reads itself from a file`() throws {
        let schema = Schema(Library.types, version: Schema.Version(2, 1, 0))
        #expect(schema.entitiesByName.keys.sorted() == ["Author", "Book", "Item", "Saw", "Tag", "Tool"])
        let book = try #require(schema.entity(for: Book.self))
        #expect(book.relationshipsByName["author"]?.inverseName == "books")
        #expect(book.relationshipsByName["tags"]?.inverseName == "books")
        #expect(book.indices == [["title"], ["pages", "title"]])
        #expect(schema.entity(for: Author.self)?.uniquenessConstraints == [["name"]])
        #expect(schema.entity(for: Saw.self)?.superentityName == "Tool")
        #expect(schema.entity(for: Saw.self)?.inheritedPropertiesByName.keys.sorted() == ["name", "weight"])
        #expect(book.attributesByName["title"]?.isOptional == false && book.attributesByName["shelf"]?.isOptional == true)
        let url = temporary()
        try schema.save(to: url)
        #expect(try Schema.load(from: url) == schema)
    }

    @MainActor @Test func `A container goes with the program's last reference, and the main context with it`() throws {
        weak var container: ModelContainer?
        weak var context: ModelContext?
        var kept: ModelContext?
        for keepsContext in [false, true] {
            do {
                let made = try ModelContainer(for: Item.self, configurations: ModelConfiguration(url: temporary()))
                (container, context) = (made, made.mainContext)
                made.mainContext.insert(Item(name: "a"))
                #expect(made.mainContext.insertedModelsArray.count == 1)
                #expect(made.mainContext.container === made)
                #expect(made.mainContext.container.mainContext === made.mainContext)
                if keepsContext { kept = made.mainContext }
            }
            #expect(container == nil)
            #expect((context == nil) == !keepsContext)
        }
        try kept?.save()
        #expect(try kept?.fetchCount(FetchDescriptor<Item>()) == 1)
    }

    @MainActor @Test func `The main context saves by itself`() async throws {
        let library = try Library()
        let main = library.container.mainContext
        #expect(main === library.container.mainContext && main.autosaveEnabled)
        #expect(!library.context.autosaveEnabled)
        main.insert(Book(title: "x"))
        // The save is a job of the main queue: nothing tells of its end, since the context is the only one that knows.
        for _ in 0..<200 where main.hasChanges { try await Task.sleep(for: .milliseconds(5)) }
        #expect(!main.hasChanges)
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 1)
    }

    @MainActor @Test func `The main context saves what was changed before it was told to save by itself`() async throws {
        let library = try Library()
        let main = library.container.mainContext
        main.autosaveEnabled = false
        let book = Book(title: "x")
        main.insert(book)
        main.autosaveEnabled = true
        book.title = "y"
        // As above.
        for _ in 0..<200 where main.hasChanges { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try library.other().fetch(FetchDescriptor<Book>()).map(\.title) == ["y"])
    }
}
