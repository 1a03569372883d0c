import Foundation
import Heartwood

/// Lets contexts work over a program's `DataStore`: an incremental store that asks it by snapshots.
///
/// 1. The coordinator calls an incremental store one thread at a time, so nothing here is locked.
/// 2. A row stays here while a context has its object, and those of the last answer until the next one. Saves of this program renew them.
/// 3. An object that a save inserts has a provisional name. The store chooses the lasting one, and the object's ID gets that before the save ends.
final class DataStoreAdapter: NSIncrementalStore, HistoryStoring, @unchecked Sendable {
    // Unchecked, as its superclass; see (1).

    static let storeType = "HeartwoodSwiftData.DataStore"
    static let linkKey = "HeartwoodSwiftData.DataStoreLink"

    /// Hands a program's store over in the options of an incremental store.
    final class Box: NSObject {
        let link: any DataStoreLinking
        let mapped: MappedModel

        init(_ link: any DataStoreLinking, _ mapped: MappedModel) {
            self.link = link
            self.mapped = mapped
        }
    }

    /// nil where a program added the store by its type, without a `DataStore`.
    private(set) var box: Box?
    private(set) var rows = SnapshotCache()
    /// For requests of no model context, such as the search for unique values.
    private let ownState = EditingState()
    /// Objects that the store gave other values in a save, until the context asks.
    private var reregistered: [NSManagedObjectID] = []
    /// Entities whose models the store does not find by identifier.
    private var unsearchable: Set<String> = []

    override var type: String { Self.storeType }
    var historyProvider: (any HistoryProviding)? { box?.link.store as? any HistoryProviding }

    override func loadMetadata() throws {
        guard let box = options?[Self.linkKey] as? Box else {
            throw SwiftDataError.loadIssueModelContainer.because("A store of the type \(Self.storeType) is opened by a ModelContainer alone.")
        }
        self.box = box
        SnapshotClasses.publish(box.mapped, forStore: box.link.identifier)
        metadata = [NSStoreUUIDKey: box.link.identifier, NSStoreTypeKey: type]
    }

    /// The store, its classes and the state of the context that asks.
    private func parties(_ context: NSManagedObjectContext?) throws -> (link: any DataStoreLinking, mapped: MappedModel, state: EditingState) {
        guard let box else { throw SwiftDataError.loadIssueModelContainer }
        guard let owner = (context as? ModelObjectContext)?.owner else { return (box.link, box.mapped, ownState) }
        return (box.link, box.mapped, owner.editingState)
    }

    // MARK: Identifiers

    /// The ID of an identifier that the store has given.
    /// - Throws: `SwiftDataError.unknownDataStoreSchema` for an entity that the schema lacks, `DecodingError` for another store's identifier or a
    ///   temporary one.
    func objectID(
        of identifier: PersistentIdentifier, inserted: [PersistentIdentifier: NSManagedObjectID] = [:]
    ) throws -> NSManagedObjectID {
        if let known = inserted[identifier] { return known }
        if case .object(let id) = identifier.id.form, id.persistentStore === self { return id }
        guard let uri = identifier.uri, let parts = NSManagedObjectID.parts(of: uri), parts.store == self.identifier else {
            throw DecodingError.ofIdentifier("\(identifier) identifies no saved model of the store \(self.identifier ?? "").")
        }
        guard let mapped = box?.mapped, mapped.type(named: parts.entity) != nil, let entity = mapped.model.entitiesByName[parts.entity] else {
            throw SwiftDataError.unknownDataStoreSchema.because(
                "The store \(self.identifier ?? "") gave \(identifier), and the schema has no such class.")
        }
        return newObjectID(for: entity, referenceObject: String(parts.object.dropFirst()))
    }

    private func snapshotRows(_ mapped: MappedModel, _ inserted: [PersistentIdentifier: NSManagedObjectID] = [:]) -> SnapshotRows {
        SnapshotRows(mapped: mapped, storeIdentifier: identifier ?? "") { [unowned self] in try objectID(of: $0, inserted: inserted) }
    }

    // MARK: Fetching

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request {
        case let changes as NSSaveChangesRequest:
            try save(changes, context)
            return []
        case let fetch as NSFetchRequest<any NSFetchRequestResult>: return try find(fetch, context)
        default: throw Self.unsupported
        }
    }

    /// Makes the stack ask for all models and do the rest itself.
    private static var unsupported: CocoaError { CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)) }

    private func find(_ fetch: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext?) throws -> [Any] {
        let (link, mapped, state) = try parties(context)
        guard let entity = fetch.entity, let type = mapped.type(named: entity.name ?? "")?.type, fetch.resultType != .dictionaryResultType,
            fetch.textSearch == nil
        else {
            throw Self.unsupported
        }
        let origin = fetch.origin as? any TranslatedDescriptor
        let hasPredicate = fetch.predicate != nil, hasOrder = fetch.sortDescriptors?.isEmpty == false
        let isPart = hasPredicate || hasOrder || fetch.fetchLimit > 0 || fetch.fetchOffset > 0 || fetch.resultType == .countResultType
        let excludes = !fetch.includesSubentities && !entity.subentities.isEmpty
        guard !isPart || !excludes, !hasPredicate && !hasOrder || origin?.serves(fetch.predicate, type) == true else { throw Self.unsupported }
        let terms = DataStoreTerms(
            origin: origin, hasPredicate: hasPredicate, hasOrder: hasOrder, limit: fetch.fetchLimit > 0 ? fetch.fetchLimit : nil,
            offset: fetch.fetchOffset > 0 ? fetch.fetchOffset : nil, editingState: state)
        do {
            switch fetch.resultType {
            case .countResultType: return [NSNumber(value: try link.count(type, terms))]
            case .managedObjectIDResultType:
                return try link.identifiers(type, terms).map { try checked(objectID(of: $0), entity) }.filter { !excludes || $0.entity === entity }
            default:
                let ids = try take(in: link.fetch(type, terms), mapped, entity).filter { !excludes || $0.entity === entity }
                return context.map { context in ids.map { context.object(with: $0) } } ?? ids
            }
        } catch let error as DataStoreError where error == .preferInMemoryFilter || error == .preferInMemorySort {
            guard isPart else { throw error }
            throw Self.unsupported
        }
    }

    private func checked(_ id: NSManagedObjectID, _ entity: NSEntityDescription) throws -> NSManagedObjectID {
        guard id.entity.isKindOf(entity: entity) else {
            throw DecodingError.ofIdentifier("The store \(identifier ?? "") gave \(PersistentIdentifier(id)) for a fetch of \(entity.name ?? "").")
        }
        return id
    }

    /// Keeps the rows of an answer.
    private func take(
        in answer: (found: [SnapshotParts], related: [SnapshotParts]), _ mapped: MappedModel, _ entity: NSEntityDescription
    ) throws -> [NSManagedObjectID] {
        let maker = snapshotRows(mapped)
        var list: [(NSManagedObjectID, SnapshotRow)] = []
        for parts in answer.found {
            let id = try checked(objectID(of: parts.identifier), entity)
            list.append((id, try maker.row(parts, id.entity)))
        }
        let found = list.map(\.0)
        for parts in answer.related {
            let id = try objectID(of: parts.identifier)
            list.append((id, try maker.row(parts, id.entity)))
        }
        rows.takeAnswer(list)
        return found
    }

    // MARK: Rows

    override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        guard let node = try newValuesForObjects(with: [objectID], with: context).first else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return node
    }

    override func newValuesForObjects(with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext) throws -> [NSIncrementalStoreNode] {
        try read(objectIDs.filter { rows[$0] == nil }, context)
        return objectIDs.compactMap { id in
            rows[id].map { NSIncrementalStoreNode(objectID: id, withValues: $0.values, version: $0.version) }
        }
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
    ) throws -> Any {
        if rows[objectID] == nil { try read([objectID], context) }
        guard let row = rows[objectID] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        return relationship.isToMany ? row.members[relationship.name] ?? [] : row.values[relationship.name] ?? NSNull()
    }

    /// Reads models by their identifiers: from what the store has at hand, by a predicate, or among all of the class.
    private func read(_ ids: [NSManagedObjectID], _ context: NSManagedObjectContext?) throws {
        guard !ids.isEmpty else { return }
        let (link, mapped, state) = try parties(context)
        let maker = snapshotRows(mapped)
        for parts in try link.cached(ids.map { PersistentIdentifier($0) }, state) {
            let id = try objectID(of: parts.identifier)
            if ids.contains(id) { rows.add(id, try maker.row(parts, id.entity)) }
        }
        let byName = Dictionary(grouping: ids.filter { rows[$0] == nil }) { $0.entity.name ?? "" }
        for (name, missing) in byName {
            guard let entity = missing.first?.entity, let type = mapped.type(named: name)?.type else { continue }
            var terms = DataStoreTerms(editingState: state)
            if !unsearchable.contains(name) {
                terms.identifiers = missing.map { PersistentIdentifier($0) }
                do {
                    _ = try take(in: link.fetch(type, terms), mapped, entity)
                    continue
                } catch DataStoreError.preferInMemoryFilter {
                    unsearchable.insert(name)
                }
            }
            terms.identifiers = nil
            _ = try take(in: link.fetch(type, terms), mapped, entity)
        }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) { rows.hold(objectIDs) }
    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) { rows.letGo(objectIDs) }

    // MARK: Saving

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { newObjectID(for: $0.entity, referenceObject: "unsaved-\(UUID().uuidString)") }
    }

    private func save(_ request: NSSaveChangesRequest, _ context: NSManagedObjectContext?) throws {
        let inserted = models(request.insertedObjects), updated = models(request.updatedObjects), deleted = models(request.deletedObjects)
        guard !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty else { return }
        let (link, mapped, state) = try parties(context)
        for object in inserted { object.beginInsertion() }
        defer { for object in inserted { object.insertedIdentity = nil } }
        var changes = DataStoreChanges(editingState: state)
        changes.inserted = inserted.compactMap { Self.data(of: $0, mapped) }
        changes.updated = updated.compactMap { Self.data(of: $0, mapped) }
        changes.deleted = deleted.compactMap { Self.data(of: $0, mapped) }
        for (object, data) in zip(inserted + updated, changes.inserted + changes.updated) { changes.related[object.snapshotIdentifier] = data }
        let outcome = try link.save(changes)
        var permanent: [PersistentIdentifier: NSManagedObjectID] = [:]
        // All are checked before the first is renamed.
        let names = try inserted.map { try name(of: $0, outcome.remapped) }
        for (object, name) in zip(inserted, names) {
            replaceReferenceObject(of: object.objectID, with: name)
            permanent[object.snapshotIdentifier] = newObjectID(for: object.entity, referenceObject: name)
        }
        for (old, new) in outcome.remapped where permanent[old] == nil {
            let id = try objectID(of: old)
            replaceReferenceObject(of: id, with: try reference(of: new, id.entity))
        }
        take(in: outcome, snapshotRows(mapped, permanent), of: inserted + updated, permanent)
        rows.remove(deleted.map(\.objectID))
    }

    private func models(_ objects: Set<NSManagedObject>?) -> [ModelObject] {
        // A store that numbers new models numbers them as they were made.
        (objects ?? []).compactMap { $0 as? ModelObject }.sorted { $0.objectID.key.rawValue < $1.objectID.key.rawValue }
    }

    private static func data(of object: ModelObject, _ mapped: MappedModel) -> (any BackingData)? {
        func made<M: PersistentModel>(_ type: M.Type) -> any BackingData {
            (object.managedObjectContext as? ModelObjectContext)?.backingData(of: object, type) ?? DefaultBackingData<M>()
        }
        return mapped.entity(object.entity).type.map { made($0.type) }
    }

    /// The name that the store has chosen for an object.
    private func name(of object: ModelObject, _ remapped: [PersistentIdentifier: PersistentIdentifier]) throws -> String {
        guard let lasting = remapped[object.snapshotIdentifier] else {
            throw SwiftDataError.unknownDataStoreSchema.because(
                "The store \(identifier ?? "") saved a new \(object.entity.name ?? "") and gave no identifier for it. Add it to remappedIdentifiers.")
        }
        return try reference(of: lasting, object.entity)
    }

    private func reference(of identifier: PersistentIdentifier, _ entity: NSEntityDescription) throws -> String {
        guard let parts = identifier.uri.flatMap(NSManagedObjectID.parts), parts.store == self.identifier, parts.entity == entity.name else {
            throw DecodingError.ofIdentifier(
                "The store \(self.identifier ?? "") gave \(identifier) to a \(entity.name ?? "") that it saved: an identifier of another store or "
                    + "class, or a temporary one.")
        }
        return String(parts.object.dropFirst())
    }

    /// Keeps what was saved as the objects' rows. A snapshot that cannot be read is no row: its model is read from the store when it is used.
    private func take(
        in outcome: DataStoreOutcome, _ maker: SnapshotRows, of objects: [ModelObject], _ permanent: [PersistentIdentifier: NSManagedObjectID]
    ) {
        for (object, written) in zip(objects, outcome.written) {
            let id = permanent[object.snapshotIdentifier] ?? object.objectID
            rows.remove([id])
            if let row = try? maker.row(written.get(), object.entity) { rows.add(id, row) }
        }
        for parts in outcome.reregistered {
            guard let id = try? objectID(of: parts.identifier, inserted: permanent), let row = try? maker.row(parts, id.entity) else { continue }
            rows.add(id, row)
            reregistered.append(id)
        }
    }

    /// Deletes what a request chooses, and forgets the rows.
    func deleteAtOnce<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>, _ ids: Set<NSManagedObjectID>) throws {
        try inTurn {
            try box?.link.delete(request)
            rows.remove(Array(ids))
        }
    }

    /// The objects that the store has changed in saves since the last call.
    func takeReregistered() -> [NSManagedObjectID] {
        inTurn {
            defer { reregistered = [] }
            return reregistered
        }
    }
}

extension ModelObject {
    /// The store sees the identity that the program was told, or else a new temporary one.
    fileprivate func beginInsertion() {
        let model = model as? any PersistentModel
        insertedIdentity = model?.rootStorage?.identity ?? PersistentIdentifier(unsaved: mapped.type?.type ?? AbsentModel.self)
        guard let root = model?.rootStorage, root.identity == nil else { return }
        root.identity = insertedIdentity
        home?.hasUnsavedIdentities = true
    }
}
