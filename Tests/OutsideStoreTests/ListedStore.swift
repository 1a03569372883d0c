import Foundation
import Heartwood
import RecordLog
import Synchronization

/// Rows from somewhere else: lists in this process, by URL. The store shows them, and writes none.
///
/// It lives outside of Heartwood, and gets nothing but the seam of stores.
final class ListedStore: NSPersistentStore, GraphStore, FileStore, @unchecked Sendable {
    // Unchecked: `schema` and `source` are set while the store is loaded.

    enum Value {
        case text(String), number(Int64)
        /// The place of an object in its entity's list, from 1.
        case object(String, Int)
    }

    /// The rows of each entity, by the names of their properties.
    final class Source: Sendable {
        private let lists = Mutex<[String: [[String: Value]?]]>([:])

        subscript(entity: String) -> [[String: Value]?] {
            get { lists.withLock { $0[entity] ?? [] } }
            set { lists.withLock { $0[entity] = newValue } }
        }

        func row(_ entity: String, _ number: UInt64) -> [String: Value]? {
            let list = self[entity]
            return number > 0 && number <= UInt64(list.count) ? list[Int(number - 1)] : nil
        }
    }

    static let storeType = "Listed"
    private static let sources = Mutex<[URL: Source]>([:])

    static func put(_ source: Source, at url: URL) { sources.withLock { $0[url] = source } }

    private(set) var schema: RecordLogSchema?
    private(set) var source: Source?

    override var type: String { Self.storeType }

    // MARK: The seam

    static var isOneFile: Bool { false }

    var slotCount: Int { schema?.tables.count ?? 0 }

    func load(model: NSManagedObjectModel, firstSlot: UInt16) throws -> [EntityRuntime] {
        guard let url, let source = Self.sources.withLock({ $0[url] }) else { throw CocoaError(.fileReadNoSuchFile) }
        slotBase = UInt64(firstSlot) << 48
        completeMetadata(model, newIdentifier: "listed-\(url.lastPathComponent)")
        let entities = model.entities(forConfigurationName: configuration) ?? model.entities
        let schema = try RecordLogSchema.drafted(entities, for: self, firstSlot: firstSlot, path: url.path)
        (self.schema, self.source) = (schema, source)
        return schema.tables.compactMap { $0?.runtime }
    }

    func unload() throws { source = nil }

    func newestView() throws -> any StoreView {
        guard let schema, let source else { throw CocoaError(.fileReadNoSuchFile) }
        return ListedView(self, schema, source)
    }

    func checkWritable() throws { throw CocoaError(.fileWriteNoPermission) }

    func save(_ batch: SaveBatch) throws { throw CocoaError(.fileWriteNoPermission) }
}

/// The lists as they are now.
final class ListedView: StoreView {
    private let store: ListedStore
    private let schema: RecordLogSchema
    private let source: ListedStore.Source
    private let kept = IncrementalRows()
    private let builder = RowBuilder()

    init(_ store: ListedStore, _ schema: RecordLogSchema, _ source: ListedStore.Source) {
        (self.store, self.schema, self.source) = (store, schema, source)
    }

    var isNewest: Bool { store.source != nil }

    func keepRows(in memory: inout RowMemory) { memory.add(kept) }

    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView {
        kept.keep(UnsafeRawBufferPointer(start: row.body, count: row.byteCount), key, reference(key), version: row.version)
    }

    private func reference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- store.slotBase) }

    func row(_ key: ObjectKey) throws -> UnsafeRowView? {
        guard let table = schema.table(of: key, slotBase: store.slotBase),
            let values = source.row(table.runtime.entity.name ?? "", key.row)
        else { return nil }
        builder.begin(table.layout)
        for (name, value) in values {
            guard let position = table.position(ofProperty: name) else { continue }
            switch value {
            case .text(let text): builder.set(position, text: text)
            case .number(let number): builder.set(position, int64: number)
            case .object(let entity, let number):
                guard let target = schema.tables.lazy.compactMap({ $0 }).first(where: { $0.runtime.entity.name == entity }) else { continue }
                builder.set(position, reference: RowReference(table: target.id, row: UInt64(number)))
            }
        }
        return kept.keep(builder.unsafeBody(), key, reference(key), version: 1)
    }

    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? { kept.row(key, reference(key), version: version) }

    /// The objects that refer to this one.
    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] {
        guard let inverse = (runtime.entity.property(at: property) as? NSRelationshipDescription)?.inverseRelationship else { return [] }
        return keys(of: schema.tables.compactMap { $0?.runtime }.filter { $0.entity.name == inverse.entity.name }).filter { other in
            guard case .object(let entity, let number)? = source.row(inverse.entity.name ?? "", other.row)?[inverse.name] else { return false }
            return entity == runtime.entity.name && UInt64(number) == key.row
        }
    }

    private func keys(of runtimes: [EntityRuntime]) -> [ObjectKey] {
        runtimes.flatMap { runtime in
            source[runtime.entity.name ?? ""].indices.filter { source[runtime.entity.name ?? ""][$0] != nil }
                .map { ObjectKey(slot: runtime.slot, row: UInt64($0 + 1)) }
        }
    }

    /// All rows of some entities. Every other query is the stack's to answer.
    func execute(_ query: StoreQuery, _ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics? {
        guard query.isForAll else { return nil }
        var statistics = QueryStatistics()
        for key in keys(of: query.runtimes) {
            guard let row = try row(key) else { continue }
            statistics.rowsVisited += 1
            statistics.rowsMatched += 1
            guard try body(row) else { break }
        }
        return statistics
    }
}
