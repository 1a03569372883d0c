import Foundation
import SwiftData
import Testing

/// Every short sequence of commands on one model, compared with a plain state: the same command again, insertions after deletions, deletions before
/// saves.
@Suite struct CommandSequenceTests {
    private enum Command: CaseIterable { case insert, delete, save, rollback, set }

    /// What the program should see of the model.
    private struct Plain {
        enum Place { case loose, inserted, saved, deleted }

        var place = Place.loose
        var pages = 0
        /// nil if the store has no such model.
        var stored: Int?

        mutating func apply(_ command: Command, _ value: Int) {
            switch (command, place) {
            case (.insert, .loose): place = .inserted
            case (.insert, .deleted): place = .saved
            case (.delete, .inserted): place = .loose
            case (.delete, .saved): place = .deleted
            case (.save, .inserted): (place, stored) = (.saved, pages)
            case (.save, .saved): stored = pages
            case (.save, .deleted): (place, stored) = (.loose, nil)
            case (.rollback, .inserted): place = .loose
            case (.rollback, .saved), (.rollback, .deleted): (place, pages) = (.saved, stored ?? -1)
            case (.set, .loose), (.set, .inserted), (.set, .saved): pages = value
            case (.insert, _), (.delete, _), (.save, _), (.rollback, _), (.set, .deleted): break
            }
        }
    }

    private static let length = ProcessInfo.processInfo.environment["HEARTWOOD_COMBINATIONS"] == "long" ? 6 : 4

    private static func sequences(_ length: Int) -> [[Command]] {
        length == 0 ? [[]] : sequences(length - 1).flatMap { head in Command.allCases.map { head + [$0] } }
    }

    @Test(arguments: [false, true], [false, true])
    func `Each sequence of commands leaves the model and the store as a plain state says`(looksBetween: Bool, isLinked: Bool) throws {
        let library = try Library(inMemory: true)
        let reader = library.other()
        for sequence in Self.sequences(Self.length) {
            // A sequence that sets a value of a deleted model leaves open what that means.
            var plain = Plain(), value = 10
            let book = Book(title: "x"), author = Author(name: UUID().uuidString)
            if isLinked { book.author = author }
            for (index, command) in sequence.enumerated() {
                value += 1
                switch command {
                case .insert: library.context.insert(book)
                case .delete: library.context.delete(book)
                case .save: try library.context.save()
                case .rollback: library.context.rollback()
                case .set: if plain.place != .deleted { book.pages = value }
                }
                plain.apply(command, value)
                guard looksBetween || index == sequence.count - 1 else { continue }
                let said = "\(sequence.prefix(index + 1))"
                let isThere = plain.place == .inserted || plain.place == .saved
                #expect(try library.context.fetch(FetchDescriptor<Book>()) == (isThere ? [book] : []), "\(said): the models of the context")
                #expect(book.pages == plain.pages && book.title == "x", "\(said): \(book.pages), not \(plain.pages)")
                if isLinked { #expect(book.author === author || plain.place == .deleted, "\(said): the author") }
                #expect((book.modelContext === library.context) == (plain.place != .loose), "\(said): the context")
                #expect(book.isDeleted == (plain.place == .deleted), "\(said): isDeleted")
                #expect(try reader.fetch(FetchDescriptor<Book>()).map(\.pages) == (plain.stored.map { [$0] } ?? []), "\(said): the store")
            }
            library.context.rollback()
            try library.context.delete(model: Book.self)
            try library.context.delete(model: Author.self)
            try library.context.save()
            try #require(try reader.fetchCount(FetchDescriptor<Book>()) == 0)
        }
    }
}
