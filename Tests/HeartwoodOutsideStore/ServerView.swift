import Foundation
import Heartwood
import RecordLog

/// Copies of rows in the stack's form, which one context has read.
final class RowCopies: Sendable {
    let rows = IncrementalRows()
}

/// One state of a database.
final class ServerView: StoreView, @unchecked Sendable {
    // Unchecked: `turn` guards the builder, whose bytes are copied at once.
    private let store: ServerStore
    let binding: ServerBinding
    let state: DatabaseState
    let copies: RowCopies
    private let builder = RowBuilder()
    private let turn = NSLock()

    init(_ store: ServerStore, _ binding: ServerBinding, _ state: DatabaseState, _ copies: RowCopies) {
        (self.store, self.binding, self.state, self.copies) = (store, binding, state, copies)
    }

    var isNewest: Bool { store.isNewest(state.sequence) }
    var commit: UInt64? { state.sequence }

    // MARK: Rows

    func keepRows(in memory: inout RowMemory) { memory.add(copies.rows) }

    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView {
        copies.rows.keep(UnsafeRawBufferPointer(start: row.body, count: row.byteCount), key, reference(key), version: row.version)
    }

    private func reference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- binding.slotBase) }

    func row(_ key: ObjectKey) throws -> UnsafeRowView? {
        guard let table = binding.schema.table(of: key, slotBase: binding.slotBase) else { return nil }
        return row(key.row, of: table)
    }

    func row(_ number: UInt64, of table: EntityTable) -> UnsafeRowView? {
        guard let found = state.tables[binding.table(of: table).index].rows[number] else { return nil }
        let key = ObjectKey(slot: table.runtime.slot, row: number), reference = reference(key)
        if let known = copies.rows.row(key, reference, version: found.version) { return known }
        return turn.withLock {
            binding.build(found.values, of: table, with: builder)
            return copies.rows.keep(builder.unsafeBody(), key, reference, version: found.version)
        }
    }

    /// Copies rows of this state.
    func keepRows(_ references: [ServerReference]) {
        for reference in references { if let table = binding.entityTable(reference) { _ = row(reference.number, of: table) } }
    }

    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? {
        if let known = copies.rows.row(key, reference(key), version: version) { return known }
        return try row(key).flatMap { $0.version == version ? $0 : nil }
    }

    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) -> Data? { LargeValue.bytes(inRow: row.bytes(access)).map { Data($0) } }

    // MARK: Relationships

    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] {
        guard let owner = binding.reference(key), let table = binding.schema.table(of: key, slotBase: binding.slotBase) else { return [] }
        switch table.members[property] {
        case .inverse(let sources):
            let inverse = runtime.inverseName(property) ?? ""
            return sources.flatMap { source -> [ObjectKey] in
                guard let other = binding.schema.table(source.table), let index = other.runtime.index(of: inverse) else { return [] }
                let bound = binding.table(of: other)
                guard let column = bound.columns[index] else { return [] }
                return (state.tables[bound.index].sources[column]?[owner] ?? []).map { ObjectKey(slot: other.runtime.slot, row: $0) }
            }
        case .link(let link, let isForward):
            return state.links[binding.link(link)].members(of: owner, isForward: isForward).compactMap(binding.key)
        case nil: return []
        }
    }

    // MARK: Queries

    func compiled(_ query: StoreQuery) throws -> CompiledQuery? {
        guard let run = try ServerQuery(query, self) else { return nil }
        return { body in
            let (rows, statistics) = try run.rows()
            for row in rows { guard try body(row) else { break } }
            return statistics
        }
    }

    func counted(_ query: StoreQuery) throws -> QueryStatistics? {
        try ServerQuery(query.unordered, self)?.rows().1
    }
}
