import Foundation
import SwiftData
import Testing

/// Misuse and hostile input: an error or an answer, and never the end of the program.
@Suite struct BadUseTests {
    // MARK: Models of other contexts, and without one

    @Test(arguments: [false, true]) func `A model of another context is refused by insertion and ignored by deletion`(isSaved: Bool) throws {
        let library = try Library()
        let book = Book(title: "x")
        library.context.insert(book)
        if isSaved { try library.context.save() }
        let other = library.other()
        other.insert(book)
        #expect(book.modelContext === library.context)
        #expect(throws: SwiftDataError.missingModelContext) { try other.save() }
        // The error is told once.
        try other.save()
        other.delete(book)
        try other.save()
        #expect(!book.isDeleted)
        try library.context.save()
        #expect(try library.other().fetch(FetchDescriptor<Book>()).map(\.title) == ["x"])
    }

    @Test func `A relationship with an unsaved model of another context is refused by the save`() throws {
        let library = try Library()
        let other = library.other()
        let author = Author(name: "A")
        other.insert(author)
        let book = Book(title: "x")
        library.context.insert(book)
        book.author = author
        #expect(book.author == nil)
        #expect(throws: SwiftDataError.missingModelContext) { try library.context.save() }
        try other.save()
        book.author = author
        try library.context.save()
        #expect(book.author?.name == "A" && book.author !== author)
        book.tags = [Tag(label: "t")]
        try library.context.save()
    }

    @Test func `A model of another container is refused`() throws {
        let library = try Library(), foreign = try Library()
        let author = Author(name: "A"), book = Book(title: "x")
        foreign.context.insert(author)
        try foreign.context.save()
        library.context.insert(book)
        book.author = author
        #expect(book.author == nil)
        #expect(throws: SwiftDataError.missingModelContext) { try library.context.save() }
        library.context.insert(author)
        #expect(throws: SwiftDataError.missingModelContext) { try library.context.save() }
        try library.context.save()
        #expect(library.context.registeredModel(for: author.persistentModelID) as Author? == nil)
        _ = (library.context.model(for: author.persistentModelID) as? Author)?.name
        #expect(try library.other().fetchCount(FetchDescriptor<Author>()) == 0)
    }

    @Test func `A model is used after its context and its container are gone`() throws {
        var books: [Book] = []
        for isSaved in [false, true] {
            let library = try Library()
            let book = Book(title: "x", pages: 3, author: Author(name: "A"))
            book.tags = [Tag(label: "t")]
            library.context.insert(book)
            if isSaved { try library.context.save() }
            books.append(book)
        }
        for book in books {
            _ = (book.title, book.place, book.author?.name, book.author?.books, book.tags.map(\.label), book.persistentModelID, book.hasChanges)
            #expect(book.modelContext == nil)
            book.title = "y"
            book.author = nil
            book.author = Author(name: "B")
            book.tags = []
            book.keywords = ["k"]
            _ = (book.title, book.author?.name, book.tags, book.isDeleted)
        }
        let library = try Library()
        for book in books { library.context.insert(book) }
        try? library.context.save()
        try library.context.save()
    }

    @Test func `A model whose deletion is saved is changed, linked and deleted again`() throws {
        let library = try Library()
        let book = Book(title: "x"), author = Author(name: "A")
        author.books = [book]
        library.context.insert(author)
        try library.context.save()
        library.context.delete(book)
        book.title = "y"
        book.author = nil
        book.author = author
        try library.context.save()
        library.context.delete(book)
        try library.context.save()
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(book.modelContext == nil)
        // A relationship brings a model in.
        author.books = [book]
        #expect(book.modelContext === library.context)
        try library.context.save()
        #expect(try library.other().fetch(FetchDescriptor<Author>()).first?.books.count == 1)
    }

    // MARK: Hostile identifiers and tokens

    /// A text with parts cut off, changed and repeated.
    private static func damaged(_ text: String) -> [String] {
        var all = stride(from: 0, to: text.count, by: 3).map { String(text.prefix($0)) }
        all += [text + text, "[\(text)]", String(repeating: "[", count: 5000), String(repeating: "9", count: 5000), "null", "\"\"", "{}", "true"]
        for (index, byte) in text.utf8.enumerated() where index % 7 == 0 {
            for new in [UInt8(ascii: "\""), UInt8(ascii: "0"), UInt8(ascii: "/"), byte ^ 1] {
                var bytes = Array(text.utf8)
                bytes[index] = new
                all.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        return all
    }

    private static let huge = String(repeating: "x", count: 1 << 20)

    @Test func `A damaged identifier is refused, or finds no other model`() throws {
        let library = try Library()
        let book = Book(title: "x"), author = Author(name: "A")
        for model in [book, author] as [any PersistentModel] { library.context.insertAnyModel(model) }
        try library.context.save()
        let text = String(decoding: try JSONEncoder().encode(book.persistentModelID), as: UTF8.self)
        let store = try #require(book.persistentModelID.storeIdentifier)
        var texts = Self.damaged(text)
        for uri in [
            "x-coredata://\(store)/Book/p\(UInt64.max)", "x-coredata://\(store)/Book/p-1", "x-coredata://\(store)/Book/p",
            "x-coredata://\(store)/Book/",
            "x-coredata://\(store)/Book/p0", "x-coredata://\(store)/Book/p1/p1", "x-coredata:///Book/p1", "x-coredata://\(store)/None/p1",
            "x-coredata://\(store)//p1", "x-coredata://\(Self.huge)/Book/p1", "x-coredata://\(store)/Book/p\(Self.huge)",
            "x-coredata://\(store)/Book/p٣",
            "x-coredata://\(store)/Author/p1", "x-coredata://\(UUID().uuidString)/Book/p1", "http://\(store)/Book/p1",
            "x-coredata://\(store)/Book/p18446744073709551616", "x-coredata://\(store)/Book/p9223372036854775807",
        ] {
            for entity in ["Book", "Author", "None", ""] {
                texts.append("{\"implementation\":{\"uriRepresentation\":\"\(uri)\",\"entityName\":\"\(entity)\"}}")
            }
        }
        for text in texts {
            guard let id = try? JSONDecoder().decode(PersistentIdentifier.self, from: Data(text.utf8)) else { continue }
            let other = library.other()
            let found = other.model(for: id)
            // It is the model that the identifier names, or one that the store does not have. An empty part of a path names nothing.
            let parts = "\(id)".split(separator: "/")
            if found.modelContext != nil, (found as? Book)?.title == "x" {
                #expect(parts == "\(book.persistentModelID)".split(separator: "/"), "\(text.prefix(200))")
            }
            if let found = found as? Author, found.name == "A" {
                #expect(parts == "\(author.persistentModelID)".split(separator: "/"), "\(text.prefix(200))")
            }
            _ = (found.persistentModelID, found.hasChanges, found.isDeleted, id.hashValue, id < book.persistentModelID, id.description.count)
            _ = (other.registeredModel(for: id) as Book?, other.registeredModel(for: id) as Author?)
            if found.modelContext != nil {
                (found as? Book)?.title = "z"
                (found as? Book)?.author = nil
                try? other.save()
            }
            _ = try? other.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.persistentModelID == id }))
            _ = try? JSONEncoder().encode(id)
            guard try library.context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.title != "x" })) > 0 else { continue }
            book.title = "x"
            try library.context.save()
        }
        #expect(try library.other().fetchCount(FetchDescriptor<Book>()) == 1)
    }

    @Test func `A damaged history token is refused, or the history says that it is none of its own`() throws {
        let library = try Library()
        library.context.insert(Book(title: "x"))
        try library.context.save()
        let token = try #require(try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token)
        let text = String(decoding: try JSONEncoder().encode(token), as: UTF8.self)
        var texts = Self.damaged(text)
        for digit in ["-1", "9223372036854775807", "9223372036854775808", "1e400", "0.5", "null", "\"1\"", "[]"] {
            texts.append(text.replacing(/:[0-9.]+/, with: ":\(digit)"))
        }
        for text in texts {
            guard let token = try? JSONDecoder().decode(DefaultHistoryToken.self, from: Data(text.utf8)) else { continue }
            _ = (token.id, token.hashValue, token == token, token < token, token.tokenValue)
            let predicates: [Predicate<DefaultHistoryTransaction>] = [#Predicate { $0.token > token }, #Predicate { $0.token <= token }]
            for predicate in predicates { _ = try? library.context.fetchHistory(HistoryDescriptor(predicate: predicate)) }
        }
    }

    // MARK: Properties that no store can keep

    @Test func `A container refuses a property of an unfit type, and names it`() throws {
        let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Schema([UnfitModel.self]), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect(error?.explanation?.contains("UnfitModel.act") == true, "\(error?.explanation ?? "-")")
        #expect(NSManagedObjectModel.makeManagedObjectModel(for: [UnfitModel.self]) == nil)
    }

    @Test func `A class of no schema is refused by each call`() throws {
        let container = try ModelContainer(for: Author.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Saw(name: "s", weight: 1))
        #expect(throws: SwiftDataError.unknownSchema) { try context.save() }
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetch(FetchDescriptor<Saw>()) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetchCount(FetchDescriptor<Saw>()) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.fetchIdentifiers(FetchDescriptor<Saw>()) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.delete(model: Saw.self) }
        #expect(throws: SwiftDataError.unknownSchema) { try context.enumerate(FetchDescriptor<Saw>()) { _ in } }
        context.delete(Saw(name: "s", weight: 1))
        try context.save()
    }

    @Test func `Numbers out of range in descriptors are no trap`() throws {
        let library = try Library()
        for number in 0..<3 { library.context.insert(Book(title: "\(number)", pages: number)) }
        try library.context.save()
        for limit in [nil, 0, -1, 1, Int.max, Int.min] {
            for offset in [nil, 0, -1, 1, Int.max, Int.min] {
                for isFiltered in [false, true] {
                    var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)])
                    // A computed property is evaluated by the program.
                    if isFiltered { descriptor.predicate = #Predicate { $0.summary != "" } }
                    (descriptor.fetchLimit, descriptor.fetchOffset) = (limit, offset)
                    let count = try library.context.fetch(descriptor).count
                    let said = "limit \(limit.map { "\($0)" } ?? "-"), offset \(offset.map { "\($0)" } ?? "-")"
                    #expect(try library.context.fetchIdentifiers(descriptor).count == count, "\(said)")
                    #expect(try library.context.fetchCount(descriptor) == count, "\(said)")
                    var visited = 0
                    try library.context.enumerate(descriptor, batchSize: limit ?? 1) { _ in visited += 1 }
                    #expect(visited == count, "\(said)")
                    #expect(try library.context.fetch(descriptor, batchSize: offset ?? 1).count == count)
                }
            }
        }
    }
}

/// What the macro refuses to compile, written by hand.
private final class UnfitModel: PersistentModel {
    struct Part {}

    var persistentBackingData: any BackingData<UnfitModel>
    var act: (() -> Void)?
    var part: Part?
    var parts: [Part] = []

    init(backingData: any BackingData<UnfitModel>) { persistentBackingData = backingData }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            Schema.PropertyMetadata(name: "act", keypath: \UnfitModel.act), Schema.PropertyMetadata(name: "part", keypath: \UnfitModel.part),
            Schema.PropertyMetadata(name: "parts", keypath: \UnfitModel.parts),
        ]
    }
}
