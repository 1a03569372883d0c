import Foundation
import SwiftData
import Testing

@testable import Heartwood
@testable import HeartwoodSwiftData

/// Predicates that differ in captured values only are translated once, and share the plans of one format.
@Suite struct PredicateShapeTests {
    private let library: Library

    init() throws {
        library = try Library(inMemory: true)
        let authors = ["A", "B"].map(Author.init)
        for number in 0..<40 {
            let book = Book(title: "b\(number % 8)", pages: number, author: [nil, authors[0], authors[1]][number % 3])
            book.condition = Condition.allCases[number % 3]
            book.shelf = [nil, .front, .back][number % 3]
            library.context.insert(book)
        }
        try library.context.save()
    }

    private func number<T: PersistentModel>(_ predicate: Predicate<T>) throws -> Int? {
        try library.context.request(FetchDescriptor(predicate: predicate)).0.predicate?.formatTree?.number
    }

    /// Fetches by predicates of one shape, twice over, and compares with Swift's evaluation.
    private func check<Value>(
        _ values: [Value], isKept: Bool = true, line: SourceLocation = #_sourceLocation, _ make: (Value) -> Predicate<Book>
    ) throws {
        let all = try library.context.fetch(FetchDescriptor<Book>())
        for value in values + values {
            let predicate = make(value)
            let wanted = try all.filter { try predicate.evaluate($0) }
            #expect(try Set(library.context.fetch(FetchDescriptor(predicate: predicate))) == Set(wanted), "\(value)", sourceLocation: line)
        }
        let numbers = Set(try values.map { try number(make($0)) })
        #expect(numbers.count == 1 && ((numbers.first ?? nil) != nil) == isKept, "\(numbers)", sourceLocation: line)
    }

    @Test func `Comparisons with captured values share a format`() throws {
        struct Wanted: Codable { let title: String }
        try check(["b1", "b5", "x"]) { title in #Predicate { $0.title == title } }
        try check(["b1", "b5"]) { title in #Predicate { $0.title != title && $0.pages > 3 } }
        try check([1, 20, 100]) { pages in #Predicate { $0.pages > pages || $0.title == "b1" } }
        try check([1, 20, 100]) { pages in #Predicate { !($0.pages <= pages) } }
        try check(["A", "B", "C"]) { name in #Predicate { $0.author?.name == name } }
        try check([Condition.new, .lost]) { condition in #Predicate { $0.condition == condition } }
        try check([["b1", "b2"], ["b3"], []]) { titles in #Predicate { titles.contains($0.title) } }
        try check(["1", "7"]) { text in #Predicate { $0.title.contains(text) } }
        try check(["b1", "b7"]) { text in #Predicate { $0.title.starts(with: text) } }
        try check([Wanted(title: "b1"), Wanted(title: "b2")]) { wanted in #Predicate { $0.title == wanted.title } }
        try check(["A", "B"]) { name in
            let wanted = #Predicate<Author> { $0.name == name }
            return #Predicate { if let author = $0.author { wanted.contains(author) } else { false } }
        }
        try check([1, 7]) { pages in #Predicate { ($0.author?.name.isEmpty ?? true) || $0.pages == pages } }
        try check([3, 30], isKept: false) { pages in #Predicate { ($0.shelf?.rawValue ?? 5) < pages } }
        try check([3, 30]) { pages in Predicate.all([#Predicate<Book> { $0.pages > pages }, #Predicate<Book> { $0.title != "b1" }]) }
        let ids = try library.context.fetch(FetchDescriptor<Author>()).map(\.persistentModelID)
        try check(ids) { id in #Predicate { $0.author?.persistentModelID == id } }
    }

    @Test func `Operators, key paths and literals are parts of the shape`() throws {
        let pages = 10
        let predicates: [Predicate<Book>] = [
            #Predicate { $0.pages < pages }, #Predicate { $0.pages > pages }, #Predicate { $0.pages == pages }, #Predicate { $0.title < "b3" },
            #Predicate { $0.author?.name == "A" }, #Predicate { $0.author?.name != "A" },
        ]
        #expect(try Set(predicates.compactMap(number)).count == predicates.count)
    }

    @Test func `nil among the values is translated as nil`() throws {
        try check([Side.front, .back] as [Side?]) { side in #Predicate { $0.shelf == side } }
        let none: Side? = nil
        let nothing = #Predicate<Book> { $0.shelf == none }
        #expect(try library.context.fetchCount(FetchDescriptor(predicate: nothing)) == 14)
        #expect(try number(nothing) == nil)
        #expect(try library.context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.author == nil })) == 14)
    }

    @Test func `A table plans a shape once`() throws {
        let view = try #require(library.container.container.persistentStoreCoordinator.persistentStores[0].rows?.newestView() as? RecordLogView)
        let table = try #require(view.schema.tables.lazy.compactMap { $0 }.first { $0.runtime.entity.name == "Book" })
        let before = table.plans.all.count
        for title in ["b1", "b2", "b3", "b4"] {
            #expect(try library.context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title })).count == 5)
        }
        #expect(table.plans.all.count == before + 1)
    }
}
