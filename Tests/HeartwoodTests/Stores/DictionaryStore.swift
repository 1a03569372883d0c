import Foundation
import Heartwood

/// Objects in dictionaries, simulating a service that answers one question at a time.
class DictionaryStore: NSIncrementalStore, @unchecked Sendable {
    struct Record {
        var version: UInt64 = 0
        /// Attributes, and the IDs of to-one destinations.
        var values: [String: Any] = [:]
        /// The IDs of to-many destinations.
        var members: [String: [NSManagedObjectID]] = [:]
    }

    private var records: [NSManagedObjectID: Record] = [:]
    private var order: [NSManagedObjectID] = []
    /// The owners, by destination and by the to-one relationship that leads there.
    private var sources: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]

    override var type: String { "Dictionary" }

    func version(of id: NSManagedObjectID) -> UInt64? { records[id]?.version }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: type]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request {
        case let changes as NSSaveChangesRequest:
            save(changes)
            return []
        case let fetch as NSFetchRequest<any NSFetchRequestResult>:
            let found = try objects(fetch)
            if fetch.resultType == .countResultType { return [found.count] }
            guard let context, fetch.resultType == .managedObjectResultType else { return found }
            return found.map { context.object(with: $0) }
        default: throw CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
        }
    }

    /// All objects of an entity, or those with one text; the stack does the rest.
    private func objects(_ fetch: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSManagedObjectID] {
        let unknown = CocoaError(CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError))
        guard let entity = fetch.entity, fetch.sortDescriptors == nil, fetch.fetchLimit == 0, fetch.fetchOffset == 0,
            fetch.resultType != .dictionaryResultType
        else { throw unknown }
        let all = order.filter { fetch.includesSubentities ? $0.entity.isKindOf(entity: entity) : $0.entity === entity }
        guard let predicate = fetch.predicate else { return all }
        guard let comparison = predicate as? NSComparisonPredicate, comparison.predicateOperatorType == .equalTo,
            comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty,
            comparison.leftExpression.expressionType == .keyPath, comparison.rightExpression.expressionType == .constantValue,
            let text = comparison.rightExpression.constantValue as? String,
            let attribute = entity.attributesByName[comparison.leftExpression.keyPath], attribute.attributeType == .stringAttributeType,
            !attribute.isTransient
        else { throw unknown }
        return all.filter { (records[$0]?.values[attribute.name] as? String)?.utf8.elementsEqual(text.utf8) ?? false }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        guard let record = records[objectID] else { throw CocoaError(.managedObjectReferentialIntegrity) }
        var values = record.values
        // Null values are included, so that they are not requested again.
        for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
            values[name] = values[name] ?? NSNull()
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: record.version)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        guard relationship.isToMany else { return records[objectID]?.values[relationship.name] ?? NSNull() }
        let listed = records[objectID]?.members[relationship.name] ?? []
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return listed }
        // The to-one side determines the members, the list their order.
        let members = sources[objectID]?[inverse.name] ?? []
        guard relationship.isOrdered else { return members }
        let kept = listed.filter(Set(members).contains)
        return kept + members.filter { !kept.contains($0) }
    }

    // MARK: Saving

    private func save(_ changes: NSSaveChangesRequest) {
        for object in changes.insertedObjects ?? [] { order.append(object.objectID) }
        for object in (changes.insertedObjects ?? []).union(changes.updatedObjects ?? []) { write(object) }
        let gone = Set((changes.deletedObjects ?? []).map(\.objectID))
        guard !gone.isEmpty else { return }
        order.removeAll { gone.contains($0) }
        for id in gone {
            point(id, from: records[id]?.values ?? [:], to: [:])
            records[id] = nil
        }
        for id in order {
            for (name, members) in records[id]?.members ?? [:] where !gone.isDisjoint(with: members) {
                records[id]?.members[name] = members.filter { !gone.contains($0) }
            }
        }
    }

    private func write(_ object: NSManagedObject) {
        var record = records[object.objectID] ?? Record()
        var values: [String: Any] = [:]
        for (name, attribute) in object.entity.attributesByName where !attribute.isTransient { values[name] = object.value(forKey: name) }
        for (name, relationship) in object.entity.relationshipsByName where !relationship.isTransient {
            switch object.value(forKey: name) {
            case let list as NSOrderedSet: record.members[name] = list.array.compactMap { ($0 as? NSManagedObject)?.objectID }
            case let set as NSSet: record.members[name] = set.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }
            case let one: values[name] = (one as? NSManagedObject)?.objectID
            }
        }
        if record.version == 0 || !NSDictionary(dictionary: values).isEqual(NSDictionary(dictionary: record.values)) { record.version += 1 }
        point(object.objectID, from: record.values, to: values)
        record.values = values
        records[object.objectID] = record
    }

    private func point(_ id: NSManagedObjectID, from old: [String: Any], to new: [String: Any]) {
        for name in id.entity.relationshipsByName.keys {
            let before = old[name] as? NSManagedObjectID, after = new[name] as? NSManagedObjectID
            guard before != after else { continue }
            if let before { sources[before]?[name]?.removeAll { $0 == id } }
            if let after { sources[after, default: [:]][name, default: []].append(id) }
        }
    }
}
