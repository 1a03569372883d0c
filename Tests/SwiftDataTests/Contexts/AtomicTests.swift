import Foundation
import SwiftData
import Testing

@ModelActor actor Teller {
    func add(_ amount: Int, to id: PersistentIdentifier) throws {
        try modelContext.atomically {
            guard let book = self[id, as: Book.self] else { return }
            book.pages += amount
        }
    }

    func move(_ amount: Int, from source: PersistentIdentifier, to target: PersistentIdentifier) throws {
        try modelContext.atomically {
            guard let from = self[source, as: Book.self], let to = self[target, as: Book.self], from.pages >= amount else { return }
            from.pages -= amount
            to.pages += amount
        }
    }
}

/// What is one step over several actors, contexts and stores.
@Suite struct AtomicTests {
    @Test(arguments: [false, true]) func `Two actors at the same time lose no change of each other`(isInMemory: Bool) async throws {
        let library = try Library(inMemory: isInMemory)
        let book = Book(title: "x")
        library.context.insert(book)
        try library.context.save()
        let id = book.persistentModelID, container = library.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                let teller = Teller(modelContainer: container)
                group.addTask { for _ in 0..<50 { try await teller.add(1, to: id) } }
            }
            try await group.waitForAll()
        }
        _ = try library.context.fetchCount(FetchDescriptor<Book>())
        #expect(book.pages == 100)
    }

    @Test func `What two actors move between models is neither lost nor made`() async throws {
        let library = try Library(inMemory: true), books = [Book(title: "a", pages: 50), Book(title: "b", pages: 50)]
        for book in books { library.context.insert(book) }
        try library.context.save()
        let ids = books.map(\.persistentModelID), container = library.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                let teller = Teller(modelContainer: container)
                group.addTask { for turn in 0..<40 { try await teller.move(turn % 7, from: ids[number], to: ids[1 - number]) } }
            }
            try await group.waitForAll()
        }
        _ = try library.context.fetchCount(FetchDescriptor<Book>())
        #expect(books.reduce(0) { $0 + $1.pages } == 100 && books.allSatisfy { $0.pages >= 0 })
    }

    @Test func `A block that another context has overtaken runs again over the new values`() throws {
        let library = try Library(inMemory: true), other = library.other()
        let book = Book(title: "x", pages: 1)
        library.context.insert(book)
        try library.context.save()
        let theirs = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        var runs = 0
        let seen = try library.context.atomically {
            runs += 1
            let before = book.pages
            if runs == 1 {
                theirs.pages = 10
                try other.save()
                _ = try library.context.fetchCount(FetchDescriptor<Author>())
            }
            book.pages = before + 1
            return before
        }
        #expect(runs == 2 && seen == 10 && book.pages == 11)
        _ = try other.fetchCount(FetchDescriptor<Book>())
        #expect(theirs.pages == 11)
        #expect(throws: (any Error).self) {
            try library.context.atomically(attempts: 3) {
                runs += 1
                let before = book.pages
                theirs.pages += 1
                try other.save()
                book.pages = before + 100
            }
        }
        #expect(runs == 5 && !library.context.hasChanges)
        _ = try library.context.fetchCount(FetchDescriptor<Book>())
        #expect(book.pages == 14)
    }

    @Test func `A block that throws leaves nothing, and what was unsaved before is saved`() throws {
        struct Refusal: Error {}
        let library = try Library(inMemory: true), context = library.context
        context.insert(Book(title: "before"))
        #expect(throws: Refusal.self) {
            try context.atomically {
                context.insert(Book(title: "within"))
                throw Refusal()
            }
        }
        #expect(!context.hasChanges)
        #expect(try library.other().fetch(FetchDescriptor<Book>()).map(\.title) == ["before"])
        try context.atomically { context.insert(Author(name: "A")) }
        let born = Date(timeIntervalSinceReferenceDate: 1)
        // A unique value changes the model that has it, as in any save.
        let other = library.other()
        try other.atomically {
            let author = Author(name: "A")
            author.born = born
            other.insert(author)
        }
        #expect(try library.other().fetch(FetchDescriptor<Author>()).map(\.born) == [born])
    }

    @Test func `A save over two stores is one step`() throws {
        let folder = FileManager.default.temporaryDirectory
        let urls = (0..<2).map { _ in folder.appending(path: "SwiftDataTests-\(UUID().uuidString).store") }
        let container = try ModelContainer(
            for: Schema(Library.types),
            configurations: [
                ModelConfiguration("people", schema: Schema([Author.self, Book.self, Tag.self]), url: urls[0]),
                ModelConfiguration("things", schema: Schema([Item.self, Tool.self, Saw.self]), url: urls[1]),
            ])
        let context = ModelContext(container), other = ModelContext(container)
        let book = Book(title: "x", pages: 1), item = Item(name: "i")
        try context.transaction {
            context.insert(book)
            context.insert(item)
        }
        let theirs = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        // The first run changes both stores, and neither keeps it, since the book was saved by another context meanwhile.
        var runs = 0, names: [String] = []
        try context.atomically {
            runs += 1
            if runs == 1 {
                theirs.pages = 5
                try other.save()
            }
            names += try ModelContext(container).fetch(FetchDescriptor<Item>()).map(\.name)
            book.pages += 1
            item.name += "\(runs)"
        }
        #expect(runs == 2 && names == ["i", "i"] && book.pages == 6 && item.name == "i2")
        #expect(try ModelContext(container).fetch(FetchDescriptor<Item>()).map(\.name) == ["i2"])
    }
}
