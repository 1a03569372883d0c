import Foundation
import HeartwoodSwiftData

/// A store that keeps all snapshots in one JSON file, and does as little itself as a store may.
final class JSONShelf: DataStore {
    typealias Snapshot = DefaultSnapshot

    struct Configuration: DataStoreConfiguration {
        typealias Store = JSONShelf

        var name = "shelf"
        var schema: Schema?
        let url: URL
        var behaviour = Behaviour()

        static func == (a: Configuration, b: Configuration) -> Bool { a.name == b.name && a.url == b.url }
        func hash(into hasher: inout Hasher) { hasher.combine(url) }
        func validate() throws { if let error = behaviour.validationError { throw error } }
    }

    /// What a test makes the store do, and what it saw.
    final class Behaviour {
        var validationError: (any Error)?
        var openingError: (any Error)?
        var fetchError: (any Error)?
        var saveError: (any Error)?
        var filters = false
        var sorts = false
        var change: (([DefaultSnapshot]) -> [DefaultSnapshot])?
        var result: ((DataStoreSaveChangesResult<DefaultSnapshot>) -> DataStoreSaveChangesResult<DefaultSnapshot>)?
        /// Of each fetch: whether it had a predicate, the number of its orders, and its limit.
        var asked: [(hasPredicate: Bool, orders: Int, limit: Int?)] = []
        var saves: [(inserted: Int, updated: Int, deleted: Int)] = []
        var authors: [String?] = []
        var states: Set<UUID> = []
        var erasures = 0
        var lastSaved: DataStoreSaveChangesRequest<DefaultSnapshot>?
    }

    let configuration: Configuration
    let schema: Schema
    let identifier: String
    private var behaviour: Behaviour { configuration.behaviour }

    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        if let error = configuration.behaviour.openingError { throw error }
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
        identifier = configuration.url.lastPathComponent
    }

    func read() throws -> [DefaultSnapshot] {
        guard FileManager.default.fileExists(atPath: configuration.url.path) else { return [] }
        return try JSONDecoder().decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.url))
    }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        behaviour.asked.append((request.descriptor.predicate != nil, request.descriptor.sortBy.count, request.descriptor.fetchLimit))
        if let error = behaviour.fetchError { throw error }
        if request.descriptor.predicate != nil, !behaviour.filters { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty, !behaviour.sorts { throw DataStoreError.preferInMemorySort }
        let names = Set([Schema.entityName(for: T.self)] + (schema.entity(for: T.self)?.subentities.map(\.name) ?? []))
        let found = try read().filter { names.contains($0.persistentIdentifier.entityName) }
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: behaviour.change?(found) ?? found)
    }

    func save(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if let error = behaviour.saveError { throw error }
        behaviour.saves.append((request.inserted.count, request.updated.count, request.deleted.count))
        behaviour.authors.append(request.editingState.author)
        behaviour.lastSaved = request
        var snapshots = Dictionary(try read().map { ($0.persistentIdentifier, $0) }) { $1 }
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
        }
        for snapshot in request.inserted + request.updated {
            let identifier = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            snapshots[identifier] = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { snapshots[snapshot.persistentIdentifier] = nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try encoder.encode(snapshots.values.sorted { $0.persistentIdentifier < $1.persistentIdentifier }).write(to: configuration.url)
        let result = DataStoreSaveChangesResult<DefaultSnapshot>(for: identifier, remappedIdentifiers: remapped)
        return behaviour.result?(result) ?? result
    }

    func initializeState(for editingState: EditingState) { behaviour.states.insert(editingState.id) }
    func invalidateState(for editingState: EditingState) { behaviour.states.remove(editingState.id) }

    func erase() throws {
        behaviour.erasures += 1
        try Data("[]".utf8).write(to: configuration.url)
    }
}

/// A container over a JSON file of its own. It keeps its contexts, which models need.
final class Shelf {
    let container: ModelContainer
    let behaviour: JSONShelf.Behaviour
    let url: URL
    private var kept: [AnyObject] = []

    init(_ url: URL? = nil) throws {
        self.url = url ?? FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
        let configuration = JSONShelf.Configuration(url: self.url)
        behaviour = configuration.behaviour
        container = try ModelContainer(
            for: ShelfPublisher.self, ShelfBook.self, ShelfReader.self, ShelfItem.self, ShelfLamp.self, configurations: configuration)
    }

    /// The same file, opened again.
    func again() throws -> Shelf {
        let made = try Shelf(url)
        kept.append(made)
        return made
    }

    func context() -> ModelContext {
        let made = ModelContext(container)
        kept.append(made)
        return made
    }
}

struct ShelfError: Error, Equatable { let text: String }
