import Foundation
import SwiftData
import Testing

@Suite struct TurnsTests {
    @Test(arguments: [false, true]) func `Two contexts by turns lose no increment`(holdsModels: Bool) throws {
        let library = try Library()
        library.context.insert(Book(title: "x"))
        try library.context.save()
        let contexts = [library.other(), library.other()]
        var held: [Book] = []
        for turn in 0..<20 {
            let context = contexts[turn % 2]
            let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
            if holdsModels { held.append(book) }
            book.pages += 1
            try context.save()
        }
        #expect(try library.other().fetch(FetchDescriptor<Book>()).first?.pages == 20)
        #expect(held.allSatisfy { $0.title == "x" })
    }

    @Test func `A context sees the insertions, changes and deletions of another at its next fetch`() throws {
        let library = try Library()
        let other = library.other()
        let first = Book(title: "a"), second = Book(title: "b")
        library.context.insert(first)
        library.context.insert(second)
        try library.context.save()
        let order = [SortDescriptor(\Book.title)]
        let seen = try other.fetch(FetchDescriptor(sortBy: order))
        #expect(seen.map(\.title) == ["a", "b"])
        first.title = "c"
        library.context.delete(second)
        library.context.insert(Book(title: "d"))
        try library.context.save()
        #expect(try other.fetch(FetchDescriptor(sortBy: order)).map(\.title) == ["c", "d"])
        #expect(seen[0].title == "c")
    }

    @Test func `A deletion by another context is no change of a context that has the model`() throws {
        let library = try Library()
        let other = library.other(), book = Book(title: "a")
        library.context.insert(book)
        library.context.insert(Book(title: "b"))
        try library.context.save()
        let seen = try other.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Book.title)]))
        library.context.delete(book)
        try library.context.save()
        #expect(try other.fetch(FetchDescriptor<Book>(), batchSize: 1).map(\.title) == ["b"])
        #expect(!other.hasChanges && other.deletedModelsArray.isEmpty)
        #expect(seen[0].title == "a" && seen[0].modelContext == nil)
        #expect(try other.delete(batch: FetchDescriptor<Book>()).count == 1)
        #expect(!other.hasChanges && seen[1].modelContext == nil)
    }

    @Test func `A context's own changes win over another's`() throws {
        let library = try Library()
        library.context.insert(Book(title: "a", pages: 1))
        try library.context.save()
        let other = library.other()
        let mine = try #require(try library.context.fetch(FetchDescriptor<Book>()).first)
        let theirs = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        mine.pages = 2
        theirs.title = "b"
        try other.save()
        try library.context.save()
        let found = try #require(try library.other().fetch(FetchDescriptor<Book>()).first)
        #expect(found.pages == 2 && found.title == "b")
    }

    @Test func `Contexts of many tasks save at once, come and go, and lose none`() async throws {
        let library = try Library()
        let container = library.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<20 {
                        let context = ModelContext(container)
                        context.insert(Book(title: "\(task)/\(number)"))
                        try context.save()
                        _ = try context.fetchCount(FetchDescriptor<Book>())
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try library.context.fetchCount(FetchDescriptor<Book>()) == 80)
    }

    @Test func `A store is the same after a second opening`() throws {
        let url: URL
        do {
            let library = try Library()
            url = library.url
            let book = Book(title: "x", pages: 7, author: Author(name: "A"))
            book.place = Place(city: "Oslo", zip: nil, point: .init(x: 1, y: 2))
            library.context.insert(book)
            try library.context.save()
        }
        let again = ModelContext(try Library.open(url))
        let book = try #require(try again.fetch(FetchDescriptor<Book>()).first)
        #expect(book.title == "x" && book.author?.name == "A" && book.place == Place(city: "Oslo", zip: nil, point: .init(x: 1, y: 2)))
    }

    @Test func `A model that another context deletes and inserts again stays the same model`() throws {
        let library = try Library()
        let manager = UndoManager()
        manager.groupsByEvent = false
        library.context.insert(Book(title: "a"))
        try library.context.save()
        let other = library.other()
        let held = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        library.context.undoManager = manager
        manager.beginUndoGrouping()
        try library.context.delete(model: Book.self)
        library.context.processPendingChanges()
        manager.endUndoGrouping()
        try library.context.save()
        manager.undo()
        try library.context.save()
        #expect(try other.fetch(FetchDescriptor<Book>()) == [held])
        #expect(held.modelContext === other && held.title == "a")
    }

    @Test func `A save posts the identifiers that it changed`() throws {
        let library = try Library()
        let changed = Book(title: "a"), deleted = Book(title: "b")
        library.context.insert(changed)
        library.context.insert(deleted)
        try library.context.save()
        let gone = deleted.persistentModelID
        nonisolated(unsafe) var infos: [[AnyHashable: Any]] = []
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: library.context, queue: nil) {
            infos.append($0.userInfo ?? [:])
        }
        defer { NotificationCenter.default.removeObserver(token) }
        changed.pages = 1
        library.context.delete(deleted)
        let inserted = Book(title: "c")
        library.context.insert(inserted)
        try library.context.save()
        func ids(_ key: ModelContext.NotificationKey) -> [PersistentIdentifier]? { infos.first?[key.rawValue] as? [PersistentIdentifier] }
        #expect(infos.count == 1)
        #expect(ids(.insertedIdentifiers) == [inserted.persistentModelID])
        #expect(ids(.updatedIdentifiers) == [changed.persistentModelID])
        #expect(ids(.deletedIdentifiers) == [gone])
    }
}
