import Foundation
import Observation
import SwiftData
import Testing

@Suite struct ObservationTests {
    /// The number of times that a change of what the closure reads was told, of changes made one after the other.
    private func told<Value>(_ read: @escaping () -> Value, _ change: () throws -> Void) rethrows -> Bool {
        nonisolated(unsafe) var isTold = false
        withObservationTracking { _ = read() } onChange: { isTold = true }
        try change()
        return isTold
    }

    @Test func `A setter tells the observers of its property alone`() throws {
        let library = try Library()
        for isInserted in [false, true] {
            let book = Book(title: "x")
            if isInserted { library.context.insert(book) }
            #expect(told({ book.title }) { book.title = "y" })
            #expect(!told({ book.title }) { book.pages = 3 })
            #expect(told({ book.place }) { book.place = Place(city: "a", zip: 1, point: .init(x: 0, y: 0)) })
            #expect(told({ book.keywords }) { book.keywords.append("k") })
        }
    }

    @Test func `A relationship's change tells the observers of the other end`() throws {
        let library = try Library()
        for isInserted in [false, true] {
            let book = Book(title: "x"), first = Author(name: "a\(isInserted)"), second = Author(name: "b\(isInserted)")
            if isInserted { for model in [first, second] { library.context.insert(model) }; library.context.insert(book) }
            #expect(told({ first.books }) { book.author = first })
            #expect(told({ first.books }) { book.author = second })
            #expect(told({ book.author }) { second.books = [] })
        }
    }

    @Test func `A merge, a rollback and an undo tell observers`() throws {
        let library = try Library()
        let book = Book(title: "x")
        library.context.insert(book)
        try library.context.save()
        let other = library.other()
        let same = try #require(try other.fetch(FetchDescriptor<Book>()).first)
        try #expect(told({ book.title }) {
            same.title = "y"
            try other.save()
            _ = try library.context.fetchCount(FetchDescriptor<Book>())
        })
        #expect(book.title == "y")
        book.title = "z"
        #expect(told({ book.title }) { library.context.rollback() })
        #expect(book.title == "y")
        library.context.undoManager = UndoManager()
        book.title = "w"
        library.context.processPendingChanges()
        #expect(told({ book.title }) { library.context.undoManager?.undo() })
        #expect(book.title == "y")
    }
}
