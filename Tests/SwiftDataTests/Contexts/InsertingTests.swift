import Foundation
import SwiftData
import Testing

@Suite struct InsertingTests {
    @Test(arguments: [false, true]) func `An inserted model brings the models that it leads to`(inMemory: Bool) throws {
        let library = try Library(inMemory: inMemory)
        let author = Author(name: "Le Guin")
        let book = Book(title: "The Dispossessed", pages: 341, author: author)
        book.tags = [Tag(label: "utopia"), Tag(label: "moon")]
        library.context.insert(book)
        #expect(author.modelContext === library.context)
        #expect(author.books == [book])
        #expect(library.context.insertedModelsArray.count == 4)
        try library.context.save()

        let found = try library.other().fetch(FetchDescriptor<Book>())
        #expect(found.map(\.title) == ["The Dispossessed"])
        #expect(found[0].author?.name == "Le Guin")
        #expect(Set(found[0].tags.map(\.label)) == ["utopia", "moon"])
        #expect(found[0].tags.allSatisfy { $0.books == [found[0]] })
    }

    @Test func `Models of no context keep both ends of a relationship equal`() {
        let first = Author(name: "A"), second = Author(name: "B"), book = Book(title: "x"), tag = Tag(label: "t")
        first.books.append(book)
        #expect(book.author === first)
        book.author = second
        #expect(first.books.isEmpty)
        #expect(second.books == [book])
        second.books = []
        #expect(book.author == nil)
        book.tags = [tag]
        #expect(tag.books == [book])
        tag.books = []
        #expect(book.tags.isEmpty)
    }

    @Test func `A model joins the context of a model that it is given`() throws {
        let library = try Library()
        let author = Author(name: "A")
        library.context.insert(author)
        let book = Book(title: "x")
        book.author = author
        #expect(book.modelContext === library.context)
        let other = Book(title: "y")
        author.books.append(other)
        #expect(other.modelContext === library.context)
        #expect(other.author === author)
        try library.context.save()
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 2)
    }

    @Test func `A rollback gives inserted models back with their values`() throws {
        let library = try Library()
        let book = Book(title: "x", pages: 3, author: Author(name: "A"))
        library.context.insert(book)
        library.context.rollback()
        #expect(book.modelContext == nil)
        #expect(book.title == "x")
        #expect(book.author?.name == "A")
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 0)
        library.context.insert(book)
        try library.context.save()
        #expect(try library.other().fetch(FetchDescriptor<Book>()).map(\.pages) == [3])
    }

    @Test func `A rollback takes changes and deletions back`() throws {
        let library = try Library()
        let book = Book(title: "x", pages: 3)
        library.context.insert(book)
        try library.context.save()
        book.pages = 4
        library.context.rollback()
        #expect(book.pages == 3)
        library.context.delete(book)
        #expect(book.isDeleted)
        library.context.rollback()
        #expect(!book.isDeleted)
        #expect(try library.context.fetch(FetchDescriptor<Book>()) == [book])
    }

    @Test func `A deleted model can be read and inserted again`() throws {
        let library = try Library()
        let author = Author(name: "A")
        let book = Book(title: "x", pages: 3, author: author)
        book.origin = .gift(from: "B", year: 1999)
        library.context.insert(book)
        try library.context.save()
        library.context.delete(author)
        try library.context.save()
        #expect(author.modelContext == nil && book.modelContext == nil)
        #expect(book.title == "x" && book.origin == .gift(from: "B", year: 1999))
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 0)
        book.title = "y"
        library.context.insert(book)
        try library.context.save()
        #expect(Set(try library.other().fetch(FetchDescriptor<Book>()).map(\.title)) == ["y"])
    }

    @Test func `A model whose row another context has deleted is read without a trap`() throws {
        let library = try Library()
        library.context.insert(Book(title: "x", pages: 3))
        try library.context.save()
        let other = library.other()
        let book = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        try library.context.delete(model: Book.self)
        try library.context.save()
        #expect(try other.fetchCount(FetchDescriptor<Book>()) == 0)
        _ = (book.title, book.pages, book.condition, book.origin, book.place, book.keywords, book.author, book.tags)
        book.pages = 5
        try? other.save()
    }

    @Test func `A model that is saved with the unique value of another changes that one`() throws {
        let library = try Library()
        let first = Author(name: "A")
        first.books = [Book(title: "kept")]
        library.context.insert(first)
        try library.context.save()
        let second = Author(name: "A")
        second.born = Date(timeIntervalSinceReferenceDate: 5)
        library.context.insert(second)
        try library.context.save()
        let found = try library.other().fetch(FetchDescriptor<Author>())
        #expect(found.count == 1)
        #expect(found.first?.born == Date(timeIntervalSinceReferenceDate: 5))
    }

    @Test func `Transient values live as long as the changes of their model`() throws {
        let library = try Library()
        do {
            let book = Book(title: "x")
            book.isOpen = true
            library.context.insert(book)
        }
        let book = try #require(try library.context.fetch(FetchDescriptor<Book>()).first)
        #expect(book.isOpen)
    }

    @Test func `The identifier is the program's own until the save, and finds the model then too`() throws {
        let library = try Library()
        let book = Book(title: "x")
        let early = book.persistentModelID
        library.context.insert(book)
        #expect(book.persistentModelID == early)
        #expect(library.context.model(for: early) === book)
        #expect(library.context.registeredModel(for: early) as Book? === book)
        try library.context.save()
        let saved = book.persistentModelID
        #expect(saved != early)
        let name = library.url.deletingPathExtension().lastPathComponent
        #expect(saved.storeIdentifier == library.container.storeIdentifier(forConfigurationNamed: name))
        let copy = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(saved))
        #expect(copy == saved && copy.hashValue == saved.hashValue && copy.entityName == "Book")
        #expect((library.other().model(for: copy) as? Book)?.title == "x")
        #expect(library.other().registeredModel(for: copy) as Book? == nil)
    }

    @Test func `Hostile identifiers are refused`() throws {
        let texts = [
            "{}", "[]", "3", "{\"implementation\":{}}",
            "{\"implementation\":{\"uriRepresentation\":\"x-coredata://A/Book/t1\",\"entityName\":\"Book\"}}",
            "{\"implementation\":{\"uriRepresentation\":\"file:///x\",\"entityName\":\"Book\"}}",
            "{\"implementation\":{\"uriRepresentation\":\"x-coredata://A/Tag/p1\",\"entityName\":\"Book\"}}",
        ]
        for text in texts {
            #expect(throws: DecodingError.self, "\(text)") { try JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8)) }
        }
        let library = try Library()
        let strange = "{\"implementation\":{\"uriRepresentation\":\"x-coredata://A/Book/p99\",\"entityName\":\"Book\"}}"
        let identifier = try JSONDecoder().decode(PersistentIdentifier.self, from: Data(strange.utf8))
        #expect((library.context.model(for: identifier) as? Book)?.title == "")
    }

    @Test func `Subclasses are found as their superclass and as themselves`() throws {
        let library = try Library()
        library.context.insert(Item(name: "box"))
        library.context.insert(Tool(name: "hammer", weight: 2))
        library.context.insert(Saw(name: "saw", weight: 3))
        try library.context.save()
        let other = library.other()
        let items = try other.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
        #expect(items.map(\.name) == ["box", "hammer", "saw"])
        #expect(items.map { type(of: $0) == Saw.self } == [false, false, true])
        #expect((items[2] as? Saw)?.teeth == 10 && (items[2] as? Tool)?.weight == 3)
        let heavy = try other.fetch(FetchDescriptor<Tool>(predicate: #Predicate { $0.weight > 2 && $0.name == "saw" }))
        #expect(heavy == [items[2]])
        try other.delete(model: Item.self, where: #Predicate { $0.name != "box" }, includeSubclasses: false)
        try other.save()
        #expect(try library.other().fetchCount(FetchDescriptor<Item>()) == 3)
        try other.delete(model: Tool.self)
        try other.save()
        #expect(try library.other().fetch(FetchDescriptor<Item>()).map(\.name) == ["box"])
    }
}
