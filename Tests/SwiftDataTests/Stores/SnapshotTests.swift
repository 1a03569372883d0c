import Foundation
import HeartwoodSwiftData
import Testing

@Suite struct SnapshotTests {
    private func table() throws -> (ModelContainer, TableStore.Table) {
        let configuration = TableStore.Configuration(name: "table")
        return (try ModelContainer(for: ShelfItem.self, ShelfLamp.self, configurations: configuration), configuration.table)
    }

    @Test
    func `A snapshot type of the program's own carries a model's values there and back, those of a subclass too`() throws {
        let (container, table) = try table()
        let context = ModelContext(container)
        let lamp = ShelfLamp(name: "lamp", watts: 40)
        context.insert(ShelfItem(name: "vase"))
        context.insert(lamp)
        try context.save()
        #expect(Set(table.records.values.map(\.name)) == ["vase", "lamp"])
        #expect(table.records[lamp.persistentModelID]?.watts == 40)
        let other = ModelContext(container)
        #expect(try other.fetch(FetchDescriptor<ShelfItem>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["lamp", "vase"])
        let twin = try #require(try other.fetch(FetchDescriptor<ShelfLamp>(predicate: #Predicate { $0.watts == 40 })).first)
        twin.watts = 60
        try other.save()
        #expect(table.records[lamp.persistentModelID]?.watts == 60)
        #expect(try context.fetch(FetchDescriptor<ShelfLamp>()).map(\.watts) == [60])
    }

    @Test
    func `A model read by its identifier comes from what the store has at hand, without a fetch`() throws {
        let (container, table) = try table()
        let context = ModelContext(container)
        let lamp = ShelfLamp(name: "lamp", watts: 40)
        context.insert(lamp)
        try context.save()
        let fetches = table.fetches
        let other = ModelContext(container)
        #expect((other.model(for: lamp.persistentModelID) as? ShelfLamp)?.watts == 40)
        #expect(table.fetches == fetches)
    }

    @Test
    func `A store that deletes batches is asked for one, and its models leave the contexts`() throws {
        let (container, table) = try table()
        let context = ModelContext(container), other = ModelContext(container)
        for number in 0..<3 { context.insert(ShelfLamp(name: "lamp \(number)", watts: number)) }
        context.insert(ShelfItem(name: "vase"))
        try context.save()
        let lamps = try other.fetch(FetchDescriptor<ShelfLamp>())
        #expect(lamps.count == 3)
        try context.delete(model: ShelfLamp.self)
        #expect(table.batches == 1)
        #expect(table.records.count == 1)
        #expect(try context.fetchCount(FetchDescriptor<ShelfItem>()) == 1)
        #expect(try other.fetch(FetchDescriptor<ShelfLamp>()).isEmpty)
        try context.save()
        #expect(throws: DataStoreError.unsupportedFeature) { try context.delete(model: ShelfItem.self, where: #Predicate { $0.name == "vase" }) }
        #expect(try context.fetchCount(FetchDescriptor<ShelfItem>()) == 1)
    }

    @Test
    func `A container has stores of the program's own beside Heartwood's`() throws {
        let table = TableStore.Configuration(name: "table", schema: Schema([ShelfItem.self, ShelfLamp.self]))
        let plain = ModelConfiguration("plain", schema: Schema([ShelfReader.self]), isStoredInMemoryOnly: true)
        let container = try ModelContainer(
            for: Schema([ShelfItem.self, ShelfLamp.self, ShelfReader.self]), configurations: [table, plain] as [any DataStoreConfiguration])
        let context = ModelContext(container)
        context.insert(ShelfLamp(name: "lamp", watts: 4))
        context.insert(ShelfReader(name: "Ann"))
        try context.save()
        #expect(table.table.records.count == 1)
        #expect(try ModelContext(container).fetch(FetchDescriptor<ShelfReader>()).count == 1)
        #expect(container.storeIdentifier(forConfigurationNamed: "table") == "Table store")
        #expect(container.configurationName(forStoreIdentifier: "Table store") == "table")
        try container.erase()
        #expect(table.table.records.isEmpty)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<ShelfReader>()) == 0)
    }

    @Test
    func `A store without a history refuses to be asked for it`() throws {
        let (container, _) = try table()
        #expect(throws: DataStoreError.unsupportedFeature) {
            try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        }
    }

    // MARK: Default snapshots

    @Test
    func `A default snapshot is encoded with a key for each property, and decodes equal`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        let reader = ShelfReader(name: "Ann")
        let book = ShelfBook(title: "One", pages: 3)
        book.rating = 2.5
        book.readers = [reader]
        context.insert(book)
        try context.save()
        let data = try Data(contentsOf: shelf.url)
        let snapshots = try JSONDecoder().decode([DefaultSnapshot].self, from: data)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try encoder.encode(snapshots) == encoder.encode(JSONDecoder().decode([DefaultSnapshot].self, from: encoder.encode(snapshots))))
        let list = PropertyListEncoder()
        #expect(try encoder.encode(snapshots) == encoder.encode(PropertyListDecoder().decode([DefaultSnapshot].self, from: list.encode(snapshots))))
        let text = try JSONSerialization.jsonObject(with: data) as? [[String: Any]]
        let entry = try #require(text?.first { $0["title"] != nil })
        #expect(entry["rating"] as? Double == 2.5)
        #expect(entry["due"] is NSNull)
        #expect(entry["kind"] as? String == "novel")
        #expect((entry["readers"] as? [Any])?.count == 1)
        #expect(entry["persistentIdentifier"] is [String: Any])
    }

    @Test
    func `A property that an older snapshot lacks has its default`() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        context.insert(ShelfBook(title: "One", pages: 3))
        try context.save()
        var text = try String(contentsOf: shelf.url, encoding: .utf8)
        for gone in ["\"pages\":3,", "\"isLent\":false,", "\"rating\":null,", "\"readers\":[],"] {
            #expect(text.contains(gone))
            text = text.replacingOccurrences(of: gone, with: "")
        }
        try Data(text.utf8).write(to: shelf.url)
        let found = try #require(try shelf.again().context().fetch(FetchDescriptor<ShelfBook>()).first)
        #expect(found.pages == 0 && !found.isLent && found.rating == nil && found.readers.isEmpty && found.title == "One")
    }

    @Test
    func `A snapshot of a model of no context has its values`() throws {
        let publisher = ShelfPublisher(name: "Virago")
        var related: [PersistentIdentifier: any BackingData] = [:]
        let snapshot = DefaultSnapshot(from: publisher.persistentBackingData, relatedBackingDatas: &related)
        let lasting = try PersistentIdentifier.identifier(for: "s", entityName: "ShelfPublisher", primaryKey: "a b/c?d#e%ü")
        let data = try JSONEncoder().encode(snapshot.copy(persistentIdentifier: lasting))
        #expect(String(decoding: data, as: UTF8.self).contains("Virago"))
        #expect(try JSONDecoder().decode(DefaultSnapshot.self, from: data).persistentIdentifier == lasting)
        #expect(lasting.entityName == "ShelfPublisher" && lasting.storeIdentifier == "s")
    }

    // MARK: The default store

    @Test
    func `A store of the program's own may hand its requests on to a default store`() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).store")
        let configuration = WrappingStore.Configuration(url: url)
        let container = try ModelContainer(for: ShelfPublisher.self, ShelfBook.self, ShelfReader.self, configurations: configuration)
        let context = ModelContext(container)
        let publisher = ShelfPublisher(name: "Virago")
        publisher.books = [ShelfBook(title: "One", pages: 1), ShelfBook(title: "Two", pages: 2)]
        context.insert(publisher)
        context.author = "Ann"
        try context.save()
        for book in publisher.books { book.tags = ["x"] }
        try context.save()
        let other = ModelContext(container)
        let books = try other.fetch(FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.pages == 2 }))
        #expect(books.map(\.title) == ["Two"])
        #expect(books.first?.publisher?.name == "Virago")
        #expect(books.first?.publisher?.books.count == 2)
        #expect(try other.fetchCount(FetchDescriptor<ShelfBook>(predicate: #Predicate { $0.pages > 0 })) == 2)
        let history = try other.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(history.map(\.author) == ["Ann", "Ann"])
        other.delete(books[0])
        try other.save()
        let third = ModelContext(container)
        let rest = try third.fetch(FetchDescriptor<ShelfBook>())
        #expect(rest.map(\.title) == ["One"])
        #expect(rest[0].tags == (publisher.books.first { $0.title == "One" }?.tags ?? ["gone"]))
    }
}

/// Hands everything on to a default store.
final class WrappingStore: DataStore, HistoryProviding {
    typealias Snapshot = DefaultSnapshot
    typealias HistoryType = DefaultHistoryTransaction

    struct Configuration: DataStoreConfiguration {
        typealias Store = WrappingStore
        var name: String { "wrapped" }
        var schema: Schema?
        let url: URL
    }

    let configuration: Configuration
    private let store: DefaultStore

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        store = try DefaultStore(ModelConfiguration(schema: configuration.schema, url: configuration.url), migrationPlan: migrationPlan)
    }

    var identifier: String { store.identifier }
    var schema: Schema { store.schema }
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        try store.fetch(request)
    }
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int { try store.fetchCount(request) }
    func save(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try store.save(request)
    }
    func fetchHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction] {
        try store.fetchHistory(descriptor)
    }
    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws { try store.deleteHistory(descriptor) }
}
