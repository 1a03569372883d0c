import Foundation
import RecordLog

@testable import Heartwood

/// A store file whose model changes from version to version; open with one of them at a time.
final class VersionedStore {
    let kind: StoreKind
    let url: URL
    private var coordinator: NSPersistentStoreCoordinator?
    private(set) var context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    private let options: [String: Any]

    /// - Parameter fill: makes the first objects, which are saved.
    init(
        _ version: ModelVersion, _ kind: StoreKind = .recordLog, keepsHistory: Bool = false, fill: (NSManagedObjectContext) throws -> Void
    ) throws {
        (self.kind, url) = (kind, kind.newURL)
        options = [NSRecordLogDurabilityOption: "none", NSPersistentHistoryTrackingKey: keepsHistory]
        try open(version)
        try fill(context)
        try context.save()
    }

    deinit {
        try? close()
        try? FileManager.default.removeItem(at: url)
        kind.remove(at: url)
    }

    func close() throws {
        for store in coordinator?.persistentStores ?? [] { try coordinator?.remove(store) }
        coordinator = nil
    }

    /// Closes the store and opens the file with a version of its model.
    @discardableResult
    func open(_ version: ModelVersion) throws -> NSManagedObjectContext {
        try close()
        let opened = NSPersistentStoreCoordinator(managedObjectModel: version.model())
        try opened.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: options)
        coordinator = opened
        return anew()
    }

    /// A context that has read nothing.
    @discardableResult
    func anew() -> NSManagedObjectContext {
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Migrates the file to a version without opening it.
    func migrate(to version: ModelVersion) throws -> Bool {
        let model = version.model(), storeClass = try StoreClasses.fileClass(for: kind.type)
        guard let stored = try storeClass.storedModel(at: url, options: options) else { return false }
        return try storeClass.migrateInPlace(
            at: url, options: options, configuration: nil, to: model, ModelComparison(from: stored, to: model), .isTold)
    }

    struct NotInPlace: Error {}

    /// Migrates the file to a version and opens it.
    @discardableResult
    func migrated(to version: ModelVersion) throws -> NSManagedObjectContext {
        try close()
        guard try migrate(to: version) else { throw NotInPlace() }
        return try open(version)
    }

    var store: RecordLogStore? { coordinator?.persistentStores.first?.rows }

    var bytes: UInt64 {
        get throws { try StoreInspection.inspect(path: url.path).logBytes }
    }

    /// Of a record log: the contradictions of indexes, checksums and counts to the rows.
    var problems: [String] {
        get throws { kind == .recordLog ? try StoreVerification.verify(path: url.path).problems.map(\.message) : [] }
    }
}

extension NSManagedObjectContext {
    /// Every object of an entity, in the order of the rows.
    func all(_ entity: String) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.includesSubentities = false
        return try fetch(request).sorted { $0.key.rawValue < $1.key.rawValue }
    }

    /// Every object of a version's entities as text: its attributes, and its relationships' objects by row.
    /// - Parameter sorted: relationships whose order is ignored.
    func described(_ version: ModelVersion, sorting sorted: Set<String> = []) throws -> [String] {
        try version.entities.filter { !$0.isAbstract }.flatMap { entity in
            try all(entity.name).map { object in
                var words = [object.label]
                for attribute in version.attributes(of: entity.name).sorted(by: { $0.name < $1.name }) {
                    words.append("\(attribute.name)=\(RandomMigrationTests.text(object.value(forKey: attribute.name), attribute))")
                }
                for end in version.relationships(of: entity.name).sorted(by: { $0.name < $1.name }) {
                    let labels = object.labels(end)
                    words.append("\(end.name)=\((sorted.contains(end.name) ? labels.sorted() : labels).joined(separator: ","))")
                }
                return words.joined(separator: " ")
            }
        }.sorted()
    }
}

extension NSManagedObject {
    /// The object's entity and row.
    var label: String { "\(entity.name ?? "?")#\(key.rawValue & 0xFFFF_FFFF_FFFF)" }

    func labels(_ end: ModelVersion.Relationship) -> [String] {
        guard end.isToMany else { return (value(forKey: end.name) as? NSManagedObject).map { [$0.label] } ?? [] }
        guard end.isOrdered else { return (value(forKey: end.name) as? Set<NSManagedObject> ?? []).map(\.label).sorted() }
        return (value(forKey: end.name) as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.label } ?? []
    }
}
