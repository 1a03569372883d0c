import Foundation
import RecordLog

/// By table, the property that a column is there.
final class ValueLeaves {
    struct Leaf {
        let runtime: Unmanaged<EntityRuntime>?
        let layouts: EntityRuntime.Layouts
        /// Negative where the table has no such column.
        let property: Int
    }

    /// The tables' runtimes keep the layouts.
    private let runtimes: [EntityRuntime]
    let list: UnsafeMutableBufferPointer<Leaf>

    init(_ leaves: [(table: Int, runtime: EntityRuntime, property: Int)]) {
        runtimes = leaves.map(\.runtime)
        list = .allocate(capacity: (leaves.map(\.table).max() ?? -1) + 1)
        list.initialize(repeating: Leaf(runtime: nil, layouts: EntityRuntime.Layouts(start: nil, count: 0), property: -1))
        for leaf in leaves { list[leaf.table] = Leaf(runtime: .passUnretained(leaf.runtime), layouts: leaf.runtime.layouts, property: leaf.property) }
    }

    deinit { list.deallocate() }

    var pointer: ValueLeafPointer { ValueLeafPointer(list: UnsafeBufferPointer(list)) }
}

/// The leaves without a reference to count.
struct ValueLeafPointer {
    fileprivate let list: UnsafeBufferPointer<ValueLeaves.Leaf>

    /// The access of a row's value; nil for null.
    @inline(__always)
    func access(in row: UnsafeRowView) -> ColumnAccess? {
        let table = Int(row.reference.table.rawValue)
        guard table < list.count else { return nil }
        let leaf = list[table]
        return leaf.property < 0 ? nil : leaf.layouts.access(leaf.property, in: row)
    }

    /// The description of the property that the column is in a row's table.
    func description(of row: UnsafeRowView) -> NSPropertyDescription? {
        let table = Int(row.reference.table.rawValue)
        guard table < list.count, list[table].property >= 0 else { return nil }
        return list[table].runtime?.takeUnretainedValue().entity.propertiesByIndex[list[table].property]
    }
}

/// One column of a batch of rows.
package struct ValueRun {
    /// The reader's, so that a run counts no references.
    private let stated: UnsafePointer<ValueColumn>
    let kind: PropertyKind
    let isOptional: Bool
    /// The rows at the end of the column's path; no reference where an object on the path is missing.
    package let rows: UnsafeBufferPointer<UnsafeRowView>
    let leaves: ValueLeafPointer
    package let start: UnsafeMutableRawPointer
    package let stride: Int

    init(
        _ column: UnsafePointer<ValueColumn>, kind: PropertyKind, isOptional: Bool, _ rows: UnsafeBufferPointer<UnsafeRowView>,
        _ leaves: ValueLeafPointer, _ start: UnsafeMutableRawPointer, stride: Int
    ) {
        (stated, self.kind, self.isOptional, self.rows) = (column, kind, isOptional, rows)
        (self.leaves, self.start, self.stride) = (leaves, start, stride)
    }

    package var column: ValueColumn { stated.pointee }
}

/// Where a column's values are, for the tables of a query.
enum ColumnSource {
    /// Columns of rows, at the end of to-one relationships.
    case columns(path: [ValueLeaves], ValueLeaves)
    /// Expressions by table.
    case computed([(any RowExpression)?])

    /// - Parameter isReference: whether a row stands for its object.
    init(_ expressions: [(any RowExpression)?], _ kind: PropertyKind?, isReference: Bool) {
        self = Self.columns(expressions, kind, isReference, []) ?? .computed(expressions)
    }

    private static func columns(
        _ expressions: [(any RowExpression)?], _ kind: PropertyKind?, _ isReference: Bool, _ path: [ValueLeaves]
    ) -> ColumnSource? {
        var leaves: [(table: Int, runtime: EntityRuntime, property: Int)] = []
        var destinations: [(any RowExpression)?] = [], isPath = false, isIdentity = false
        for (table, expression) in expressions.enumerated() {
            switch expression {
            case nil: continue
            case let column as ColumnExpression:
                guard column.runtime.properties[column.property].kind == kind else { return nil }
                leaves.append((table, column.runtime, column.property))
            case let column as OpaqueExpression:
                guard kind == .transformable, column.runtime.properties[column.property].kind == kind else { return nil }
                leaves.append((table, column.runtime, column.property))
            case let reference as ReferenceExpression where isReference: leaves.append((table, reference.runtime, reference.property))
            case is IdentityExpression where isReference: isIdentity = true
            case let constant as ConstantExpression:
                // The table lacks the property.
                guard constant.isNull else { return nil }
            case let step as ToOneExpression:
                isPath = true
                leaves.append((table, step.runtime, step.property))
                for (index, expression) in step.destinations.byTable.enumerated() {
                    while destinations.count <= index { destinations.append(nil) }
                    destinations[index] = destinations[index] ?? expression
                }
            default: return nil
            }
        }
        guard isPath else { return leaves.isEmpty && !isIdentity ? nil : .columns(path: path, ValueLeaves(leaves)) }
        guard !isIdentity, leaves.allSatisfy({ $0.runtime.properties[$0.property].kind == .toOne }) else { return nil }
        return columns(destinations, kind, isReference, path + [ValueLeaves(leaves)])
    }
}
