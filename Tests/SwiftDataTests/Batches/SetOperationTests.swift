import Foundation
import HeartwoodSwiftData
import SwiftData
import Testing

/// Batches over models: what they do in the store, and what contexts see of it.
@Suite struct SetOperationTests {
    private static func library(_ isInMemory: Bool, _ count: Int = 20) throws -> Library {
        let library = try Library(inMemory: isInMemory)
        let author = Author(name: "A")
        for number in 0..<count { library.context.insert(Book(title: "b\(number)", pages: number, author: number % 2 == 0 ? author : nil)) }
        try library.context.save()
        return library
    }

    private struct Refusal: Error {}

    @Test(arguments: [false, true])
    func `Rows are inserted with values of every kind, and other properties have their defaults`(isInMemory: Bool) throws {
        let library = try Self.library(isInMemory, 0), context = library.context, other = library.other()
        let author = Author(name: "A")
        context.insert(author)
        try context.save()
        let place = Place(city: "Oslo", zip: nil, point: .init(x: 1, y: 2))
        let result = try context.insert(batch: Book.self, from: 0..<100) { book, number in
            book.set(\.title, to: "b\(number)")
            book.set(\.pages, to: number)
            book.set(\.condition, to: .used)
            book.set(\.shelf, to: number % 2 == 0 ? .front : nil)
            book.set(\.place, to: number % 3 == 0 ? nil : place)
            book.set(\.origin, to: .gift(from: "x", year: number))
            book.set(\.keywords, to: ["k\(number)"])
            if number % 2 == 0 { book.set(\.author, to: author) } else { book.set(\.author, to: author.persistentModelID) }
        }
        #expect(result.count == 100 && Set(result.identifiers).count == 100)
        for context in [context, other] {
            let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)]))
            #expect(books.map(\.title) == (0..<100).map { "b\($0)" })
            #expect(books.allSatisfy { $0.condition == .used && $0.author?.name == "A" && !$0.isOpen })
            #expect(books.map(\.shelf) == (0..<100).map { $0 % 2 == 0 ? .front : nil })
            #expect(books.map(\.place) == (0..<100).map { $0 % 3 == 0 ? nil : place })
            #expect(books.map(\.origin) == (0..<100).map { .gift(from: "x", year: $0) })
            #expect(books.map(\.keywords) == (0..<100).map { ["k\($0)"] })
            #expect(Set(books.map(\.persistentModelID)) == Set(result.identifiers))
        }
        #expect(author.books.count == 100)
        try context.insert(batch: Book.self, from: ["plain"]) { $0.set(\.title, to: $1) }
        let plain = try #require(try other.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "plain" })).first)
        #expect(plain.pages == 0 && plain.condition == .new && plain.origin == .unknown && plain.author == nil)
    }

    @Test func `A part of a structure is set by itself`() throws {
        let library = try Self.library(true, 0)
        try library.context.insert(batch: Book.self, from: [1]) { book, _ in
            book.set(\.title, to: "x")
            book.set(\.place, to: Place(city: "Oslo", zip: 1, point: .init(x: 1, y: 2)))
        }
        let result = try library.context.update(batch: FetchDescriptor<Book>()) { $0.set(\.place!.city, to: "Rome") }
        #expect(result.count == 1)
        #expect(try library.other().fetch(FetchDescriptor<Book>()).first?.place == Place(city: "Rome", zip: 1, point: .init(x: 1, y: 2)))
    }

    @Test func `A row with the unique values of a model changes that one`() throws {
        let library = try Self.library(true, 0), context = library.context, other = library.other()
        let author = Author(name: "A")
        context.insert(author)
        try context.save()
        let seen = try #require(try other.fetch(FetchDescriptor<Author>()).first)
        #expect(seen.born == nil)
        let day = Date(timeIntervalSinceReferenceDate: 5)
        let result = try context.insert(batch: Author.self, from: ["A", "B"]) { row, name in
            row.set(\.name, to: name)
            row.set(\.born, to: day)
        }
        #expect(result.count == 2 && author.born == day)
        #expect(try other.fetchCount(FetchDescriptor<Author>()) == 2)
        #expect(seen.born == day)
    }

    @Test func `What a closure or a value refuses leaves the store as it was`() throws {
        let library = try Self.library(true, 0), context = library.context
        #expect(throws: Refusal.self) {
            try context.insert(batch: Book.self, from: 0..<10) { book, number in
                book.set(\.title, to: "b")
                if number == 5 { throw Refusal() }
            }
        }
        #expect(throws: SwiftDataError.unsupportedKeyPath) {
            try context.insert(batch: Book.self, from: [1]) { book, _ in book.set(\.tags, to: []) }
        }
        #expect(throws: SwiftDataError.missingModelContext) {
            try context.insert(batch: Book.self, from: [1]) { book, _ in book.set(\.author, to: Author(name: "new")) }
        }
        #expect(throws: (any Error).self) { try context.insert(batch: Book.self, from: [1]) { book, _ in book.set(\.pages, to: 1) } }
        #expect(throws: SwiftDataError.unknownSchema) { try context.insert(batch: Values.self, from: [1]) { _, _ in } }
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    }

    @Test func `Commits of a long insertion are bounded, and nobody is told without identifiers`() throws {
        let library = try Self.library(true, 0)
        let result = try library.context.insert(batch: Tag.self, from: 0..<1000, rowsPerCommit: 100, collectsIdentifiers: false) { tag, number in
            tag.set(\.label, to: "t\(number)")
        }
        #expect(result.count == 1000 && result.identifiers.isEmpty)
        #expect(try library.other().fetchCount(FetchDescriptor<Tag>()) == 1000)
    }

    @Test(arguments: [false, true]) func `An update sets constants and expressions, and all contexts see it`(isInMemory: Bool) throws {
        let library = try Self.library(isInMemory), context = library.context, other = library.other()
        let seen = try other.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)]))
        #expect(seen.map(\.pages) == Array(0..<20))
        let result = try context.update(batch: FetchDescriptor<Book>(predicate: #Predicate { $0.pages >= 10 })) { book in
            book.set(\.condition, to: .lost)
            book.set(\.pages, to: #Expression<Book, Int> { $0.pages * 2 + 1 })
            book.set(\.author, to: nil)
        }
        #expect(result.count == 10 && result.identifiers.count == 10)
        _ = try other.fetchCount(FetchDescriptor<Book>())
        #expect(seen.map(\.pages) == (0..<20).map { $0 < 10 ? $0 : $0 * 2 + 1 })
        #expect(seen.map(\.condition) == (0..<20).map { $0 < 10 ? .new : .lost })
        let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
        #expect(author.books.count == 5)
        try context.update(batch: FetchDescriptor<Book>()) { $0.set(\.author, to: author.persistentModelID) }
        #expect(author.books.count == 20)
    }

    @Test func `An update of a window changes the models in it`() throws {
        let library = try Self.library(true)
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages, order: .reverse)])
        descriptor.fetchLimit = 3
        descriptor.fetchOffset = 1
        try library.context.update(batch: descriptor) { $0.set(\.title, to: "x") }
        let changed = try library.other().fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "x" }))
        #expect(Set(changed.map(\.pages)) == [16, 17, 18])
    }

    @Test func `Unsaved changes of a context win over a batch`() throws {
        let library = try Self.library(true), context = library.context
        let book = try #require(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 3 })).first)
        book.title = "mine"
        try library.other().update(batch: FetchDescriptor<Book>()) {
            $0.set(\.title, to: "all")
            $0.set(\.condition, to: .used)
        }
        try context.save()
        #expect(book.title == "mine" && book.condition == .used)
    }

    @Test func `A predicate of the program's and a value that is no expression's are refused`() throws {
        let context = try Self.library(true).context
        let own = FetchDescriptor<Book>(predicate: #Predicate { $0.keywords.isEmpty })
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.update(batch: own) { $0.set(\.pages, to: 1) } }
        #expect(throws: SwiftDataError.unsupportedPredicate) { try context.delete(batch: own) }
        #expect(throws: SwiftDataError.unsupportedKeyPath) { try context.update(batch: FetchDescriptor<Book>()) { $0.set(\.author!.name, to: "x") } }
        #expect(try context.update(batch: FetchDescriptor<Book>()) { _ in }.count == 0)
    }

    @Test(arguments: [false, true]) func `A deletion follows the rules, and all contexts see it`(isInMemory: Bool) throws {
        let library = try Self.library(isInMemory), context = library.context, other = library.other()
        let seen = try other.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)]))
        let result = try context.delete(batch: FetchDescriptor<Book>(predicate: NSPredicate(format: "pages >= 15")))
        #expect(result.count == 5 && result.identifiers.count == 5)
        #expect(try other.fetchCount(FetchDescriptor<Book>()) == 15)
        #expect(seen.filter { $0.modelContext != nil && !$0.isDeleted }.count == 15)
        let cascade = try context.delete(batch: FetchDescriptor<Author>())
        #expect(cascade.count == 1 && cascade.identifiers.count == 9, "the author and its eight books")
        #expect(try other.fetchCount(FetchDescriptor<Book>()) == 7)
    }

    @Test func `A batch is one transaction of the history`() throws {
        let library = try Self.library(false)
        let before = try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count
        library.context.author = "import"
        try library.context.insert(batch: Tag.self, from: 0..<10) { tag, number in tag.set(\.label, to: "\(number)") }
        let after = try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(after.count == before + 1 && after.last?.changes.count == 10 && after.last?.author == "import")
    }
}
