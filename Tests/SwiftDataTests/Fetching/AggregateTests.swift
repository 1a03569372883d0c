import Foundation
import HeartwoodSwiftData
import SwiftData
import Testing

/// Values, aggregates and groups: the store's are those that Swift computes over models.
@Suite struct AggregateTests {
    private static func library(_ isInMemory: Bool) throws -> Library {
        let library = try Library(inMemory: isInMemory), authors = ["A", "B"].map(Author.init)
        authors[0].born = Date(timeIntervalSinceReferenceDate: 100)
        for number in 0..<30 {
            let book = Book(title: "b\(number % 7)", pages: number * 3 % 11, author: [nil, authors[0], authors[1]][number % 3])
            book.condition = Condition.allCases[number % 2]
            book.shelf = [nil, .front, .back][number % 3]
            let zip = number % 5 == 0 ? nil : number
            book.place = number % 4 == 0 ? nil : Place(city: "c\(number % 2)", zip: zip, point: .init(x: Double(number) / 4, y: 1))
            library.context.insert(book)
        }
        for number in 0..<8 {
            library.context.insert(number % 2 == 0 ? Item(name: "i\(number)") : Tool(name: "t\(number)", weight: Double(number) / 2))
        }
        try library.context.save()
        return library
    }

    @Test(arguments: [false, true]) func `Values are those of the models, in their order`(isInMemory: Bool) throws {
        let library = try Self.library(isInMemory)
        var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages), SortDescriptor(\.title)])
        descriptor.fetchOffset = 2
        let context = library.other(), models = try library.context.fetch(descriptor)
        let rows = try context.values(descriptor, \.title, \.pages, \.author?.name, \.condition, \.shelf, \.place?.city, \.place?.point.x)
        #expect(rows.count == 28)
        for (row, model) in zip(rows, models) {
            #expect(row.0 == model.title && row.1 == model.pages && row.2 == model.author?.name && row.3 == model.condition)
            #expect(row.4 == model.shelf && row.5 == model.place?.city && row.6 == model.place?.point.x)
        }
        #expect(try context.values(descriptor, \.title) == models.map(\.title))
        let ids = try context.values(descriptor, \.persistentModelID, \.author?.persistentModelID)
        #expect(ids.map(\.0) == models.map(\.persistentModelID) && ids.map(\.1) == models.map { $0.author?.persistentModelID })
        // What no row has is read from models.
        let computed = try context.values(descriptor, \.summary, \.place)
        #expect(computed.map(\.0) == models.map(\.summary) && computed.map(\.1) == models.map(\.place))
        descriptor.predicate = #Predicate { $0.keywords.isEmpty && $0.pages > 5 }
        #expect(try context.values(descriptor, \.pages) == context.fetch(descriptor).map(\.pages))
    }

    @Test func `Values show unsaved changes`() throws {
        let context = try Self.library(true).context
        context.insert(Book(title: "new", pages: 1000))
        let large = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 900 })
        #expect(try context.values(large, \.title) == ["new"])
        #expect(try context.aggregate(large, .count) == 1)
        var stored = large
        stored.includePendingChanges = false
        #expect(try context.aggregate(stored, .count) == 0)
    }

    /// The store's aggregates, and those over the models of the same context with an unsaved change.
    @Test(arguments: [false, true]) func `Aggregates are those of the models`(isInMemory: Bool) throws {
        let library = try Self.library(isInMemory), context = library.other()
        for predicate in [#Predicate<Book> { $0.pages > 4 }, #Predicate<Book> { $0.pages > 400 }, #Predicate<Book> { $0.summary != "b1, 3" }] {
            let descriptor = FetchDescriptor(predicate: predicate), models = try context.fetch(descriptor)
            let found = try context.aggregate(
                descriptor, .count, .sum(\.pages), .average(\.pages), .min(\.pages), .max(\.title), .count(of: \Book.author?.name),
                .min(\Book.author?.born), .sum(\Book.place?.point.x))
            let pages = models.map(\.pages)
            #expect(found.0 == models.count && found.1 == pages.reduce(0, +))
            #expect(found.2 == (pages.isEmpty ? nil : Double(pages.reduce(0, +)) / Double(pages.count)))
            #expect(found.3 == pages.min() && found.4 == models.map(\.title).max() && found.5 == models.count { $0.author != nil })
            #expect(found.6 == models.compactMap { $0.author?.born }.min() && found.7 == models.reduce(0) { $0 + ($1.place?.point.x ?? 0) })
        }
        let weights = try context.aggregate(FetchDescriptor<Item>(), .count, .max(\.name))
        #expect(weights.0 == 8 && weights.1 == "t7")
    }

    @Test(arguments: [false, true]) func `Groups have the aggregates of their models, with unsaved changes and without`(isInMemory: Bool) throws {
        let context = try Self.library(isInMemory).other()
        for isChanged in [false, true] {
            if isChanged { context.insert(Book(title: "b1", pages: 7)) }
            let models = try context.fetch(FetchDescriptor<Book>())
            let rows = try context.aggregates(
                FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]), groupedBy: \.title, \.shelf, values: .count, .sum(\.pages))
            struct Key: Hashable { let title: String, shelf: Side? }
            let wanted = Dictionary(grouping: models) { Key(title: $0.title, shelf: $0.shelf) }
            #expect(rows.count == wanted.count)
            for (key, values) in rows {
                let group = try #require(wanted[Key(title: key.0, shelf: key.1)])
                #expect(values.0 == group.count && values.1 == group.reduce(0) { $0 + $1.pages })
            }
            #expect(rows.map(\.key.0) == rows.map(\.key.0).sorted())
            let authors = try context.aggregates(FetchDescriptor<Book>(), groupedBy: \.author?.name, values: .count)
            #expect(Dictionary(uniqueKeysWithValues: authors.map { ($0.key ?? "-", $0.values) }) == ["-": isChanged ? 11 : 10, "A": 10, "B": 10])
            let byID = try context.aggregates(FetchDescriptor<Book>(), groupedBy: \.author?.persistentModelID, values: .max(\.pages))
            #expect(byID.count == 3)
        }
    }

    @Test func `A sum that does not fit its type is an error, stored and unsaved`() throws {
        let library = try Library(inMemory: true), context = library.context
        for _ in 0..<2 { context.insert(Book(title: "x", pages: .max)) }
        #expect(throws: CocoaError.self) { try context.aggregate(FetchDescriptor<Book>(), .sum(\.pages)) }
        try context.save()
        #expect(throws: CocoaError.self) { try context.aggregate(FetchDescriptor<Book>(), .sum(\.pages)) }
        let largest = try context.aggregate(FetchDescriptor<Book>(), .max(\.pages))
        #expect(largest == Int.max)
    }

    @Test func `A plan names the index, or says that the program evaluates`() throws {
        let library = try Self.library(true), context = library.other()
        let byTitle = try context.explain(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "b3" }))
        #expect(byTitle.parts.first?.access == .index("index:by_title_0") && !byTitle.isInMemory && byTitle.rowsMatched == 4, "\(byTitle)")
        let own = try context.explain(FetchDescriptor<Book>(predicate: #Predicate { $0.keywords.isEmpty }))
        #expect(own.isInMemory && own.rowsVisited == 30 && own.parts.first?.access == .scan)
    }
}
