import Foundation
import SwiftData
import Testing

/// What threads share of models: containers, their inboxes and observers, the tables of classes and key paths. The thread sanitizer runs these.
@Suite struct ConcurrentModelTests {
    private static let tasks = 4
    private static let turns = 12

    /// Runs the work of several tasks at once.
    private func atOnce(_ work: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.tasks { group.addTask { try await work(task) } }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [false, true])
    func `Actors change one model and their own ones at once, and see each other's saves`(inMemory: Bool) async throws {
        let library = try Library(inMemory: inMemory)
        let container = library.container
        let first = Librarian(modelContainer: container)
        let shared = try await first.add("shared")
        try await atOnce { task in
            let actor = Librarian(modelContainer: container)
            for turn in 0..<Self.turns {
                let own = try await actor.add("\(task)/\(turn)")
                try await actor.turn(own)
                // A save may meet another's: the property of the context that saves wins.
                try await actor.turn(shared)
                #expect(await actor.pages(own) == 1)
            }
        }
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == Self.tasks * Self.turns + 1)
        #expect(await first.pages(shared) ?? 0 >= Self.turns)
    }

    @MainActor @Test func `The main context and an observer follow the saves of actors that come and go`() async throws {
        let library = try Library(inMemory: true)
        let container = library.container, main = container.mainContext
        let observer = try ResultsObserver<Book, Never>(sortBy: [SortDescriptor(\.title)], modelContext: main)
        try await atOnce { task in
            for turn in 0..<Self.turns {
                let actor = Librarian(modelContainer: container)
                _ = try await actor.add("\(task)/\(turn)")
            }
        }
        // An observer tells nobody that it has finished: its results are what there is to look at.
        for _ in 0..<1000 where observer.results.count < Self.tasks * Self.turns { try await Task.sleep(for: .milliseconds(10)) }
        #expect(observer.results.count == Self.tasks * Self.turns)
        main.insert(Book(title: "main"))
        try main.save()
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == Self.tasks * Self.turns + 1)
    }

    @Test func `Containers and contexts are made and dropped at once, and the tables of classes are filled by all`() async throws {
        try await atOnce { task in
            for _ in 0..<Self.turns {
                let context = ModelContext(
                    try ModelContainer(
                        for: ThreadOwner.self, ThreadPart.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
                let owner = ThreadOwner(number: task)
                owner.parts = [ThreadPart(number: 1), ThreadPart(number: 2)]
                context.insert(owner)
                try context.save()
                let found = try context.fetch(
                    FetchDescriptor<ThreadPart>(
                        predicate: #Predicate { $0.owner?.number == task && $0.size.width < 3 }, sortBy: [SortDescriptor(\.number)]))
                #expect(found.map(\.number) == [1, 2])
            }
        }
    }

    @Test func `Contexts delete what others hold and read`() async throws {
        let library = try Library(inMemory: true)
        let container = library.container
        try await atOnce { task in
            let context = ModelContext(container), other = ModelContext(container)
            for turn in 0..<Self.turns {
                let title = "\(task)/\(turn)"
                let book = Book(title: title, pages: turn)
                book.tags = [Tag(label: title)]
                context.insert(book)
                try context.save()
                let held = try #require(try other.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title })).first)
                context.delete(book)
                try context.save()
                _ = try other.fetchCount(FetchDescriptor<Book>())
                #expect(held.pages == turn && held.title == title)
            }
        }
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 0)
    }
}

/// Classes that no other test uses, so that the tasks are the first.
@Model final class ThreadOwner {
    var number: Int
    var parts: [ThreadPart] = []
    init(number: Int) { self.number = number }
}

@Model final class ThreadPart {
    struct Size: Codable { var width = 1, height = 2 }

    var number: Int
    var size: Size = Size()
    var owner: ThreadOwner?
    init(number: Int) { self.number = number }
}
