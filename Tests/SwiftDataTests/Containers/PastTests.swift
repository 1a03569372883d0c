import Foundation
import SwiftData
import Testing

/// Past states of stores, and copies.
@Suite struct PastTests {
    @Test func `A container shows a store as of a commit or a time, and cannot change it`() throws {
        let library = try Library(), context = library.context
        let book = Book(title: "first", pages: 1)
        context.insert(book)
        try context.save()
        let commit = try #require(library.container.commitNumber()), then = Date()
        book.title = "second"
        context.insert(Book(title: "other"))
        try context.save()
        #expect(try #require(library.container.commitNumber()) > commit)
        for moment in [StoreMoment.commit(commit), .date(then)] {
            var configuration = ModelConfiguration(url: library.url)
            configuration.asOf = moment
            let past = try ModelContainer(for: Schema(Library.types), configurations: configuration)
            let before = ModelContext(past)
            #expect(try before.fetch(FetchDescriptor<Book>()).map(\.title) == ["first"])
            #expect(past.commitNumber() == commit)
            before.insert(Author(name: "A"))
            #expect(throws: (any Error).self) { try before.save() }
        }
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 2)
        var missing = ModelConfiguration(url: library.url)
        missing.asOf = .commit(1_000_000)
        #expect(throws: SwiftDataError.loadIssueModelContainer) { try ModelContainer(for: Schema(Library.types), configurations: missing) }
        #expect(missing != ModelConfiguration(url: library.url))
    }

    @Test(arguments: [false, true]) func `A copy has the models of its moment`(isInMemory: Bool) throws {
        let library = try Library(inMemory: isInMemory), context = library.context
        context.insert(Book(title: "first", author: Author(name: "A")))
        try context.save()
        let folder = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString)")
        let copies = try library.container.copyStores(to: folder)
        context.insert(Book(title: "later"))
        try context.save()
        let copy = try #require(copies.first?.value)
        #expect(copies.count == 1 && copy.deletingLastPathComponent().path == folder.path)
        let again = try Library.open(copy)
        #expect(try ModelContext(again).fetch(FetchDescriptor<Book>()).map { [$0.title, $0.author?.name] } == [["first", "A"]])
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 2)
        #expect(isInMemory == (library.container.commitNumber() == nil))
    }
}
