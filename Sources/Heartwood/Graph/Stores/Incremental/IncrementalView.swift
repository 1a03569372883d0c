import Foundation
import RecordLog

/// The view that one context has of an incremental store: always the store's current state.
final class IncrementalView: StoreView {
    private let store: NSIncrementalStore
    private let schema: RecordLogSchema
    /// Unowned: the context owns its views.
    private unowned let context: NSManagedObjectContext
    private let rows = IncrementalRows()
    private let builder = RowBuilder()
    /// By object: the version under which this context's last save of it is kept, and the version that the save replaced; 0 for none.
    private var saves: [ObjectKey: (version: UInt32, base: UInt32)] = [:]

    init(_ store: NSIncrementalStore, _ schema: RecordLogSchema, _ context: NSManagedObjectContext) {
        self.store = store
        self.schema = schema
        self.context = context
    }

    var isNewest: Bool { store.isUsable }
    func keepRows(in memory: inout RowMemory) { memory.add(rows) }

    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView {
        rows.keep(UnsafeRawBufferPointer(start: row.body, count: row.byteCount), key, reference(key), version: row.version)
    }

    private func reference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- store.slotBase) }

    // MARK: Rows

    func row(_ key: ObjectKey) throws -> UnsafeRowView? {
        guard let table = store.table(of: key), let id = store.objectID(of: key) else { return nil }
        return try store.reading {
            do {
                return try row(of: try store.newValuesForObject(with: id, with: context), id, table)
            } catch {
                guard CoreDataError.isCode(NSManagedObjectReferentialIntegrityError, error) else { throw error }
                return nil
            }
        }
    }

    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        let ids = keys.compactMap(store.objectID)
        guard !ids.isEmpty else { return try keys.forEach { try body($0, nil) } }
        var found: [ObjectKey: UnsafeRowView] = [:]
        try store.reading {
            for node in try store.newValuesForObjects(with: ids, with: context) {
                let id = node.objectID
                guard let table = store.table(of: id.key) else { throw foreign(id) }
                found[id.key] = try row(of: node, id, table)
            }
        }
        for key in keys { try body(key, found[key]) }
    }

    /// The versions of the objects that exist; nil if the store tells no versions.
    func versions(_ keys: [ObjectKey]) throws -> [ObjectKey: UInt32]? {
        let ids = keys.compactMap(store.objectID)
        guard !ids.isEmpty, let versions = try store.reading({ try store.versions(ofObjectsWith: ids, with: context) }) else { return nil }
        return Dictionary(versions.map { ($0.key.key, Self.version($0.value)) }) { first, _ in first }
    }

    /// The version that a row has for a store's.
    private static func version(_ version: UInt64) -> UInt32 {
        let short = UInt32(truncatingIfNeeded: version)
        // 0 stands for an object that was not read.
        return short == 0 ? .max : short
    }

    private func foreign(_ id: NSManagedObjectID) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "newValuesForObjects(with:with:) of \(type(of: store)) gave a node of \(id.uriRepresentation().absoluteString), no object of this store.",
            [NSAffectedObjectsErrorKey: [id]])
    }

    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? { rows.row(key, reference(key), version: version) }

    private func row(of node: NSIncrementalStoreNode, _ id: NSManagedObjectID, _ table: EntityTable) throws -> UnsafeRowView {
        builder.begin(table.layout)
        for (index, position) in table.positions.enumerated() {
            guard let position else { continue }
            let property = table.runtime.properties[index], description = table.runtime.entity.propertiesByIndex[index]
            var value = node.value(for: description) ?? Self.element(description.name, of: node)
            if property.kind == .toOne {
                if value == nil, let relationship = description as? NSRelationshipDescription {
                    value = try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
                }
                if value == nil || value is NSNull { continue }
                guard let destination = value as? NSManagedObjectID, schema.holds(destination.key, slotBase: store.slotBase) else {
                    throw wrong(id, property, value, "no ID of an object of this store")
                }
                builder.set(position, reference: reference(destination.key))
            } else {
                guard let kept = ManagedValue(attributeObject: value, kind: property.kind) else {
                    throw wrong(id, property, value, "no \(property.kind.displayName)")
                }
                if case .data(let data) = kept, table.layout.columns[position].type == .value {
                    data.withUnsafeBytes { builder.set(position, value: LargeValue(inRow: $0)) }
                } else {
                    try kept.transformed(index, of: table.runtime.entity).encode(into: builder, at: position)
                }
            }
        }
        return rows.keep(builder.unsafeBody(), id.key, reference(id.key), version: Self.version(node.version))
    }

    /// Keeps the values that a save has written as a row with its own version.
    /// - Parameter row: the row stored before; nil for a new object.
    func keepSaved(_ object: NSManagedObject, _ table: EntityTable, over row: UnsafeRowView?, version: UInt32) throws {
        if let row { try builder.begin(table, revising: row) } else { builder.begin(table.layout) }
        for (index, value) in (object.storage?.values ?? []).enumerated() where !value.isUnset {
            guard let position = table.positions[index] else { continue }
            switch value {
            case .reference(let key):
                key.isNone ? builder.setNull(position) : builder.set(position, reference: reference(key))
            case .data(let data) where table.layout.columns[position].type == .value:
                data.withUnsafeBytes { builder.set(position, value: LargeValue(inRow: $0)) }
            default:
                try value.transformed(index, of: table.runtime.entity, object).encode(into: builder, at: position)
            }
        }
        _ = rows.keep(builder.unsafeBody(), object.key, reference(object.key), version: version)
        saves[object.key] = (version, row?.version ?? 0)
    }

    /// Whether a version is the one under which this context keeps its save of an object.
    func isSave(_ version: UInt32, of key: ObjectKey) -> Bool { saves[key]?.version == version }

    /// Whether a store may have given an object this version when this context saved it: the version that it had, or the next.
    func mayBeSaved(as version: UInt32, _ key: ObjectKey) -> Bool {
        guard let base = saves[key]?.base else { return false }
        return version == base || version == base &+ 1 || base == 0 && version == .max
    }

    /// A version for merge conflicts. A version of this context's own save becomes the one that a store would have given it.
    func shownVersion(_ version: UInt32, of key: ObjectKey) -> UInt32 {
        saves[key].map { $0.version == version ? $0.base &+ 1 : version } ?? version
    }

    /// An element of a composite attribute's dictionary in the node.
    private static func element(_ path: String, of node: NSIncrementalStoreNode) -> Any? {
        guard path.contains(".") else { return nil }
        var value: Any? = node.values
        for key in path.split(separator: ".") { value = (value as? [String: Any])?[String(key)] }
        return value
    }

    private func wrong(_ id: NSManagedObjectID, _ property: PropertyRuntime, _ value: Any?, _ what: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "The store gave \(value.map { "\($0)" } ?? "nil") for \(property.name) of "
                + "\(id.uriRepresentation().absoluteString), which is \(what).",
            [NSAffectedObjectsErrorKey: [id]])
    }

    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) -> Data? {
        LargeValue.bytes(inRow: row.bytes(access)).map { Data($0) }
    }

    // MARK: Relationships

    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] {
        guard let id = store.objectID(of: key),
            let relationship = runtime.entity.propertiesByIndex[property] as? NSRelationshipDescription
        else { return [] }
        let value = try store.reading { try store.newValue(forRelationship: relationship, forObjectWith: id, with: context) }
        return try members(in: value, of: id, runtime, property)
    }

    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        let ids = keys.compactMap(store.objectID)
        guard ids.count == keys.count, let relationship = runtime.entity.propertiesByIndex[property] as? NSRelationshipDescription else {
            return keys.map { _ in [] }
        }
        let values = try store.reading { try store.newValues(forRelationship: relationship, forObjectsWith: ids, with: context) }
        guard values.count == ids.count else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError,
                "newValues(forRelationship:forObjectsWith:with:) of \(type(of: store)) gave \(values.count) values for \(ids.count) objects.",
                [NSAffectedObjectsErrorKey: ids])
        }
        return try zip(ids, values).map { try members(in: $1, of: $0, runtime, property) }
    }

    private func members(in value: Any, of id: NSManagedObjectID, _ runtime: EntityRuntime, _ property: Int) throws -> [ObjectKey] {
        guard let keys = NSAtomicStoreCacheNode.keys(of: value), keys.allSatisfy({ schema.holds($0, slotBase: store.slotBase) }) else {
            throw wrong(id, runtime.properties[property], value, "no array of IDs of objects of this store")
        }
        return keys
    }

    func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int {
        try members(of: key, runtime: runtime, property: property).count
    }

    // MARK: Requests

    /// Executes a request in the store.
    /// - Returns: nil if the store does not support it.
    private func ask<Element>(
        _ query: StoreQuery, for type: NSFetchRequestResultType, _ element: (Any) -> Element?
    ) throws -> [Element]? {
        let request = query.request(for: type)
        let answer: Any
        do {
            answer = try store.reading { try store.execute(request, with: context) }
        } catch {
            // A store must support a request for all objects.
            let isForAll = query.condition == nil && query.sort.isEmpty && query.limit == nil && query.offset == 0
                && type != .countResultType && type != .dictionaryResultType
            guard CoreDataError.isCode(NSPersistentStoreUnsupportedRequestTypeError, error), !isForAll else { throw error }
            return nil
        }
        let list = answer as? [Any] ?? (answer as? NSArray).map { array in (0..<array.count).map { array[$0] } }
        guard let list else { throw unexpected(answer) }
        return try list.map { found in
            guard let element = element(found) else { throw unexpected(found) }
            return element
        }
    }

    private func unexpected(_ answer: Any) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "execute(_:with:) of \(type(of: store)) gave \(type(of: answer)), not an array of the results that the request's resultType names.")
    }

    var answersRequests: Bool { true }

    func keys(_ query: StoreQuery) throws -> [ObjectKey]? {
        let type = query.wantsIDs ? NSFetchRequestResultType.managedObjectIDResultType : .managedObjectResultType
        let schema = schema, slotBase = store.slotBase
        return try ask(query, for: type) { found in
            let key = (found as? NSManagedObject)?.key ?? (found as? NSManagedObjectID)?.key
            return key.flatMap { schema.holds($0, slotBase: slotBase) ? $0 : nil }
        }
    }

    func counted(_ query: StoreQuery) throws -> QueryStatistics? {
        guard let counts = try ask(query.unordered, for: .countResultType, { ($0 as? NSNumber)?.intValue ?? $0 as? Int }) else { return nil }
        var statistics = QueryStatistics()
        statistics.rowsMatched = counts.reduce(0, +)
        return statistics
    }

    func dictionaries(_ query: StoreQuery) throws -> [NSDictionary]? {
        try ask(query, for: .dictionaryResultType) { found in
            if let dictionary = found as? NSDictionary { return dictionary }
            guard let dictionary = found as? [String: Any] else { return nil }
            let result = NSMutableDictionary()
            for (key, value) in dictionary { result.setObject(value, forKey: NSString(string: key)) }
            return result
        }
    }
}
