import Foundation
import SwiftData
import Testing

actor Librarian: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(modelContainer: ModelContainer) {
        self.modelContainer = modelContainer
        modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(modelContainer))
    }

    func add(_ title: String) throws -> PersistentIdentifier {
        let book = Book(title: title)
        modelContext.insert(book)
        try modelContext.save()
        return book.persistentModelID
    }

    func turn(_ id: PersistentIdentifier) throws {
        guard let book = self[id, as: Book.self] else { return }
        book.pages += 1
        try modelContext.save()
    }

    func pages(_ id: PersistentIdentifier) -> Int? { self[id, as: Book.self]?.pages }
    func isOnMainThread() -> Bool { Thread.isMainThread }
    func isOther(_ id: PersistentIdentifier) -> Bool { self[id, as: Author.self] == nil }
}

@Suite struct ModelActorTests {
    @Test func `Actors see each other's saves and lose none`() async throws {
        let library = try Library()
        let actors = (0..<3).map { _ in Librarian(modelContainer: library.container) }
        let id = try await actors[0].add("x")
        for turn in 0..<12 { try await actors[turn % 3].turn(id) }
        #expect(await actors[1].pages(id) == 12)
        #expect(await actors[2].isOther(id))
    }

    @MainActor @Test func `An actor made on the main thread does not run there`() async throws {
        let actor = Librarian(modelContainer: try Library().container)
        #expect(await !actor.isOnMainThread())
        await actor.assertion()
    }
}

extension Librarian {
    func assertion() { assertIsolated() }
}
