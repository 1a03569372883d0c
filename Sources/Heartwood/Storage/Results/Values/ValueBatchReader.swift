import Foundation
import RecordLog

/// Reads the columns of rows in batches, each column of a batch at once, into the memory of a sink.
package final class ValueBatchReader {
    private let table: ValueTable
    private let tables: [EntityTable]
    private let slotBase: UInt64
    private var columns: [ValueColumn] = []
    private var sources: [ColumnSource] = []
    private let scope: QueryScope
    private let view: RecordLogView?
    private let batch: UnsafeMutableBufferPointer<UnsafeRowView>
    private let steps: UnsafeMutableBufferPointer<UnsafeRowView>
    private var count = 0

    /// The bytes of this many rows stay in the processor's first cache.
    private static let batchSize = 128

    /// Whether all values are in columns and of types without a reference to what other threads use.
    var isPlain: Bool {
        zip(columns, sources).allSatisfy { column, source in
            if case .columns = source { return column.type is any PlainValue.Type }
            return false
        }
    }

    /// - Parameter view: nil where a store cannot read a row of another row's relationship.
    /// - Returns: nil where a column cannot be read from rows.
    package init?(_ table: ValueTable, _ tables: [EntityTable], _ view: RecordLogView?, slotBase: UInt64) {
        self.table = table
        self.tables = tables
        self.view = view
        self.slotBase = slotBase
        scope = QueryScope(view: view)
        batch = .allocate(capacity: Self.batchSize)
        steps = .allocate(capacity: Self.batchSize)
        for column in table.columns { guard add(column) != nil else { return nil } }
    }

    /// Adds a column.
    /// - Returns: its index; nil if it cannot be read from rows.
    func add(_ column: ValueColumn) -> Int? {
        var expressions: [(any RowExpression)?] = []
        for table in tables {
            let compiler = PredicateCompiler(table: table, view: view, slotBase: slotBase)
            guard let compiled = compiler.result(column.expression) else { return nil }
            let id = Int(table.id.rawValue)
            while expressions.count <= id { expressions.append(nil) }
            expressions[id] = compiled
        }
        let source = ColumnSource(expressions, column.kind)
        if view == nil, case .computed = source { return nil }
        columns.append(column)
        sources.append(source)
        return columns.count - 1
    }

    /// Reads one column of one row.
    func read(_ index: Int, of row: UnsafeRowView, into cell: UnsafeMutableRawPointer) throws {
        try withUnsafePointer(to: row) { try fill(index, UnsafeBufferPointer(start: $0, count: 1), cell) }
    }

    /// The ID of a row's object; nil where rows are not a record log's.
    func id(of row: UnsafeRowView) -> NSManagedObjectID? { view?.id(row.reference) }

    deinit {
        batch.deallocate()
        steps.deallocate()
    }

    /// Takes the next row.
    /// - Returns: false if the sink wants no more.
    @inline(__always)
    package func append(_ row: UnsafeRowView, to sink: any ValueSink) throws -> Bool {
        batch.baseAddress.unsafelyUnwrapped.advanced(by: count).initialize(to: row)
        count &+= 1
        return count < Self.batchSize ? true : try flush(to: sink)
    }

    /// Gives the rows that were taken last.
    @inline(never)
    package func flush(to sink: any ValueSink) throws -> Bool {
        let rows = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(batch)[..<count])
        count = 0
        return rows.isEmpty ? true : try read(rows, into: sink)
    }

    /// Gives rows that a caller has collected.
    /// - Parameter rows: one at least, and as many as a scan's batch has at most.
    /// - Returns: false if the sink wants no more.
    func read(_ rows: UnsafeBufferPointer<UnsafeRowView>, into sink: any ValueSink) throws -> Bool {
        let start = sink.room(rows.count)
        var made = 0
        do {
            while made < sources.count {
                try fill(made, rows, start + table.offsets[made])
                made += 1
            }
        } catch {
            table.deinitialize(start, columns: made, rows: rows.count)
            throw error
        }
        return try sink.take(rows.count)
    }

    private func fill(_ index: Int, _ rows: UnsafeBufferPointer<UnsafeRowView>, _ start: UnsafeMutableRawPointer) throws {
        let column = columns[index]
        switch sources[index] {
        case .columns(let path, let leaves):
            var rows = rows
            for step in path { rows = try follow(step, rows) }
            try column.type.fill(ValueRun(column: column, rows: rows, leaves: leaves.pointer, start: start, stride: table.stride))
        case .computed(let expressions):
            var made = 0
            do {
                for row in rows {
                    let value = try expressions[Int(row.reference.table.rawValue)]?.value(row, scope) ?? .null
                    do { try column.put(value, at: start + made * table.stride) } catch let fault as ColumnFault { throw fault.at(row.reference) }
                    made += 1
                }
            } catch {
                column.type.deinitialize(start, count: made, stride: table.stride, column)
                throw error
            }
        }
    }

    /// Replaces each row by the row that its to-one relationship refers to.
    private func follow(_ step: ValueLeaves, _ rows: UnsafeBufferPointer<UnsafeRowView>) throws -> UnsafeBufferPointer<UnsafeRowView> {
        guard let view, let some = rows.first else { return rows }
        let missing = UnsafeRowView(body: some.body, byteCount: 0, reference: RowReference(rawValue: 0), version: 0)
        let leaves = step.pointer
        try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: rows.count) { references in
            try withUnsafeTemporaryAllocation(of: Int.self, capacity: rows.count) { positions in
                var found = 0
                for index in rows.indices {
                    let row = rows[index]
                    let reference = leaves.access(in: row).map { row.reference($0) }
                    steps.initializeElement(at: index, to: missing)
                    guard let reference, !reference.isNone else { continue }
                    references.initializeElement(at: found, to: reference)
                    positions.initializeElement(at: found, to: index)
                    found += 1
                }
                try view.snapshot.rows(UnsafeBufferPointer(rebasing: references[..<found])) { index, row in
                    if let row { steps[positions[index]] = row }
                }
            }
        }
        return UnsafeBufferPointer(rebasing: UnsafeBufferPointer(steps)[..<rows.count])
    }
}

extension ColumnFault {
    func at(_ reference: RowReference) -> ColumnFault {
        switch self {
        case .null(let column, _): .null(column, reference)
        case .unfit(let column, _): .unfit(column, reference)
        }
    }
}
