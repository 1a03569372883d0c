import Foundation
import Heartwood
import RecordLog

/// A context's view of an SQLite store: always the newest commit of the file.
///
/// Rows are copied out of the file before anyone sees them, and live as long as the context may need them.
final class SQLiteView: StoreView {
    private let store: SQLiteStore
    let source: SQLiteSource
    let schema: RecordLogSchema
    let slotBase: UInt64
    private let kept = IncrementalRows()

    init(_ store: SQLiteStore, _ source: SQLiteSource, _ schema: RecordLogSchema) {
        self.store = store
        self.source = source
        self.schema = schema
        slotBase = store.slotBase
    }

    var isNewest: Bool { store.isUsable }
    func keepRows(in memory: inout RowMemory) { memory.add(kept) }
    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView { keep(row) }

    func reference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- slotBase) }
    func key(_ reference: RowReference) -> ObjectKey { ObjectKey(rawValue: reference.rawValue &+ slotBase) }

    /// Copies a row out of the buffer in which it was made.
    func keep(_ row: UnsafeRowView) -> UnsafeRowView {
        kept.keep(UnsafeRawBufferPointer(start: row.body, count: row.byteCount), key(row.reference), row.reference, version: row.version)
    }

    // MARK: Rows

    func row(_ key: ObjectKey) throws -> UnsafeRowView? {
        var found: UnsafeRowView?
        try source.read { reader in
            found = nil
            try reader.find(reference(key)) { found = keep($0) }
        }
        return found
    }

    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? { kept.row(key, reference(key), version: version) }

    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        let found = try source.read { reader in
            try keys.map { key in
                var row: UnsafeRowView?
                try reader.find(reference(key)) { row = keep($0) }
                return row
            }
        }
        for (key, row) in zip(keys, found) { try body(key, row) }
    }

    /// External data: the column's own bytes, or those of the file that it names.
    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) throws -> Data? {
        guard let stored = LargeValue.bytes(inRow: row.bytes(access)) else { return nil }
        switch ExternalValue(stored) {
        case .inline(let bytes)?: return Data(bytes)
        case .file(let name)?:
            if let missing = source.missingFiles, !ExternalValue.isThere(name, of: source.path) {
                missing.note(name, of: source.path)
                return nil
            }
            return try ExternalValue.read(name, of: source.path)
        case nil:
            let id = "row \(row.reference.row)"
            throw CoreDataFileError.make(
                NSSQLiteError, source.path, "\(id) has external data without the tag that says where it is",
                "Check the store with the program that wrote it.")
        }
    }

    // MARK: Relationships

    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] {
        try source.read { try $0.members(of: reference(key), property: property).map(self.key) }
    }

    func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int {
        try source.read { try $0.members(of: reference(key), property: property).count }
    }

    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        try source.read { reader in
            try keys.map { try reader.members(of: reference($0), property: property).map(key) }
        }
    }

    // MARK: Queries

    /// Columns of the rows themselves. A path leads to rows that would have to be found one by one, so objects are asked for it.
    func valueReader(_ table: ValueTable, _ runtimes: [EntityRuntime]) throws -> ValueBatchReader? {
        ValueBatchReader(table, try runtimes.map { try schema.table(of: $0, slotBase: slotBase) }, nil, slotBase: slotBase)
    }

    func compiled(_ query: StoreQuery) throws -> CompiledQuery? {
        guard let run = try SQLiteQuery(query, self) else { return nil }
        return { body in
            let (rows, statistics) = try run.rows()
            for row in rows { guard try body(row) else { break } }
            return statistics
        }
    }

    func counted(_ query: StoreQuery) throws -> QueryStatistics? {
        try SQLiteQuery(query.unordered, self)?.count()
    }
}
