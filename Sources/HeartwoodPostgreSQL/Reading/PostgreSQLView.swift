import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog
import Synchronization

/// Copies of rows in the stack's form, which one context has read. Its views share them.
final class RowCopies: Sendable {
    let rows = IncrementalRows()
}

/// A context's view of a store: the newest commit at each statement, until the store knows of a later one.
final class PostgreSQLView: StoreView, @unchecked Sendable {
    // Unchecked: `turn` guards the builder and the rows that were read ahead.

    /// Runs a statement that reads.
    typealias Reader = @Sendable (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult

    private let store: PostgreSQLStore
    private let reader: Reader
    /// Whether the view shows one state for ever, as a query generation does.
    private let isPinned: Bool
    let layout: PostgreSQLLayout
    let copies: RowCopies
    /// The number of changes that the store knew when the view was made.
    private let changes: Atomic<UInt64>
    private let builder = RowBuilder()
    private var ahead = ReadAhead()
    private let turn = NSLock()

    /// - Parameter reader: nil for a connection of the store's pool at each statement.
    init(
        _ store: PostgreSQLStore, _ layout: PostgreSQLLayout, _ copies: RowCopies, changes: UInt64, isPinned: Bool = false, _ reader: Reader? = nil
    ) {
        (self.store, self.layout, self.copies, self.isPinned) = (store, layout, copies, isPinned)
        self.reader = reader ?? { [store] in try store.read($0, $1) }
        self.changes = Atomic(changes)
    }

    var isNewest: Bool { !isPinned && store.isUsable(since: changes.load(ordering: .acquiring)) }

    /// Makes this view the newest after the save of its context. What was read ahead is forgotten.
    func follow(_ known: UInt64) {
        turn.withLock { ahead.forget() }
        changes.store(known, ordering: .releasing)
    }

    func read(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) throws -> PostgreSQLResult {
        try reader(statement, parameters)
    }

    /// A view with the same reader, and copies of its own: a transaction reads a row again that it has changed without another version.
    func apart() -> PostgreSQLView { PostgreSQLView(store, layout, RowCopies(), changes: 0, isPinned: isPinned, reader) }

    func selection(_ entities: [BoundEntity]) -> RowSelection { store.selection(entities, layout) }

    // MARK: Rows

    func keepRows(in memory: inout RowMemory) { memory.add(copies.rows) }

    func adopted(_ row: UnsafeRowView, _ key: ObjectKey) -> UnsafeRowView {
        copies.rows.keep(UnsafeRawBufferPointer(start: row.body, count: row.byteCount), key, layout.reference(key), version: row.version)
    }

    /// The rows of an answer, in memory that the view keeps.
    func rows(_ result: PostgreSQLResult, _ selection: RowSelection) throws -> [UnsafeRowView] {
        try turn.withLock {
            var rows: [UnsafeRowView] = []
            rows.reserveCapacity(result.count)
            for line in 0..<result.count { if let row = try build(result, line, selection) { rows.append(row) } }
            return rows
        }
    }

    /// The row in a line of an answer, in memory that the view keeps.
    func row(_ result: PostgreSQLResult, _ line: Int, _ selection: RowSelection) throws -> UnsafeRowView? {
        try turn.withLock { try build(result, line, selection) }
    }

    /// The caller has the turn.
    private func build(_ result: PostgreSQLResult, _ line: Int, _ selection: RowSelection) throws -> UnsafeRowView? {
        try selection.row(result, line, with: builder).map { adopted($0, layout.key($0.reference)) }
    }

    func row(_ key: ObjectKey) throws -> UnsafeRowView? {
        guard layout.entity(of: key) != nil else { return nil }
        if let known = turn.withLock({ ahead.takeRow(key) }) { return known }
        let together = turn.withLock { ahead.keysTogether(with: key, layout) }
        var found: UnsafeRowView?
        try read(together) { other, row in
            if other == key { found = row } else if let row { turn.withLock { ahead.add(row, other) } }
        }
        return found
    }

    func row(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? { copies.rows.row(key, layout.reference(key), version: version) }

    func shownRow(_ key: ObjectKey, version: UInt32) throws -> UnsafeRowView? { try row(key, version: version) ?? row(key) }

    func rows(_ keys: [ObjectKey], _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        var found: [UnsafeRowView] = []
        try read(keys) { key, row in
            if let row { found.append(row) }
            try body(key, row)
        }
        noteTogether(found)
    }

    /// Reads rows in a transaction, and locks them in the order of their numbers.
    /// - Parameter strength: of the lock, in SQL.
    func lockedRows(_ keys: [ObjectKey], _ strength: String) throws -> [UnsafeRowView] {
        var found: [UnsafeRowView] = []
        try read(keys, " ORDER BY t.\(FamilyTable.number) FOR \(strength) OF t") { _, row in if let row { found.append(row) } }
        return found
    }

    /// Reads rows by keys, with one statement for each family.
    /// - Parameter end: of the statements.
    private func read(_ keys: [ObjectKey], _ end: String = "", _ body: (ObjectKey, UnsafeRowView?) throws -> Void) throws {
        var found: [ObjectKey: UnsafeRowView] = [:]
        for (family, keys) in layout.byFamily(keys) {
            let slots = Set(keys.map(\.slot))
            let selection = selection(layout.entities.filter { slots.contains($0.table.runtime.slot) })
            var parameters = PostgreSQLParameters()
            let condition = try Self.numbers(keys, &parameters)
            let text = "SELECT \(selection.text) FROM \(family.quoted) t WHERE t.\(FamilyTable.number) \(condition) AND \(layout.isCurrent)\(end)"
            let result = try read(PostgreSQLStatement(text), parameters)
            for row in try rows(result, selection) { found[layout.key(row.reference)] = row }
        }
        for key in keys { try body(key, found[key]) }
    }

    /// A condition that names rows.
    static func numbers(_ keys: [ObjectKey], _ parameters: inout PostgreSQLParameters) throws -> String {
        if keys.count == 1 {
            parameters.addInt64(Int64(keys[0].row))
            return "= $\(parameters.count)"
        }
        var array = PostgreSQLArray(of: .int8)
        for key in keys { array.addInt64(Int64(key.row)) }
        try parameters.add(array)
        return "= ANY($\(parameters.count))"
    }

    func dataInRow(_ access: ColumnAccess, of row: UnsafeRowView) throws -> Data? {
        try LargeMark.data(access, of: row, layout, read)
    }

    // MARK: Relationships

    func members(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> [ObjectKey] {
        if let known = turn.withLock({ ahead.takeMembers(key, property) }) { return known }
        let owners = turn.withLock { ahead.ownersTogether(with: key, layout) }.sorted { $0.rawValue < $1.rawValue }
        let members = try MemberReader(self, runtime, property).members(ofEach: owners)
        var own: [ObjectKey] = []
        turn.withLock {
            for (owner, members) in zip(owners, members) {
                if owner == key { own = members } else { ahead.add(members, of: owner, property) }
            }
            ahead.noteTogether(members.flatMap(\.self))
        }
        return own
    }

    func members(ofEach keys: [ObjectKey], runtime: EntityRuntime, property: Int) throws -> [[ObjectKey]] {
        let members = try MemberReader(self, runtime, property).members(ofEach: keys)
        turn.withLock { ahead.noteTogether(members.flatMap(\.self)) }
        return members
    }

    func memberCount(of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Int {
        try MemberReader(self, runtime, property).count(of: key)
    }

    func hasMember(_ member: ObjectKey, of key: ObjectKey, runtime: EntityRuntime, property: Int) throws -> Bool {
        try MemberReader(self, runtime, property).has(member, of: key)
    }

    // MARK: Queries

    /// Notes that a statement has found these rows, so that the faults behind them are fired together.
    func noteTogether(_ rows: [UnsafeRowView]) { turn.withLock { ahead.noteTogether(rows) } }

    /// Columns of the rows themselves. A path leads to rows that would have to be found one by one, so objects are asked for it.
    func valueReader(_ table: ValueTable, _ runtimes: [EntityRuntime]) throws -> ValueBatchReader? {
        ValueBatchReader(table, try runtimes.map { try layout.schema.table(of: $0, slotBase: layout.slotBase) }, nil, slotBase: layout.slotBase)
    }

    func compiled(_ query: StoreQuery) throws -> CompiledQuery? {
        turn.withLock { ahead.forget() }
        let arguments = QueryArguments(query, isCount: false)
        if query.limit != 0, let (known, parameters) = kept(query, arguments) {
            return { [self] in try Self.give(try known.rows(query, parameters, self), $0) }
        }
        guard let run = try PostgreSQLQuery(query, self) else { return nil }
        return { try Self.give(try run.rows(arguments), $0) }
    }

    private static func give(
        _ answer: (rows: [UnsafeRowView], statistics: QueryStatistics), _ body: (UnsafeRowView) throws -> Bool
    ) rethrows -> QueryStatistics {
        for row in answer.rows { guard try body(row) else { break } }
        return answer.statistics
    }

    /// The statement that the store keeps for a query of this shape, with the query's own parameters.
    private func kept(_ query: StoreQuery, _ arguments: QueryArguments?) -> (KeptStatement, PostgreSQLParameters)? {
        guard let arguments, let known = store.statements(of: layout)?.find(arguments.shape) else { return nil }
        return known.parameters(query, arguments).map { (known, $0) }
    }

    /// Keeps a statement for other queries of its shape.
    func keep(_ statement: KeptStatement?) {
        guard let statement, let statements = store.statements(of: layout), statements.find(statement.key) == nil else { return }
        statements.keep(statement)
    }

    func explanation(of query: StoreQuery, isCounted: Bool) throws -> [String] {
        let asked = isCounted ? query.unordered : query
        return try PostgreSQLQuery(asked, self)?.explanation(isCounted: isCounted)
            ?? ["asked: all rows; what is left of the request is judged on objects"]
    }

    func counted(_ query: StoreQuery) throws -> QueryStatistics? {
        let all = query.unordered, arguments = QueryArguments(all, isCount: true)
        if let (known, parameters) = kept(all, arguments) { return try known.count(parameters, self) }
        return try PostgreSQLQuery(all, self)?.count(arguments)
    }
}
