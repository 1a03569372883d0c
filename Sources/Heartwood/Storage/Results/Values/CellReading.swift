import Foundation
import RecordLog

/// Reads cells.
enum CellReading: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind != .toMany }

    static func fill(_ run: ValueRun) throws {
        switch run.kind {
        case .bool: run.fill { .bool($0.int64($1) != 0) }
        case .int16, .int32, .int64: run.fill { .integer($0.int64($1)) }
        case .float, .double: run.fill { .double($0.double($1)) }
        case .date: run.fill { .date($0.double($1)) }
        case .string: run.fill { .text($0.bytes($1)) }
        case .uuid:
            run.fill { row, access in
                let words = row.uuid(access)
                return .uuid(words.0, words.1)
            }
        case .transformable:
            run.fill { row, access in
                let description = run.leaves.description(of: row)
                return RowCell(object: description.flatMap { AttributeTransformer.object(Data(row.bytes(access)), of: $0) })
            }
        case let kind:
            run.fill { RowCell(object: ManagedValue(row: $0, access: $1, kind: kind, slotBase: 0).attributeObject(kind: kind)) }
        }
    }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) {
        cell.initializeMemory(as: RowCell.self, to: RowCell(object: value.object(as: column.codec)))
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        for index in 0..<count { (cells + index &* stride).assumingMemoryBound(to: RowCell.self).deinitialize(count: 1) }
    }
}

/// Reads references to rows, without IDs of their objects.
enum ReferenceReading: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind == .toOne || kind == .objectID }

    static func fill(_ run: ValueRun) {
        // The row itself, at the end of the path.
        guard run.kind == .toOne else {
            for (index, row) in run.rows.enumerated() {
                let cell = row.reference.isNone ? RowCell.missing : .reference(row.reference)
                (run.start + index &* run.stride).initializeMemory(as: RowCell.self, to: cell)
            }
            return
        }
        run.fill { row, access in
            let reference = row.reference(access)
            return reference.isNone ? .null : .reference(reference)
        }
    }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) {
        preconditionFailure("a reference is a column")
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        CellReading.deinitialize(cells, count: count, stride: stride, column)
    }
}

/// Reads lists of members, which are computed.
enum MemberReading: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind == .toMany }

    static func fill(_ run: ValueRun) { preconditionFailure("members are computed") }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) {
        // The column's type is that of keys. A reference to a row is none of these.
        let list = value.members?.map { member -> Any in
            if case .other(let reference as MemberReference) = member { return reference }
            return member.object(as: column.codec) ?? NSNull()
        }
        cell.initializeMemory(as: RowCell.self, to: RowCell(object: list))
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        CellReading.deinitialize(cells, count: count, stride: stride, column)
    }
}

extension ValueRun {
    /// Initializes cells by a function of the rows that have a value.
    @inline(__always)
    fileprivate func fill(_ value: (UnsafeRowView, ColumnAccess) -> RowCell) {
        var index = 0
        while index < rows.count {
            let row = rows[index]
            let cell = leaves.access(in: row).map { value(row, $0) } ?? (row.reference.isNone ? .missing : .null)
            (start + index &* stride).initializeMemory(as: RowCell.self, to: cell)
            index &+= 1
        }
    }
}

/// Passes cells on, row by row.
final class CellRows: ValueSink {
    private let table: ValueTable
    private var memory: UnsafeMutableRawPointer
    private var capacity = 128
    private let body: (UnsafeBufferPointer<RowCell>) throws -> Bool

    /// - Parameter body: returns false to end.
    init(_ table: ValueTable, _ body: @escaping (UnsafeBufferPointer<RowCell>) throws -> Bool) {
        self.table = table
        self.body = body
        memory = .allocate(byteCount: capacity * table.stride, alignment: MemoryLayout<RowCell>.alignment)
    }

    deinit { memory.deallocate() }

    func room(_ rows: Int) -> UnsafeMutableRawPointer {
        if rows > capacity {
            memory.deallocate()
            capacity = rows
            memory = .allocate(byteCount: capacity * table.stride, alignment: MemoryLayout<RowCell>.alignment)
        }
        return memory
    }

    func take(_ rows: Int) throws -> Bool {
        defer { table.deinitialize(memory, columns: table.columns.count, rows: rows) }
        for row in 0..<rows {
            let cells = (memory + row &* table.stride).assumingMemoryBound(to: RowCell.self)
            guard try body(UnsafeBufferPointer(start: cells, count: table.columns.count)) else { return false }
        }
        return true
    }
}
