import Foundation
import RecordLog

/// One object of a save, as a store reads it that writes values and no rows of a record log.
///
/// The store reads values and members, and gives back the key and the version that the object has once it is saved.
package struct SavedObject {
    fileprivate let object: NSManagedObject
    private let batch: SaveBatch
    private let schema: RecordLogSchema
    package let slotBase: UInt64

    fileprivate init(_ object: NSManagedObject, _ batch: SaveBatch, _ schema: RecordLogSchema, _ slotBase: UInt64) {
        (self.object, self.batch, self.schema, self.slotBase) = (object, batch, schema, slotBase)
    }

    /// The table of the object's entity.
    package func table() throws -> EntityTable { try schema.table(of: object.runtime, slotBase: slotBase) }

    /// Whether the store has to give the object a key. A save that is repeated after a conflict gives another one.
    package var needsKey: Bool { object.key.isTemporary }

    /// The object's permanent key; nil for a new object until the store gives one.
    package var key: ObjectKey? {
        guard object.key.isTemporary else { return object.key }
        return object.storage.flatMap { $0.permanentKey.isNone ? nil : $0.permanentKey }
    }

    /// The version that the object has read or saved last; 0 for an object that was not read. Another version in the store is a conflict.
    package var readVersion: UInt32 { object.rowVersion }

    /// Whether an updated object whose row is gone is written anew.
    package var isRevived: Bool { object.storage?.isRevived ?? false }

    /// Whether the object is new, so that no members of it are stored.
    package var isInserted: Bool { object.isInserted }

    /// Gives an inserted object its permanent key.
    package func give(_ key: ObjectKey) { object.storage?.permanentKey = key }

    /// Gives the version that the save writes; 0 if it writes no row.
    package func give(version: UInt32) { object.storage?.savedVersion = version }

    /// Returns a property's value as the store writes it: references have permanent keys, a transformable is data. It is `unset` where the
    /// object has not changed the property, and for a transformable that is equal to the stored one.
    /// - Parameter row: the stored row; nil for none.
    /// - Throws: 1550 where a value cannot be transformed; 133010 for a reference to an object that the store does not hold.
    package func value(_ property: Int, over row: UnsafeRowView?) throws -> ManagedValue {
        guard let values = object.storage?.values, property < values.count else { return .unset }
        switch values[property] {
        case .toMany: return .unset
        case .reference(let key): return key.isNone ? .null : .reference(try saved(key, property))
        case .object:
            let value = values[property], runtime = object.runtime
            if let row, let access = runtime.access(property, in: row),
                object.isSame(value, ManagedValue(row: row, access: access, kind: runtime.properties[property].kind, slotBase: slotBase), property)
            { return .unset }
            return try value.transformed(property, of: object.entity, object)
        default: return values[property]
        }
    }

    /// Whether the save changes the members of a to-many relationship.
    package func changesMembers(_ property: Int) -> Bool { changedMembers(property) != nil }

    /// Returns the members that a to-many relationship has after the save.
    /// - Parameter stored: the members that the store has, in its order.
    package func members(_ property: Int, over stored: [ObjectKey]) throws -> [ObjectKey] {
        guard let state = changedMembers(property) else { return stored }
        // Others may have added and removed members since this context read them.
        state.rebase(stored)
        return try (state.members ?? stored).map { try saved($0, property) }
    }

    private func changedMembers(_ property: Int) -> ToManyState? {
        guard let values = object.storage?.values, property < values.count, case .toMany(let state) = values[property] else { return nil }
        return state.isChanged ? state : nil
    }

    private func saved(_ key: ObjectKey, _ property: Int) throws -> ObjectKey {
        if key.isTemporary {
            if let permanent = batch.object(key)?.storage?.permanentKey, !permanent.isNone { return permanent }
        } else if schema.holds(key, slotBase: slotBase) {
            return key
        }
        throw CoreDataError.foreignDestination(of: object, property)
    }

    /// Error 133000: the object's row is gone.
    package func missing() -> NSError { CoreDataError.missingObject(object.objectID) }

    /// Error for a new object whose row is there already.
    package func present() -> NSError { CoreDataError.presentObject(object.objectID) }
}

extension SaveBatch {
    package enum Kind { case inserted, updated, deleted, checked }

    /// The objects of one kind, as a store with these tables reads them.
    package func objects(_ kind: Kind, _ schema: RecordLogSchema, slotBase: UInt64) -> [SavedObject] {
        let objects = switch kind {
        case .inserted: inserted
        case .updated: updated
        case .deleted: deleted
        case .checked: checked
        }
        return objects.map { SavedObject($0, self, schema, slotBase) }
    }
}

extension SaveBatch {
    /// Notes a row outside of the batch of which the store has changed derived attributes only.
    package func noteDerived(_ key: ObjectKey, from old: UInt32, to new: UInt32) { derived.append(Derived(key: key, from: old, to: new)) }

    /// Forgets what an attempt noted that was taken back.
    package func forgetDerived() { derived = [] }
}

extension VersionConflicts {
    /// - Parameter known: the coordinator's state of the store before the save; nil if the store keeps none.
    package init(_ objects: [SavedObject], known: (any StoreView)?) {
        self.init(objects: objects.map(\.object), known: known)
    }
}

extension ConstraintViolations {
    /// - Parameter list: the attributes of a constraint, the key of the stored row that has the values, the save's objects that claim them.
    package init(_ list: [(attributes: [String], holder: ObjectKey?, objects: [SavedObject])]) {
        self.init(list: list.map { Violation(attributes: $0.attributes, holder: $0.holder, objects: $0.objects.map(\.object)) })
    }
}
