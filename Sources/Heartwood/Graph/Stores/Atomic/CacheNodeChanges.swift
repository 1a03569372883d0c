import Foundation
import RecordLog

/// The changes that one save makes to the nodes of an atomic store. They can be undone.
struct CacheNodeChanges {
    private let store: NSAtomicStore
    /// The former nodes of all IDs that this has touched, with their values.
    private var before: [(key: ObjectKey, node: NSAtomicStoreCacheNode?, values: NSMutableDictionary?)] = []

    init(_ store: NSAtomicStore) {
        self.store = store
    }

    mutating func make(_ batch: SaveBatch) throws {
        var new: [(object: NSManagedObject, node: NSAtomicStoreCacheNode)] = []
        // An object whose deletion was saved and undone has no node any more.
        let revived = batch.updated.filter { store.node($0.key) == nil }
        for object in batch.inserted + revived {
            let node = store.newCacheNode(for: object)
            guard node.objectID.key == object.key else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "newCacheNode(for:) made a node of \(node.objectID) for \(object.objectID).",
                    [NSAffectedObjectsErrorKey: [object]])
            }
            note(object.key)
            store.replaceNode(object.key, with: node)
            new.append((object, node))
        }
        for (object, node) in new { store.setRelationships(of: node, from: object, onlyMissing: true) }
        let revivedKeys = Set(revived.map(\.key))
        for object in batch.updated where !revivedKeys.contains(object.key) {
            guard let node = store.node(object.key) else { continue }
            note(object.key)
            store.updateCacheNode(node, from: object)
        }
        let gone = batch.deleted.compactMap { store.node($0.key) }
        if !gone.isEmpty { store.willRemoveCacheNodes(Set(gone)) }
        for object in batch.deleted {
            note(object.key)
            store.replaceNode(object.key, with: nil)
        }
    }

    /// Sets the values that the save's transaction has derived. `make` has noted the batch's own nodes.
    mutating func derive(_ batch: SaveBatch, _ transaction: Transaction) throws {
        guard let schema = store.schema, schema.derivations != nil else { return }
        for row in batch.derived { note(row.key) }
        for key in (batch.inserted + batch.updated).map(\.key) + batch.derived.map(\.key) {
            let reference = RowReference(rawValue: key.rawValue &- store.slotBase)
            guard let table = schema.table(reference.table), let derivations = table.derivations, let node = store.node(key),
                let row = try transaction.unsafeRow(reference)
            else { continue }
            for derivation in derivations {
                let value = table.value(derivation.property, derivation.kind, in: row)
                node.setValue(value.attributeObject(kind: derivation.kind), forKey: derivation.attribute.name)
            }
        }
    }

    private mutating func note(_ key: ObjectKey) {
        let node = store.node(key)
        before.append((key, node, node?.propertyCache?.mutableCopy() as? NSMutableDictionary))
    }

    func takeBack() {
        for (key, node, values) in before.reversed() {
            store.replaceNode(key, with: node)
            if let values { node?.propertyCache = values }
        }
    }
}

extension NSAtomicStore {
    /// Sets the attributes that an object has changed; all attributes if it is new.
    final func setAttributes(of node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
        for (index, property) in object.runtime.properties.enumerated() where property.hasColumn && property.kind != .toOne {
            guard let value = object.storage?.values.element(at: index), !value.isUnset else { continue }
            let kept = AttributeCoding.object(value, property: object.entity.propertiesByIndex[index], kind: property.kind)
            node.setValue(kept, forKey: property.name)
        }
    }

    /// Sets the relationships that an object has changed.
    final func setRelationships(of node: NSAtomicStoreCacheNode, from object: NSManagedObject, onlyMissing: Bool) {
        for (index, property) in object.runtime.properties.enumerated() where property.kind.isRelationship && !property.isTransient {
            guard let value = object.storage?.values.element(at: index) else { continue }
            if onlyMissing, node.value(forKey: property.name) != nil { continue }
            switch value {
            case .reference(let key) where !key.isNone: node.setValue(self.node(key) ?? NSNull(), forKey: property.name)
            case .null, .reference: node.setValue(NSNull(), forKey: property.name)
            case .toMany(let state) where state.isChanged:
                let nodes = members(state, in: node, property).compactMap { self.node($0) }
                node.setValue(property.isOrdered ? NSOrderedSet(array: nodes) : Set(nodes), forKey: property.name)
            default: break
            }
        }
    }

    /// The members after a save: the node's members with this object's changes applied, or the members in the order that the object gives them.
    private func members(_ state: ToManyState, in node: NSAtomicStoreCacheNode, _ property: PropertyRuntime) -> [ObjectKey] {
        if state.order != nil, let members = state.members { return members }
        var result = (NSAtomicStoreCacheNode.keys(of: node.value(forKey: property.name)) ?? []).filter { !state.removed.contains($0) }
        let known = Set(result)
        result += state.added.filter { !known.contains($0) }
        return result
    }
}

extension Array {
    /// nil outside the array.
    fileprivate func element(at index: Int) -> Element? { index < count ? self[index] : nil }
}
