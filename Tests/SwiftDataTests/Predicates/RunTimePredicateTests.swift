import Foundation
import HeartwoodSwiftData
import SwiftData
import Testing

/// Conditions and orders that are put together at run time.
@Suite struct RunTimePredicateTests {
    private static func library(_ isInMemory: Bool) throws -> Library {
        let library = try Library(inMemory: isInMemory), authors = ["A", "B"].map(Author.init)
        for number in 0..<12 {
            let book = Book(title: "Book \(number % 6)", pages: number * 10, author: [nil, authors[0], authors[1]][number % 3])
            book.condition = Condition.allCases[number % 3]
            book.shelf = [nil, .front, .back][number % 3]
            book.place = number % 4 == 0 ? nil : Place(city: ["Oslo", "Rome"][number % 2], zip: number, point: .init(x: 1, y: 0))
            book.keywords = number == 3 ? ["k"] : []
            library.context.insert(book)
        }
        try library.context.save()
        return library
    }

    private func pages(_ context: ModelContext, _ format: String, _ arguments: [Any] = []) throws -> [Int] {
        try context.fetch(FetchDescriptor<Book>(predicate: NSPredicate(format: format, argumentArray: arguments))).map(\.pages).sorted()
    }

    @Test(arguments: [false, true]) func `A format finds models by the names of their properties`(isInMemory: Bool) throws {
        let library = try Self.library(isInMemory)
        for context in [library.context, library.other()] {
            #expect(try pages(context, "pages > %@ AND title BEGINSWITH 'Book'", [90]) == [100, 110])
            #expect(try pages(context, "author.name == 'B'") == [20, 50, 80, 110])
            #expect(try pages(context, "place.city == %@ AND pages < 50", ["Rome"]) == [10, 30])
        }
    }

    @Test func `Models, identifiers and cases are arguments`() throws {
        let library = try Self.library(false), context = library.other()
        let author = try #require(try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "A" })).first)
        #expect(try pages(context, "author == %@", [author]) == [10, 40, 70, 100])
        #expect(try pages(context, "author == %@", [author.persistentModelID]) == [10, 40, 70, 100])
        #expect(try pages(context, "author IN %@ AND pages < 50", [[author]]) == [10, 40])
        #expect(try pages(context, "condition == %@ AND pages < 40", [Condition.lost]) == [20])
        #expect(try pages(context, "condition == 'lost' AND pages < 40") == [20])
        #expect(try pages(context, "shelf == %@ AND pages < 40", [Side.back]) == [20])
        #expect(try pages(context, "SUBQUERY(author.books, $b, $b.pages == 110).@count > 0 AND pages > 80") == [110])
    }

    @Test func `An order by names stands behind the typed one`() throws {
        let context = try Self.library(true).context
        var descriptor = FetchDescriptor<Book>(
            predicate: NSPredicate(format: "pages < 40"),
            sortBy: [NSSortDescriptor(key: "condition", ascending: false), NSSortDescriptor(key: "pages", ascending: false)])
        #expect(try context.fetch(descriptor).map(\.pages) == [10, 30, 0, 20])
        descriptor.sortBy = [SortDescriptor(\.title)]
        descriptor.fetchLimit = 3
        #expect(try context.fetch(descriptor).map(\.pages) == [0, 10, 20])
    }

    @Test func `Both kinds of predicates hold together, also where the program evaluates one`() throws {
        let context = try Self.library(true).context
        var descriptor = FetchDescriptor<Book>(predicate: NSPredicate(format: "pages < 60"))
        descriptor.predicate = #Predicate { $0.pages > 20 }
        #expect(try context.fetchCount(descriptor) == 3)
        descriptor.predicate = #Predicate { $0.keywords.isEmpty }
        #expect(try Set(context.fetch(descriptor).map(\.pages)) == [0, 10, 20, 40, 50])
        #expect(descriptor == descriptor && descriptor != FetchDescriptor(predicate: #Predicate { $0.keywords.isEmpty }))
    }

    @Test func `A key that no property has makes the fetch throw`() throws {
        let context = try Self.library(true).context
        #expect(throws: (any Error).self) { try pages(context, "weight > 3") }
    }

    @Test func `Predicates are joined at run time, and the store answers`() throws {
        let context = try Self.library(true).context
        let parts = [#Predicate<Book> { $0.pages > 20 }, #Predicate<Book> { $0.title != "Book 4" }, #Predicate<Book> { $0.author?.name == "A" }]
        for count in 0...parts.count {
            let chosen = Array(parts[..<count])
            for joined in [Predicate.all(chosen), Predicate.any(chosen)] {
                let wanted = try context.fetch(FetchDescriptor<Book>()).filter { try joined.evaluate($0) }
                #expect(try Set(context.fetch(FetchDescriptor(predicate: joined))) == Set(wanted))
                #expect(try context.answersByStore(joined))
            }
        }
        let many = Predicate<Book>.all((0..<100).map { number in #Predicate { $0.pages != number * 10 + 5 } } + [parts[2]])
        #expect(try context.fetchCount(FetchDescriptor(predicate: many)) == 4)
    }

    @Test func `A predicate asks another one, of the model itself and of a related one`() throws {
        let context = try Self.library(true).context
        let thick = #Predicate<Book> { $0.pages > 50 }, first = #Predicate<Author> { $0.name == "A" }
        let wanted = #Predicate<Book> { book in
            if let author = book.author { thick.contains(book) && first.contains(author) } else { false }
        }
        #expect(try context.fetch(FetchDescriptor(predicate: wanted)).map(\.pages).sorted() == [70, 100])
        #expect(try context.answersByStore(wanted))
        let authors = #Predicate<Author> { $0.books.contains { thick.contains($0) } && !first.contains($0) }
        #expect(try context.fetch(FetchDescriptor(predicate: authors)).map(\.name) == ["B"])
        #expect(try context.answersByStore(authors))
    }
}
