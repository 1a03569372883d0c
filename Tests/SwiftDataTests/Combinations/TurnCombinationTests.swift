import Foundation
import SwiftData
import Testing

/// Two contexts by turns, over each kind of change and each way to find the model again.
@Suite struct TurnCombinationTests {
    enum Change: CaseIterable {
        case number, text, optional, enumeration, composite, partOfComposite, json, payload, toOne, toMany, manyToMany, manyToManyFromOther, deletion
    }

    enum Way: CaseIterable { case held, fetched, byIdentifier, byCopiedIdentifier, registered }

    private struct Side {
        let context: ModelContext
        var book: Book?
        var author: Author?
        var tag: Tag?

        /// The models as this context has them.
        mutating func find(_ way: Way, _ ids: [PersistentIdentifier]) throws {
            switch way {
            case .held:
                guard book == nil else { return }
                try find(.fetched, ids)
            case .fetched:
                book = try context.fetch(FetchDescriptor<Book>()).first
                author = try context.fetch(FetchDescriptor<Author>()).first
                tag = try context.fetch(FetchDescriptor<Tag>()).first
            case .byIdentifier:
                book = context.model(for: ids[0]) as? Book
                author = context.model(for: ids[1]) as? Author
                tag = context.model(for: ids[2]) as? Tag
            case .byCopiedIdentifier:
                let copies = try JSONDecoder().decode([PersistentIdentifier].self, from: JSONEncoder().encode(ids))
                try find(.byIdentifier, copies)
            case .registered:
                _ = try context.fetchCount(FetchDescriptor<Book>())
                book = context.registeredModel(for: ids[0])
                author = context.registeredModel(for: ids[1])
                tag = context.registeredModel(for: ids[2])
                if book == nil || author == nil || tag == nil { try find(.fetched, ids) }
            }
        }

        func make(_ change: Change, _ turn: Int) {
            guard let book, let author, let tag else { return }
            let isOdd = turn % 2 == 1
            switch change {
            case .number: book.pages = turn
            case .text: book.title = String(repeating: "t", count: turn * 90)
            case .optional: book.shelf = isOdd ? .back : nil
            case .enumeration: book.condition = isOdd ? .used : .lost
            case .composite: book.place = isOdd ? Place(city: "c\(turn)", zip: turn, point: .init(x: 0, y: 1)) : nil
            case .partOfComposite:
                if book.place == nil { book.place = Place(city: "p", zip: nil, point: .init(x: 0, y: 0)) }
                book.place?.point.x = Double(turn)
            case .json: book.keywords.append("k\(turn)")
            case .payload: book.origin = .gift(from: "g", year: turn)
            case .toOne: book.author = isOdd ? author : nil
            case .toMany: if isOdd { author.books.append(book) } else { author.books = [] }
            case .manyToMany: if isOdd { book.tags.append(tag) } else { book.tags.removeAll() }
            case .manyToManyFromOther: if isOdd { tag.books = [book] } else { tag.books = [] }
            case .deletion: if turn == 3 { context.delete(book) }
            }
        }

        /// All that the context shows.
        func sight() throws -> String {
            guard try context.fetchCount(FetchDescriptor<Book>()) == 1, let book, let author, let tag else { return "none" }
            return "\(book.pages) \(book.title) \(String(describing: book.shelf)) \(book.condition) \(String(describing: book.place)) "
                + "\(book.keywords) \(book.origin) \(book.author?.name ?? "-") "
                + "\(author.books.map(\.pages)) \(book.tags.map(\.label)) \(tag.books.map(\.pages))"
        }
    }

    @Test(arguments: Change.allCases, Way.allCases)
    func `Each change of one context is seen by the other, whichever way it finds the model`(change: Change, way: Way) throws {
        let library = try Library(inMemory: true)
        let book = Book(title: "x"), author = Author(name: "A"), tag = Tag(label: "t")
        for model in [book, author, tag] as [any PersistentModel] { library.context.insertAnyModel(model) }
        try library.context.save()
        let ids = [book.persistentModelID, author.persistentModelID, tag.persistentModelID]
        var sides = [Side(context: library.other()), Side(context: library.other())]
        for turn in 1...4 {
            try sides[turn % 2].find(way, ids)
            sides[turn % 2].make(change, turn)
            let isThere = change != .deletion || turn < 3
            let own = try sides[turn % 2].sight()
            #expect((own == "none") == !isThere, "turn \(turn)")
            try sides[turn % 2].context.save()
            #expect(try sides[turn % 2].sight() == own, "turn \(turn), saved")
            if isThere { try sides[1 - turn % 2].find(way, ids) }
            #expect(try sides[1 - turn % 2].sight() == own, "turn \(turn), the other context")
            var fresh = Side(context: library.other())
            try fresh.find(.fetched, ids)
            #expect(try fresh.sight() == own, "turn \(turn), a new context")
        }
    }
}

extension ModelContext {
    func insertAnyModel(_ model: any PersistentModel) { insert(model) }
}
