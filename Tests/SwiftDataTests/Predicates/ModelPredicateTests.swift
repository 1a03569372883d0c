import Foundation
import HeartwoodSwiftData
import SwiftData
import Testing

/// Predicates of models give what Swift gives for the same models in memory, and the store answers those that it should.
@Suite struct ModelPredicateTests {
    private let library: Library

    init() throws {
        library = try Library()
        let authors = ["A", "B"].map(Author.init)
        authors[0].born = Date(timeIntervalSinceReferenceDate: 100)
        for number in 0..<24 {
            let book = Book(title: "Book \(number % 6)", pages: number * 10, author: [nil, authors[0], authors[1]][number % 3])
            book.condition = Condition.allCases[number % 3]
            book.shelf = [nil, .front, .back][number % 3]
            book.origin = [.unknown, .bought(price: Double(number)), .gift(from: "x", year: number)][number % 3]
            let zip = number % 5 == 0 ? nil : number
            book.place = Place(city: ["Oslo", "Rome"][number % 2], zip: zip, point: .init(x: Double(number), y: 0))
            if number % 4 == 0 { book.place = nil }
            book.keywords = number % 2 == 0 ? [] : ["k\(number)"]
            library.context.insert(book)
        }
        let tags = ["red", "blue"].map(Tag.init)
        for book in try library.context.fetch(FetchDescriptor<Book>()) where book.pages % 20 == 0 {
            book.tags = book.pages % 40 == 0 ? tags : [tags[0]]
        }
        try library.context.save()
    }

    /// - Parameter isStored: whether the store has to answer, without the program's help.
    private func check<T: PersistentModel>(_ predicate: Predicate<T>, isStored: Bool = true, _ line: SourceLocation = #_sourceLocation) throws {
        for context in [library.context, library.other()] {
            let all = try context.fetch(FetchDescriptor<T>())
            let wanted = try all.filter { try predicate.evaluate($0) }
            let found = try context.fetch(FetchDescriptor(predicate: predicate))
            #expect(Set(found) == Set(wanted), sourceLocation: line)
            #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == wanted.count, sourceLocation: line)
            let identifiers = Set(try context.fetchIdentifiers(FetchDescriptor(predicate: predicate)))
            #expect(identifiers == Set(wanted.map(\.persistentModelID)), sourceLocation: line)
            #expect(!wanted.isEmpty && wanted.count < all.count, "The predicate chooses all or nothing", sourceLocation: line)
            #expect(try context.answersByStore(predicate) == isStored, sourceLocation: line)
        }
    }

    @Test func `A predicate that the program evaluates judges the stored values where pending changes are left out`() throws {
        let context = library.context, old = "k1", new = "unsaved"
        let book = try #require(context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.keywords.contains(old) })).first)
        book.keywords = [new]
        for (word, isStored) in [(old, true), (new, false)] {
            var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.keywords.contains(word) })
            #expect(try context.fetch(descriptor) == (isStored ? [] : [book]))
            descriptor.includePendingChanges = false
            #expect(try context.fetch(descriptor) == (isStored ? [book] : []))
            #expect(try context.fetchCount(descriptor) == (isStored ? 1 : 0))
            descriptor.fetchOffset = 1
            #expect(try context.fetchIdentifiers(descriptor).isEmpty)
        }
        #expect(book.keywords == [new])
    }

    @Test func `Texts, numbers and dates`() throws {
        let title = "Book 2", limit = 100, past = Date(timeIntervalSinceReferenceDate: 200), early = Date(timeIntervalSinceReferenceDate: 150)
        try check(#Predicate<Book> { $0.title == title })
        try check(#Predicate<Book> { $0.title != title && ($0.pages > limit || $0.pages < 20) })
        try check(#Predicate<Book> { limit <= $0.pages })
        try check(#Predicate<Book> { !($0.pages >= limit) })
        try check(#Predicate<Book> { $0.title.contains("3") })
        try check(#Predicate<Book> { $0.title.starts(with: "Book 4") })
        try check(#Predicate<Book> { $0.title.localizedStandardContains("BOOK 5") })
        try check(#Predicate<Book> { $0.pages * 2 + 1 > limit })
        try check(#Predicate<Book> { (20..<90).contains($0.pages) })
        try check(#Predicate<Author> { ($0.born ?? past) < early })
        try check(#Predicate<Author> { $0.born == nil })
        try check(#Predicate<Author> { $0.born != nil })
    }

    @Test func `Enumerations, by case and by raw value`() throws {
        let wanted = Condition.used, raw = "lost", shelf: Side? = .back, none: Side? = nil, list: [Condition] = [.new, .lost], number = 3
        try check(#Predicate<Book> { $0.condition == wanted })
        try check(#Predicate<Book> { $0.condition != wanted })
        try check(#Predicate<Book> { $0.condition.rawValue == raw })
        try check(#Predicate<Book> { list.contains($0.condition) })
        try check(#Predicate<Book> { $0.shelf == shelf })
        try check(#Predicate<Book> { $0.shelf != shelf })
        try check(#Predicate<Book> { $0.shelf == none })
        try check(#Predicate<Book> { $0.shelf?.rawValue == number })
    }

    @Test func `Parts of structures`() throws {
        let city = "Rome"
        try check(#Predicate<Book> { $0.place?.city == city })
        try check(#Predicate<Book> { $0.place?.zip == nil })
        try check(#Predicate<Book> { $0.place == nil })
        try check(#Predicate<Book> { ($0.place?.point.x ?? 0) > 7 })
    }

    @Test func `To-one relationships, with nil on either side`() throws {
        let name = "A", author = try library.context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)])).first
        let id = try #require(author).persistentModelID, none: PersistentIdentifier? = nil
        try check(#Predicate<Book> { $0.author?.name == name })
        try check(#Predicate<Book> { $0.author?.name != name })
        try check(#Predicate<Book> { $0.author == nil })
        try check(#Predicate<Book> { $0.author != nil })
        try check(#Predicate<Book> { $0.author?.persistentModelID == id })
        try check(#Predicate<Book> { $0.author?.id == id })
        try check(#Predicate<Book> { $0.author?.persistentModelID == none })
        try check(#Predicate<Author> { $0.persistentModelID == id })
        try check(#Predicate<Book> { if let author = $0.author { author.name == name } else { false } })
    }

    @Test func `To-many relationships`() throws {
        let label = "blue", pages = 195
        try check(#Predicate<Book> { $0.tags.contains { $0.label == label } })
        try check(#Predicate<Book> { $0.tags.isEmpty })
        try check(#Predicate<Book> { $0.tags.count > 1 })
        try check(#Predicate<Book> { book in book.tags.allSatisfy { $0.label == "red" } })
        try check(#Predicate<Author> { $0.books.contains { $0.pages > 225 } })
        try check(#Predicate<Author> { $0.books.filter { $0.pages > pages }.count > 1 })
    }

    @Test func `Long captured lists`() throws {
        let titles = Set((0..<3000).map { "Book \($0 * 5)" })
        let ids = try library.context.fetchIdentifiers(FetchDescriptor<Book>(predicate: #Predicate { $0.pages < 50 }))
        try check(#Predicate<Book> { titles.contains($0.title) })
        try check(#Predicate<Book> { ids.contains($0.persistentModelID) })
    }

    @Test func `What a store cannot judge is evaluated by the program`() throws {
        let word = "k1"
        try check(#Predicate<Book> { $0.keywords.contains(word) }, isStored: false)
        try check(#Predicate<Book> { $0.keywords.isEmpty }, isStored: false)
        try check(#Predicate<Book> { $0.summary == "Book 1, 10" }, isStored: false)
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.keywords.isEmpty }, sortBy: [SortDescriptor(\.pages)])
        descriptor.fetchOffset = 2
        descriptor.fetchLimit = 3
        #expect(try library.context.fetch(descriptor).map(\.pages) == [40, 60, 80])
    }

    @Test func `Orders, limits and prefetching`() throws {
        var descriptor = FetchDescriptor<Book>(
            sortBy: [SortDescriptor(\.author?.name, order: .reverse), SortDescriptor(\.title), SortDescriptor(\.pages, order: .reverse)])
        descriptor.relationshipKeyPathsForPrefetching = [\.author, \.tags]
        descriptor.propertiesToFetch = [\.title]
        let all = try library.other().fetch(descriptor)
        #expect(all.map { $0.author?.name } == all.map { $0.author?.name }.sorted { ($0 ?? "") > ($1 ?? "") })
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        #expect(try library.other().fetch(descriptor).map(\.pages) == Array(all.map(\.pages)[1...2]))
        #expect(try library.other().fetchCount(descriptor) == 2)
        let parts = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.place?.city), SortDescriptor(\.condition.rawValue)])
        #expect(try library.other().fetch(parts).count == 24)
        let computed = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.summary)])
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try library.other().fetch(computed) }
    }

    @Test func `A class that the schema lacks is named in the error`() throws {
        #expect(throws: SwiftDataError.unknownSchema) { try library.context.fetch(FetchDescriptor<Values>()) }
        library.context.insert(Values(key: 1))
        #expect(throws: SwiftDataError.unknownSchema) { try library.context.save() }
    }
}
