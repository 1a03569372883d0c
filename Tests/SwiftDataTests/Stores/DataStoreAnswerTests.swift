import Foundation
import HeartwoodSwiftData
import Testing

@Suite struct DataStoreAnswerTests {
    /// A shelf with a publisher of two books.
    private func filled() throws -> Shelf {
        let shelf = try Shelf()
        let context = shelf.context()
        let publisher = ShelfPublisher(name: "Virago")
        publisher.books = [ShelfBook(title: "One", pages: 1), ShelfBook(title: "Two", pages: 2)]
        context.insert(publisher)
        try context.save()
        return try shelf.again()
    }

    /// The snapshots, with relationships that lead elsewhere.
    private static func led(
        _ snapshots: [DefaultSnapshot], from old: PersistentIdentifier, to new: PersistentIdentifier
    ) -> [DefaultSnapshot] {
        snapshots.map { $0.copy(persistentIdentifier: $0.persistentIdentifier, remappedIdentifiers: [old: new]) }
    }

    @Test
    func `A store that filters and sorts gets predicate, order and limit, and its answer is taken as it is`() throws {
        let shelf = try filled()
        shelf.behaviour.filters = true
        shelf.behaviour.sorts = true
        shelf.behaviour.change = { snapshots in snapshots.filter { "\($0)".contains("Two") } }
        let context = shelf.context()
        var descriptor = FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.title == "Two" }, sortBy: [SortDescriptor(\.pages)])
        descriptor.fetchLimit = 1
        #expect(try context.fetch(descriptor).map(\.title) == ["Two"])
        #expect(shelf.behaviour.asked.count == 1)
        #expect(shelf.behaviour.asked.first.map { $0 == (true, 1, 1) } == true)
        #expect(try context.fetchCount(descriptor) == 1)
        #expect(try context.fetchIdentifiers(descriptor).count == 1)
        #expect(shelf.behaviour.asked.count == 3)
        #expect(shelf.behaviour.asked.allSatisfy { $0.hasPredicate })
    }

    @Test
    func `A fetch answers for the models that it finds: reading them asks the store nothing`() throws {
        let shelf = try filled()
        let context = shelf.context()
        let books = try context.fetch(FetchDescriptor<ShelfBook>())
        #expect(shelf.behaviour.asked.count == 1)
        #expect(Set(books.map(\.title)) == ["One", "Two"])
        #expect(shelf.behaviour.asked.count == 1)
        #expect(books.map(\.publisher?.name) == ["Virago", "Virago"])
        #expect(shelf.behaviour.asked.count <= 3)
        books[0].pages = 7
        try context.save()
        #expect(shelf.behaviour.saves.map(\.updated) == [1])
        #expect(shelf.behaviour.asked.count <= 3)
    }

    @Test
    func `A store's newer values reach a context with its next fetch, and its changes stay`() throws {
        let shelf = try filled(), outside = try shelf.again()
        let context = shelf.context(), other = outside.context()
        let sorted = FetchDescriptor<ShelfBook>(sortBy: [SortDescriptor(\.title)])
        let books = try context.fetch(sorted)
        #expect(books.map(\.pages) == [1, 2])
        books[1].title = "Two and a half"
        for book in try other.fetch(sorted) { book.pages += 10 }
        try other.save()
        #expect(try context.fetch(sorted).map(\.pages) == [11, 12])
        #expect(books[1].title == "Two and a half")
    }

    // MARK: Errors

    @Test
    func `The errors of a store and its configuration reach the caller as they are`() throws {
        let shelf = try filled()
        let context = shelf.context()
        let book = try #require(try context.fetch(FetchDescriptor<ShelfBook>()).first)
        let error = ShelfError(text: "no")
        shelf.behaviour.fetchError = error
        #expect(throws: error) { try context.fetch(FetchDescriptor<ShelfBook>()) }
        #expect(throws: error) { try context.fetchCount(FetchDescriptor<ShelfBook>()) }
        #expect(throws: error) { try context.fetchIdentifiers(FetchDescriptor<ShelfBook>()) }
        shelf.behaviour.fetchError = DataStoreError.unsupportedFeature
        #expect(throws: DataStoreError.unsupportedFeature) { try context.fetch(FetchDescriptor<ShelfBook>()) }
        shelf.behaviour.fetchError = DataStoreError.preferInMemoryFilter
        #expect(throws: DataStoreError.preferInMemoryFilter) { try context.fetch(FetchDescriptor<ShelfBook>()) }
        shelf.behaviour.fetchError = nil
        shelf.behaviour.saveError = error
        book.pages = 9
        context.insert(ShelfBook(title: "New"))
        #expect(throws: error) { try context.save() }
        #expect(context.hasChanges)
        shelf.behaviour.saveError = nil
        try context.save()
        #expect(try shelf.again().context().fetch(FetchDescriptor<ShelfBook>()).map(\.pages).sorted().last == 9)
        for place in [\JSONShelf.Behaviour.validationError, \.openingError] {
            let configuration = JSONShelf.Configuration(url: shelf.url)
            configuration.behaviour[keyPath: place] = error
            #expect(throws: error) { try ModelContainer(for: ShelfItem.self, configurations: configuration) }
        }
    }

    @Test
    func `A file with snapshots of no known class or with values of other types is an error of the fetch`() throws {
        let spoilings = [
            ("\"pages\":1,", "\"pages\":\"x\","), ("ShelfBook", "NoSuchClass"), (",\"title\":\"One\"", ""), ("\"novel\"", "\"opera\""),
        ]
        for (old, new) in spoilings {
            let shelf = try filled()
            let text = try String(contentsOf: shelf.url, encoding: .utf8)
            #expect(text.contains(old))
            try Data(text.replacingOccurrences(of: old, with: new).utf8).write(to: shelf.url)
            #expect(throws: DecodingError.self, "\(new)") { try shelf.context().fetch(FetchDescriptor<ShelfBook>()) }
        }
    }

    @Test
    func `A snapshot of another class, of another store, or with a wrong destination is an error of the fetch`() throws {
        let shelf = try filled()
        let foreign = try PersistentIdentifier.identifier(for: "elsewhere", entityName: "ShelfBook", primaryKey: 1)
        let unknown = try PersistentIdentifier.identifier(for: shelf.url.lastPathComponent, entityName: "NoSuchClass", primaryKey: 1)
        let reader = try PersistentIdentifier.identifier(for: shelf.url.lastPathComponent, entityName: "ShelfReader", primaryKey: "a/b c")
        let publisher = try #require(try shelf.context().fetch(FetchDescriptor<ShelfPublisher>()).first).persistentModelID
        for identifier in [foreign, unknown, reader] {
            shelf.behaviour.change = { $0.map { $0.copy(persistentIdentifier: identifier) } }
            #expect(throws: (any Error).self) { try shelf.context().fetch(FetchDescriptor<ShelfBook>()) }
            shelf.behaviour.change = { Self.led($0, from: publisher, to: identifier) }
            #expect(throws: (any Error).self) { try shelf.context().fetch(FetchDescriptor<ShelfBook>()) }
        }
        let temporary = ShelfPublisher(name: "New").persistentModelID
        shelf.behaviour.change = { Self.led($0, from: publisher, to: temporary) }
        #expect(throws: DecodingError.self) { try shelf.context().fetch(FetchDescriptor<ShelfBook>()) }
    }

    @Test
    func `A relationship to a model that the store lacks reads as neutral values`() throws {
        let shelf = try filled()
        let gone = try PersistentIdentifier.identifier(for: shelf.url.lastPathComponent, entityName: "ShelfPublisher", primaryKey: 99)
        let publisher = try #require(try shelf.context().fetch(FetchDescriptor<ShelfPublisher>()).first).persistentModelID
        shelf.behaviour.change = { Self.led($0, from: publisher, to: gone) }
        let books = try shelf.context().fetch(FetchDescriptor<ShelfBook>())
        #expect(books.count == 2)
        #expect(books.allSatisfy { $0.publisher.map { $0.name.isEmpty && $0.books.isEmpty } ?? true })
        #expect((shelf.context().model(for: gone) as? ShelfPublisher)?.name == "")
    }

    @Test
    func `A model whose store fails while it is read has neutral values, and the next save of a change throws`() throws {
        let shelf = try filled()
        let id = try #require(try shelf.context().fetch(FetchDescriptor<ShelfBook>()).first).persistentModelID
        let second = try shelf.again()
        let context = second.context()
        second.behaviour.fetchError = ShelfError(text: "no")
        let book = try #require(context.model(for: id) as? ShelfBook)
        #expect(book.title == "" && book.publisher == nil && book.tags.isEmpty)
        second.behaviour.fetchError = nil
        book.pages = 5
        #expect(throws: (any Error).self) { try context.save() }
        context.rollback()
        #expect(book.title != "")
        book.pages = 5
        try context.save()
        #expect(try shelf.again().context().fetchCount(FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.pages == 5 })) == 1)
    }

    // MARK: Saves

    @Test
    func `A save that gives no identifier, or one of another class, throws and the changes stay`() throws {
        let shelf = try filled()
        let wrong = try PersistentIdentifier.identifier(for: shelf.url.lastPathComponent, entityName: "ShelfItem", primaryKey: 1)
        let foreign = try PersistentIdentifier.identifier(for: "elsewhere", entityName: "ShelfReader", primaryKey: 1)
        for answer in [nil, wrong, foreign] {
            shelf.behaviour.result = { result in
                let remapped = answer.map { new in result.remappedIdentifiers.mapValues { _ in new } }
                return DataStoreSaveChangesResult(for: result.storeIdentifier, remappedIdentifiers: remapped ?? [:])
            }
            let context = shelf.context()
            context.insert(ShelfReader(name: "Ann"))
            #expect(throws: (any Error).self) { try context.save() }
            #expect(context.hasChanges)
            context.rollback()
        }
    }

    @Test
    func `A store may give a new model the identifier of a known one`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let first = ShelfReader(name: "Ann")
        context.insert(first)
        try context.save()
        let known = first.persistentModelID
        shelf.behaviour.result = { result in
            DataStoreSaveChangesResult(for: result.storeIdentifier, remappedIdentifiers: result.remappedIdentifiers.mapValues { _ in known })
        }
        let second = ShelfReader(name: "Ann again")
        context.insert(second)
        try context.save()
        #expect(second.persistentModelID == known)
        #expect(second.name == "Ann again")
        shelf.behaviour.result = nil
        second.name = "Anna"
        try context.save()
        #expect(shelf.behaviour.lastSaved?.updated.map(\.persistentIdentifier) == [known])
    }

    @Test
    func `Snapshots to register again change the models of all contexts`() throws {
        let shelf = try filled()
        let context = shelf.context(), second = shelf.context()
        let book = try #require(try context.fetch(FetchDescriptor<ShelfBook>(sortBy: [SortDescriptor(\.title)])).first)
        let twin = try #require(try second.fetch(FetchDescriptor<ShelfBook>(sortBy: [SortDescriptor(\.title)])).first)
        let pages = book.pages
        shelf.behaviour.result = { result in
            var text = (try? String(contentsOf: shelf.url, encoding: .utf8)) ?? ""
            text = text.replacingOccurrences(of: "\"One!\"", with: "\"ONE\"")
            try? Data(text.utf8).write(to: shelf.url)
            let snapshots = (try? JSONDecoder().decode([DefaultSnapshot].self, from: Data(text.utf8))) ?? []
            return DataStoreSaveChangesResult(
                for: result.storeIdentifier, snapshotsToReregister: Dictionary(snapshots.map { ($0.persistentIdentifier, $0) }) { $1 })
        }
        book.title = "One!"
        try context.save()
        #expect(book.title == "ONE")
        #expect(book.pages == pages)
        _ = try second.fetchCount(FetchDescriptor<ShelfReader>())
        #expect(twin.title == "ONE")
        #expect(!context.hasChanges)
    }

    @Test
    func `A save sends temporary identifiers for new models, and those that they lead to`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let publisher = ShelfPublisher(name: "Virago")
        let book = ShelfBook(title: "One", publisher: publisher)
        context.insert(book)
        let temporary = [book.persistentModelID, publisher.persistentModelID]
        try context.save()
        let request = try #require(shelf.behaviour.lastSaved)
        #expect(Set(request.inserted.map(\.persistentIdentifier)) == Set(temporary))
        #expect(request.editingState.id == context.editingState.id)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(request.inserted[0]) }
        #expect(request.updated.isEmpty && request.deleted.isEmpty)
    }
}
