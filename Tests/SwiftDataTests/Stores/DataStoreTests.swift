import Foundation
import HeartwoodSwiftData
import Testing

@Suite struct DataStoreTests {
    @Test
    func `A saved model has the identifier that the store chose, in this context and in another container`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let book = ShelfBook(title: "Emma", pages: 474)
        context.insert(book)
        let before = book.persistentModelID
        #expect(before.storeIdentifier == nil)
        try context.save()
        let saved = book.persistentModelID
        #expect(saved != before)
        #expect(saved.storeIdentifier == shelf.url.lastPathComponent)
        #expect(saved.entityName == "ShelfBook")
        let other = try shelf.again().context()
        let found = try #require(try other.fetch(FetchDescriptor<ShelfBook>()).first)
        #expect(found.persistentModelID == saved)
        #expect(Set([found.persistentModelID]).contains(saved))
        #expect((other.model(for: saved) as? ShelfBook) === found)
        let coded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(saved))
        #expect((try shelf.again().context().model(for: coded) as? ShelfBook)?.title == "Emma")
    }

    @Test(arguments: [false, true])
    func `Values of every type come back, nil and not`(isFull: Bool) throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let book = ShelfBook(title: "Ünï/çode \"", pages: .max)
        book.small = .min
        book.price = Decimal(string: "12.345")!
        book.added = Date(timeIntervalSinceReferenceDate: 1234.5)
        book.isLent = true
        book.kind = .essay
        book.place = ShelfPlace(room: "attic", row: 4, kind: .essay)
        if isFull {
            (book.rating, book.ratio, book.due, book.cover) = (4.5, 0.25, Date(timeIntervalSinceReferenceDate: 9), Data([1, 2, 0]))
            (book.link, book.mood) = (URL(string: "https://example.org/a?b=c"), .novel)
            book.other = ShelfPlace(room: "cellar", row: nil, kind: .novel)
            (book.tags, book.notes) = (["a", "b"], ["x": 1, "y": -2])
        }
        context.insert(book)
        try context.save()
        for found in try [book] + shelf.again().context().fetch(FetchDescriptor<ShelfBook>()) + shelf.context().fetch(FetchDescriptor<ShelfBook>()) {
            #expect(found.title == "Ünï/çode \"")
            #expect(found.pages == .max)
            #expect(found.small == .min)
            #expect(found.price == Decimal(string: "12.345"))
            #expect(found.added == Date(timeIntervalSinceReferenceDate: 1234.5))
            #expect(found.code == book.code)
            #expect(found.isLent && found.kind == .essay)
            #expect(found.place == ShelfPlace(room: "attic", row: 4, kind: .essay))
            #expect(found.rating == (isFull ? 4.5 : nil))
            #expect(found.ratio == (isFull ? 0.25 : 0))
            #expect(found.due == (isFull ? Date(timeIntervalSinceReferenceDate: 9) : nil))
            #expect(found.cover == (isFull ? Data([1, 2, 0]) : nil))
            #expect(found.link == (isFull ? URL(string: "https://example.org/a?b=c") : nil))
            #expect(found.mood == (isFull ? .novel : nil))
            #expect(found.other == (isFull ? ShelfPlace(room: "cellar", row: nil, kind: .novel) : nil))
            #expect(found.tags == (isFull ? ["a", "b"] : []))
            #expect(found.notes == (isFull ? ["x": 1, "y": -2] : [:]))
        }
    }

    @Test
    func `Relationships lead both ways, among models of one save and of several`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let publisher = ShelfPublisher(name: "Virago")
        let first = ShelfBook(title: "One", publisher: publisher), second = ShelfBook(title: "Two")
        let reader = ShelfReader(name: "Ann")
        reader.books = [first, second]
        context.insert(publisher)
        context.insert(reader)
        try context.save()
        second.publisher = publisher
        try context.save()
        let other = try shelf.again().context()
        let found = try #require(try other.fetch(FetchDescriptor<ShelfPublisher>()).first)
        #expect(Set(found.books.map(\.title)) == ["One", "Two"])
        #expect(found.books.allSatisfy { $0.publisher === found })
        #expect(found.books.allSatisfy { $0.readers.map(\.name) == ["Ann"] })
        #expect(Set(try #require(try other.fetch(FetchDescriptor<ShelfReader>()).first).books.map(\.title)) == ["One", "Two"])
    }

    @Test
    func `Delete rules apply: a cascade deletes in the store, a nullified relationship is saved`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let publisher = ShelfPublisher(name: "Virago")
        let book = ShelfBook(title: "One", publisher: publisher), other = ShelfBook(title: "Two")
        let reader = ShelfReader(name: "Ann")
        reader.books = [book, other]
        for model in [book, other] { context.insert(model) }
        context.insert(reader)
        try context.save()
        context.delete(publisher)
        try context.save()
        #expect(shelf.behaviour.saves.last?.deleted == 2)
        let second = try shelf.again().context()
        #expect(try second.fetchCount(FetchDescriptor<ShelfPublisher>()) == 0)
        #expect(try second.fetch(FetchDescriptor<ShelfBook>()).map(\.title) == ["Two"])
        #expect(try second.fetch(FetchDescriptor<ShelfReader>()).first?.books.map(\.title) == ["Two"])
    }

    @Test
    func `A store that neither filters nor sorts gets all models asked, and the context does the rest`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        for number in 0..<10 { context.insert(ShelfBook(title: "Book \(number)", pages: 100 - number)) }
        try context.save()
        let other = try shelf.again().context()
        var descriptor = FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.pages < 97 }, sortBy: [SortDescriptor(\.pages)])
        #expect(try other.fetch(descriptor).map(\.pages) == [91, 92, 93, 94, 95, 96])
        #expect(try other.fetchCount(descriptor) == 6)
        #expect(try other.fetchIdentifiers(descriptor).count == 6)
        descriptor.fetchLimit = 2
        descriptor.fetchOffset = 1
        #expect(try other.fetch(descriptor).map(\.pages) == [92, 93])
        let kind = ShelfKind.novel
        #expect(try other.fetchCount(FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.kind == kind && $0.publisher == nil })) == 10)
        #expect(try other.fetchCount(FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.tags.contains("x") })) == 0)
    }

    @Test
    func `A fetch counts pending changes of the context`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        for number in 0..<3 { context.insert(ShelfBook(title: "Book \(number)", pages: number)) }
        try context.save()
        let books = try context.fetch(FetchDescriptor<ShelfBook>(sortBy: [SortDescriptor(\.pages)]))
        books[0].pages = 50
        context.delete(books[1])
        context.insert(ShelfBook(title: "New", pages: 40))
        let large = FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.pages > 30 }, sortBy: [SortDescriptor(\.pages)])
        #expect(try context.fetch(large).map(\.pages) == [40, 50])
        #expect(try context.fetchCount(FetchDescriptor<ShelfBook>()) == 3)
        context.rollback()
        #expect(try context.fetch(large).isEmpty)
    }

    @Test
    func `Two contexts see each other's saves, and the later save of a property wins`() throws {
        let shelf = try Shelf()
        let first = shelf.context(), second = shelf.context()
        let book = ShelfBook(title: "Emma", pages: 1)
        first.insert(book)
        try first.save()
        let twin = try #require(try second.fetch(FetchDescriptor<ShelfBook>()).first)
        #expect(twin.persistentModelID == book.persistentModelID)
        book.title = "Persuasion"
        try first.save()
        #expect(try second.fetch(FetchDescriptor<ShelfBook>()).first?.title == "Persuasion")
        twin.pages = 2
        book.pages = 3
        try second.save()
        try first.save()
        #expect(try shelf.again().context().fetch(FetchDescriptor<ShelfBook>()).map(\.pages) == [3])
        second.delete(twin)
        try second.save()
        #expect(try first.fetch(FetchDescriptor<ShelfBook>()).isEmpty)
    }

    @Test
    func `A model with the unique value of another changes that one`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let first = ShelfPublisher(name: "Virago")
        context.insert(first)
        try context.save()
        let second = ShelfPublisher(name: "Virago")
        second.books = [ShelfBook(title: "One")]
        context.insert(second)
        try context.save()
        let found = try shelf.again().context().fetch(FetchDescriptor<ShelfPublisher>())
        #expect(found.count == 1)
        #expect(found.first?.books.map(\.title) == ["One"])
    }

    @Test
    func `Subclasses are fetched with their class, and alone`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        context.insert(ShelfItem(name: "vase"))
        context.insert(ShelfLamp(name: "lamp", watts: 40))
        try context.save()
        let other = try shelf.again().context()
        let items = try other.fetch(FetchDescriptor<ShelfItem>(sortBy: [SortDescriptor(\.name)]))
        #expect(items.map(\.name) == ["lamp", "vase"])
        #expect((items[0] as? ShelfLamp)?.watts == 40)
        #expect(try other.fetch(FetchDescriptor<ShelfLamp>()).map(\.watts) == [40])
        try other.delete(model: ShelfItem.self, includeSubclasses: false)
        try other.save()
        #expect(try shelf.again().context().fetch(FetchDescriptor<ShelfItem>()).map(\.name) == ["lamp"])
    }

    @Test
    func `The store hears of contexts and their authors, and erases at once`() throws {
        let shelf = try Shelf()
        var context: ModelContext? = ModelContext(shelf.container)
        let id = try #require(context?.editingState.id)
        #expect(shelf.behaviour.states.contains(id))
        context?.author = "Ann"
        context?.insert(ShelfItem(name: "vase"))
        try context?.save()
        #expect(shelf.behaviour.authors == ["Ann"])
        context = nil
        #expect(!shelf.behaviour.states.contains(id))
        try shelf.container.erase()
        #expect(shelf.behaviour.erasures == 1)
        #expect(try shelf.context().fetchCount(FetchDescriptor<ShelfItem>()) == 0)
    }
}
