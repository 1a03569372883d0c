import Foundation
import RecordLog

/// Reads the columns of rows in batches, each column of a batch at once, into the memory of a sink.
package final class ValueBatchReader {
    private let table: ValueTable
    private let tables: [EntityTable]
    private let slotBase: UInt64
    private var columns: [ReaderColumn] = []
    private let scope: QueryScope
    private let view: RecordLogView?
    private let batch: UnsafeMutableBufferPointer<UnsafeRowView>
    private let steps: UnsafeMutableBufferPointer<UnsafeRowView>
    private var count = 0

    /// The bytes of this many rows stay in the processor's first cache.
    private static let batchSize = 128

    /// Whether all values are in columns and of types without a reference to what other threads use.
    var isPlain: Bool { columns.allSatisfy { !$0.isComputed && $0.type is any PlainValue.Type } }

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
    /// - Returns: nil if it cannot be read from rows.
    func add(_ column: ValueColumn) -> ReaderColumn? {
        var expressions: [(any RowExpression)?] = []
        let isReference = column.type is ReferenceReading.Type, isMembers = column.type is MemberReading.Type
        for table in tables {
            let compiler = PredicateCompiler(table: table, view: view, slotBase: slotBase)
            let compiled = isMembers ? compiler.memberReferences(column.path ?? []) : compiler.result(column.expression)
            guard let compiled else { return nil }
            let id = Int(table.id.rawValue)
            while expressions.count <= id { expressions.append(nil) }
            expressions[id] = compiled
        }
        let added = ReaderColumn(column, ColumnSource(expressions, column.kind, isReference: isReference))
        if added.isComputed, view == nil || isReference { return nil }
        columns.append(added)
        return added
    }

    /// Reads a column of one row.
    @inline(__always)
    func read(_ column: ReaderColumn, of row: UnsafeRowView, into cell: UnsafeMutableRawPointer) throws {
        try withUnsafePointer(to: row) { try fill(column, UnsafeBufferPointer(start: $0, count: 1), cell) }
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
            while made < columns.count {
                try fill(columns[made], rows, start + table.offsets[made])
                made += 1
            }
        } catch {
            table.deinitialize(start, columns: made, rows: rows.count)
            throw error
        }
        return try sink.take(rows.count)
    }

    @inline(__always)
    private func fill(_ column: ReaderColumn, _ rows: UnsafeBufferPointer<UnsafeRowView>, _ start: UnsafeMutableRawPointer) throws {
        guard let leaves = column.ownLeaves else { return try fill(column, farther: rows, start) }
        try column.type.fill(column.run(rows, leaves, start, stride: table.stride))
    }

    /// Reads a column that is not the rows' own.
    private func fill(_ column: ReaderColumn, farther rows: UnsafeBufferPointer<UnsafeRowView>, _ start: UnsafeMutableRawPointer) throws {
        switch column.source {
        case .columns(let path, let leaves):
            var rows = rows
            for step in path { rows = try follow(step, rows) }
            try column.type.fill(column.run(rows, leaves.pointer, start, stride: table.stride))
        case .computed(let expressions):
            let stated = column.stated.pointee
            var made = 0
            do {
                for row in rows {
                    let value = try expressions[Int(row.reference.table.rawValue)]?.value(row, scope) ?? .null
                    do { try stated.put(value, at: start + made * table.stride) } catch let fault as ColumnFault { throw fault.at(row.reference) }
                    made += 1
                }
            } catch {
                column.type.deinitialize(start, count: made, stride: table.stride, stated)
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

/// A column that a reader reads.
final class ReaderColumn {
    let stated: UnsafePointer<ValueColumn>
    let type: any ValueReading.Type
    let source: ColumnSource
    /// nil for a column of other rows, and for a computed one.
    let ownLeaves: ValueLeafPointer?
    private let kind: PropertyKind
    private let isOptional: Bool

    init(_ column: ValueColumn, _ source: ColumnSource) {
        let memory = UnsafeMutablePointer<ValueColumn>.allocate(capacity: 1)
        memory.initialize(to: column)
        stated = UnsafePointer(memory)
        (type, self.source, kind, isOptional) = (column.type, source, column.kind ?? .undefined, column.isOptional)
        if case .columns(let path, let leaves) = source, path.isEmpty { ownLeaves = leaves.pointer } else { ownLeaves = nil }
    }

    deinit {
        UnsafeMutablePointer(mutating: stated).deinitialize(count: 1)
        stated.deallocate()
    }

    var isComputed: Bool {
        if case .computed = source { return true }
        return false
    }

    /// - Parameter leaves: those of the source.
    @inline(__always)
    func run(
        _ rows: UnsafeBufferPointer<UnsafeRowView>, _ leaves: ValueLeafPointer, _ start: UnsafeMutableRawPointer, stride: Int
    ) -> ValueRun { ValueRun(stated, kind: kind, isOptional: isOptional, rows, leaves, start, stride: stride) }
}

extension ColumnFault {
    func at(_ reference: RowReference) -> ColumnFault {
        switch self {
        case .null(let column, _): .null(column, reference)
        case .unfit(let column, _): .unfit(column, reference)
        }
    }
}
