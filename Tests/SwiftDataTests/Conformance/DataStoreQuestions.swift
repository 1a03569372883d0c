import Foundation
import SwiftData
import Testing

@Model final class Crane {
    var name: String
    var reach: Int
    var operators: [Operator] = []

    init(_ name: String, reach: Int) {
        self.name = name
        self.reach = reach
    }
}

@Model final class Operator {
    var name: String
    @Relationship(inverse: \Crane.operators) var crane: Crane?

    init(_ name: String) { self.name = name }
}

/// A store of the program's own that keeps its snapshots in memory, encoded.
final class Yard: DataStore {
    typealias Configuration = YardConfiguration
    typealias Snapshot = DefaultSnapshot

    let configuration: YardConfiguration
    let schema: Schema
    let identifier: String
    var kept: [PersistentIdentifier: Data] = [:]
    var fetches: [(isFiltered: Bool, isSorted: Bool)] = []
    var saves: [DataStoreSaveChangesRequest<DefaultSnapshot>] = []

    init(_ configuration: YardConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
        identifier = configuration.name
        configuration.shared.store = self
    }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        fetches.append((request.descriptor.predicate != nil, !request.descriptor.sortBy.isEmpty))
        guard request.descriptor.predicate == nil else { throw DataStoreError.preferInMemoryFilter }
        guard request.descriptor.sortBy.isEmpty else { throw DataStoreError.preferInMemorySort }
        let found = kept.filter { $0.key.entityName == Schema.entityName(for: T.self) }
        let snapshots = try found.values.map { try JSONDecoder().decode(DefaultSnapshot.self, from: $0) }
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: snapshots)
    }

    func save(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        saves.append(request)
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            remapped[temporary] = try PersistentIdentifier.identifier(for: identifier, entityName: temporary.entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted + request.updated {
            let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            kept[id] = try JSONEncoder().encode(snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped))
        }
        for snapshot in request.deleted { kept[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }
}

struct YardConfiguration: DataStoreConfiguration {
    typealias Store = Yard

    /// Leads a test to the store that the container has made.
    final class Shared { weak var store: Yard? }

    var name: String
    var schema: Schema?
    let shared = Shared()

    static func == (a: YardConfiguration, b: YardConfiguration) -> Bool { a.name == b.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Stores of the program's own.
@Suite struct DataStoreQuestions {
    private let container: ModelContainer
    private let context: ModelContext
    private let yard: Yard

    init() throws {
        let configuration = YardConfiguration(name: "yard")
        container = try ModelContainer(for: Crane.self, Operator.self, configurations: configuration)
        context = ModelContext(container)
        yard = try #require(configuration.shared.store)
    }

    private func fill() throws -> [Crane] {
        let cranes = [("a", 30), ("b", 10), ("c", 20)].map { Crane($0.0, reach: $0.1) }
        cranes[0].operators = [Operator("Mia"), Operator("Noa")]
        for crane in cranes { context.insert(crane) }
        try context.save()
        return cranes
    }

    @Test(.wwdc(2024, 10138, "the configuration chooses the store"))
    func `A configuration makes its store, with the container's schema`() {
        #expect(Set(yard.schema.entities.map(\.name)) == ["Crane", "Operator"])
        #expect(container.schema.entity(for: Crane.self) != nil)
    }

    @Test(.wwdc(2024, 10138, "temporary identifiers are remapped"))
    func `An inserted model has a temporary identifier until the store gives it another`() throws {
        let crane = Crane("a", reach: 1)
        context.insert(crane)
        let temporary = crane.persistentModelID
        #expect(temporary.storeIdentifier == nil)
        try context.save()
        #expect(crane.persistentModelID != temporary)
        #expect(crane.persistentModelID.storeIdentifier == "yard" && crane.persistentModelID.entityName == "Crane")
        #expect(yard.saves.map { $0.inserted.map(\.persistentIdentifier) } == [[temporary]])
    }

    @Test(.wwdc(2024, 10138, "snapshots carry the values"))
    func `Another context reads what the store keeps`() throws {
        _ = try fill()
        let found = try ModelContext(container).fetch(FetchDescriptor<Crane>())
        #expect(Set(found.map(\.name)) == ["a", "b", "c"])
        #expect(Set(found.first { $0.name == "a" }?.operators.map(\.name) ?? []) == ["Mia", "Noa"])
    }

    @Test(.wwdc(2024, 10138, "preferInMemoryFilter and preferInMemorySort"))
    func `The context filters and sorts for a store that cannot`() throws {
        _ = try fill()
        let descriptor = FetchDescriptor<Crane>(predicate: #Predicate { $0.reach > 15 }, sortBy: [SortDescriptor(\.reach)])
        #expect(try ModelContext(container).fetch(descriptor).map(\.name) == ["c", "a"])
        #expect(yard.fetches.contains { $0.isFiltered } && yard.fetches.contains { !$0.isFiltered && !$0.isSorted })
    }

    @Test(.wwdc(2024, 10138, "preferInMemoryFilter and preferInMemorySort"))
    func `A limit and an offset hold for what the context has filtered`() throws {
        _ = try fill()
        var descriptor = FetchDescriptor<Crane>(predicate: #Predicate { $0.reach > 5 }, sortBy: [SortDescriptor(\.reach)])
        (descriptor.fetchOffset, descriptor.fetchLimit) = (1, 1)
        #expect(try ModelContext(container).fetch(descriptor).map(\.name) == ["c"])
    }

    @Test(.wwdc(2024, 10138, "insertions, updates and deletions of a save"))
    func `A save has snapshots of what was inserted, changed and deleted`() throws {
        let cranes = try fill(), gone = cranes[1].persistentModelID
        cranes[0].reach = 99
        context.delete(cranes[1])
        context.insert(Crane("d", reach: 4))
        try context.save()
        let last = try #require(yard.saves.last)
        #expect(last.inserted.count == 1 && last.deleted.map(\.persistentIdentifier) == [gone])
        #expect(last.updated.map(\.persistentIdentifier) == [cranes[0].persistentModelID])
        #expect(last.editingState.id == context.editingState.id)
        let found = try ModelContext(container).fetch(FetchDescriptor<Crane>(sortBy: [SortDescriptor(\.name)]))
        #expect(found.map(\.reach) == [99, 20, 4])
    }

    @Test(.reference("datastore/fetchcount(_:)"))
    func `Counts and identifiers need no code of the store`() throws {
        let cranes = try fill(), predicate = #Predicate<Crane> { $0.reach > 15 }
        #expect(try context.fetchCount(FetchDescriptor<Crane>()) == 3)
        #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == 2)
        #expect(Set(try context.fetchIdentifiers(FetchDescriptor(predicate: predicate))) == Set([cranes[0], cranes[2]].map(\.persistentModelID)))
    }

    @Test(.reference("persistentidentifier/identifier(for:entityname:primarykey:)"))
    func `Identifiers of one key are equal, and of others are not`() throws {
        let first = try PersistentIdentifier.identifier(for: "yard", entityName: "Crane", primaryKey: 1)
        #expect(try first == PersistentIdentifier.identifier(for: "yard", entityName: "Crane", primaryKey: 1))
        #expect(try first != PersistentIdentifier.identifier(for: "yard", entityName: "Crane", primaryKey: 2))
        #expect(try first != PersistentIdentifier.identifier(for: "other", entityName: "Crane", primaryKey: 1))
        #expect(first.storeIdentifier == "yard" && first.entityName == "Crane")
        #expect(try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(first)) == first)
    }

    @Test(.reference("defaultsnapshot/copy(persistentidentifier:remappedidentifiers:)"))
    func `A snapshot's copy has another identifier and the same values`() throws {
        context.insert(Crane("a", reach: 1))
        try context.save()
        let snapshot = try #require(yard.saves.first?.inserted.first)
        let id = try PersistentIdentifier.identifier(for: "yard", entityName: "Crane", primaryKey: 5)
        let copy = snapshot.copy(persistentIdentifier: id)
        #expect(copy.persistentIdentifier == id && snapshot.persistentIdentifier != id)
        let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: JSONEncoder().encode(copy))
        #expect(decoded.persistentIdentifier == id)
    }

    @Test(.wwdc(2024, 10075, "a custom store may have a history, or not"))
    func `A store without a history has none to fetch`() throws {
        _ = try fill()
        #expect(throws: DataStoreError.unsupportedFeature) { try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
    }

    @Test(.reference("editingstate"))
    func `Each context edits under an identity of its own`() {
        let other = ModelContext(container)
        #expect(context.editingState.id != other.editingState.id)
        #expect(context.editingState.author == nil)
    }

    // MARK: DefaultStore

    @Test(.reference("defaultstore"), arguments: StoreKind.allCases)
    func `The default store is a data store with batches and a history`(kind: StoreKind) throws {
        let stack = try Stack(kind, Crane.self, Operator.self)
        let store = try DefaultStore(stack.configuration)
        func isCapable<Store: DataStore & DataStoreBatching & HistoryProviding>(_: Store) -> Bool { true }
        #expect(isCapable(store))
        #expect(DefaultStore.historyType == DefaultHistoryTransaction.self)
        #expect(!store.identifier.isEmpty && store.schema.entity(for: Crane.self) != nil)
    }

    @Test(.wwdc(2024, 10138, "the default store's types"))
    func `The default store's configuration and snapshot are the default ones`() {
        #expect(DefaultStore.Configuration.self == ModelConfiguration.self)
        #expect(DefaultStore.Snapshot.self == DefaultSnapshot.self)
        #expect(DefaultStore.TokenType.self == DefaultHistoryToken.self)
        #expect(ModelConfiguration.Store.self == DefaultStore.self)
    }

    @Test(.reference("datastoreerror"))
    func `Errors of stores are equal where they are of one kind`() throws {
        #expect(DataStoreError.unsupportedFeature != DataStoreError.invalidPredicate)
        #expect(Set([DataStoreError.preferInMemoryFilter, .preferInMemorySort, .preferInMemoryFilter]).count == 2)
    }
}
