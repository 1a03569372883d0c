import Foundation
import RecordLog

/// One of the two states of a comparison: a view of a store, and the names of its objects.
struct ComparedState {
    let store: RecordLogStore
    let view: RecordLogView
    let model: NSManagedObjectModel

    var snapshot: Snapshot { view.snapshot }
    var tables: [EntityTable] { view.schema.tables.compactMap(\.self) }

    /// - Throws: 134091 for a store that is no record log.
    init(_ store: NSPersistentStore) throws {
        guard let log = store.ownLog, let model = store.persistentStoreCoordinator?.managedObjectModel
        else { throw CoreDataError.unsupported("Only record logs are compared; \(store.url?.path ?? "the store") is none.") }
        self.store = log
        view = try log.newestLogView()
        self.model = model
    }

    /// The URI of an object; nil if its entity is unknown.
    func uri(_ reference: RowReference) -> String? {
        guard !reference.isNone, let table = view.schema.table(reference.table) else { return nil }
        return NSManagedObjectID(entity: table.runtime.entity, key: view.key(reference), store: store, contextToken: 0)
            .uriRepresentation().absoluteString
    }

    /// The value of an attribute or a to-one relationship, as the row has it.
    func value(_ property: Int, of row: UnsafeRowView, _ table: EntityTable) throws -> ManagedValue {
        guard let access = table.runtime.access(property, in: row) else { return .null }
        let kind = table.runtime.properties[property].kind
        if kind == .externalData { return try snapshot.value(access, of: row).map { .data(try Data($0)) } ?? .null }
        return ManagedValue(row: row, access: access, kind: kind, slotBase: 0)
    }

    /// The members of a to-many relationship, in its order.
    func members(_ property: Int, of owner: RowReference, _ table: EntityTable) throws -> [RowReference] {
        guard let source = table.members[property] else { return [] }
        var members: [RowReference] = []
        try snapshot.forEachMember(of: owner, in: source) { member in
            members.append(member)
            return true
        }
        return members
    }
}
