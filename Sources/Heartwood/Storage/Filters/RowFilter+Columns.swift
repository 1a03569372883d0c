import Foundation
import RecordLog

/// A test of one column.
package class ColumnFilter: RowFilter {
    package final let runtime: EntityRuntime
    package final let property: Int
    /// The layouts of `runtime`.
    private final let layouts: EntityRuntime.Layouts

    init(_ runtime: EntityRuntime, _ property: Int) {
        self.runtime = runtime
        self.property = property
        layouts = runtime.layouts
    }

    override var isBindable: Bool { true }

    /// Returns the column's access in `row`; nil for null.
    @inline(__always)
    final func access(_ row: UnsafeRowView) -> ColumnAccess? { layouts.access(property, in: row) }

    /// Returns the index condition of a column that equals one of several constants.
    /// - Parameter append: appends a constant to a key.
    final func isOne<Constants: Sequence>(of constants: Constants, _ append: (KeyBuilder, Constants.Element) -> Void) -> IndexCondition {
        IndexCondition(property: property, kind: .equal(constants.map { constant in
            let key = KeyBuilder()
            append(key, constant)
            return key.bytes
        }))
    }

    /// Filters by comparing the column with a constant. Each comparison has its own loop without unpredictable branches.
    @inline(__always)
    fileprivate final func filter<Value: Comparable>(
        _ rows: UnsafeMutableBufferPointer<UnsafeRowView>, _ comparison: ComparisonOperator, _ constant: Value,
        _ read: (UnsafeRowView, ColumnAccess) -> Value
    ) -> Int {
        @inline(__always)
        func keep(whenNull: Int = 0, _ holds: (Value, Value) -> Bool) -> Int {
            var kept = 0
            for index in rows.indices {
                let row = rows[index]
                rows[kept] = row
                if let access = access(row) { kept &+= holds(read(row, access), constant) ? 1 : 0 } else { kept &+= whenNull }
            }
            return kept
        }
        switch comparison {
        case .equal: return keep(==)
        case .notEqual: return keep(whenNull: 1, !=)
        case .less: return keep(<)
        case .lessOrEqual: return keep(<=)
        case .greater: return keep(>)
        case .greaterOrEqual: return keep(>=)
        }
    }
}

package final class NullFilter: ColumnFilter {
    package let isNull: Bool

    init(_ runtime: EntityRuntime, _ property: Int, isNull: Bool) {
        self.isNull = isNull
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        (access(row) == nil) == isNull
    }

    override package var indexCondition: IndexCondition? {
        guard isNull else {
            return IndexCondition(property: property, kind: .range(lower: nil, lowerIsOpen: false, upper: nil, upperIsOpen: false))
        }
        return isOne(of: CollectionOfOne(())) { key, _ in key.appendNull() }
    }
}

/// Compares an integer, Boolean, float, double or date column.
package final class ScalarFilter: ColumnFilter {
    package enum Constant {
        /// 0 or 1 for a Boolean column.
        case integer(Int64)
        case double(Double)
    }

    package let comparison: ComparisonOperator
    package let constant: Constant

    init(_ runtime: EntityRuntime, _ property: Int, _ comparison: ComparisonOperator, _ constant: Constant) {
        self.comparison = comparison
        self.constant = constant
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return comparison == .notEqual }
        return switch constant {
        case .integer(let constant): comparison.holds(row.int64(access), constant)
        case .double(let constant): comparison.holds(row.double(access), constant)
        }
    }

    override func filter(_ rows: UnsafeMutableBufferPointer<UnsafeRowView>, _ scope: QueryScope) throws -> Int {
        switch constant {
        case .integer(let constant): filter(rows, comparison, constant) { row, access in row.int64(access) }
        case .double(let constant): filter(rows, comparison, constant) { row, access in row.double(access) }
        }
    }

    override package var indexCondition: IndexCondition? {
        let key = KeyBuilder()
        switch constant {
        case .integer(let constant):
            if runtime.properties[property].kind == .bool { key.append(bool: constant != 0) } else { key.append(int64: constant) }
            return IndexCondition(property: property, comparison, key.bytes)
        case .double(let constant):
            guard !constant.isNaN else { return nil }
            key.append(double: constant)
            return IndexCondition(property: property, comparison, key.bytes, least: IndexCondition.leastDouble)
        }
    }
}

/// Looks up a float, double or date in a list.
package final class DoubleSetFilter: ColumnFilter {
    /// Without NaN.
    package let constants: Set<Double>

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: Set<Double>) {
        self.constants = constants
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        return constants.contains(row.double(access))
    }

    override package var indexCondition: IndexCondition? { isOne(of: constants) { $0.append(double: $1) } }
}

package final class DecimalFilter: ColumnFilter {
    package let comparison: ComparisonOperator
    /// Not NaN.
    package let constant: StoredDecimal
    private let constantKey: [UInt8]

    init(_ runtime: EntityRuntime, _ property: Int, _ comparison: ComparisonOperator, _ constant: StoredDecimal) {
        self.comparison = comparison
        self.constant = constant
        let key = KeyBuilder()
        key.append(decimal: constant)
        constantKey = key.bytes
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return comparison == .notEqual }
        let value = row.decimal(access)
        guard !value.isNaN else { return comparison == .notEqual }
        // A decimal has several representations, but one key.
        let key = scope.key
        key.removeAll()
        key.append(decimal: value)
        return comparison.holds(constantKey.withUnsafeBytes { KeyBytes.compare(key.unsafeBuffer, $0) }, 0)
    }

    override package var indexCondition: IndexCondition? {
        IndexCondition(property: property, comparison, constantKey, least: Self.least)
    }

    /// Excludes NaN, as for doubles. No row has a lower decimal.
    private static let least: [UInt8] = {
        let key = KeyBuilder()
        key.append(decimal: StoredDecimal(mantissa: .max, exponent: .max, isNegative: true, isNaN: false))
        return key.bytes
    }()
}

/// Looks up a decimal in a list.
final class DecimalSetFilter: ColumnFilter {
    /// The keys of the list's numbers, each once.
    private let components: [[UInt8]]
    private let table = GroupTable()

    /// - Parameter constants: without NaN.
    init(_ runtime: EntityRuntime, _ property: Int, _ constants: [Decimal]) {
        let table = table, key = KeyBuilder()
        components = constants.compactMap { constant in
            key.removeAll()
            key.append(decimal: StoredDecimal(constant))
            return table.number(of: key.unsafeBuffer).isNew ? key.bytes : nil
        }
        super.init(runtime, property)
    }

    override func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        let value = row.decimal(access)
        guard !value.isNaN else { return false }
        let key = scope.key
        key.removeAll()
        key.append(decimal: value)
        return table.contains(key.unsafeBuffer)
    }

    override var indexCondition: IndexCondition? { IndexCondition(property: property, kind: .equal(components)) }
}

package final class UUIDFilter: ColumnFilter {
    package let constant: (UInt64, UInt64)
    package let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constant: (UInt64, UInt64), isNegated: Bool) {
        self.constant = constant
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        return (row.uuid(access) == constant) != isNegated
    }

    override package var indexCondition: IndexCondition? {
        isNegated ? nil : isOne(of: CollectionOfOne(constant)) { $0.append(uuid: $1) }
    }
}

/// Looks up a UUID in a list.
package final class UUIDSetFilter: ColumnFilter {
    package let constants: Set<UUID>

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: Set<UUID>) {
        self.constants = constants
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        return constants.contains(UUID(storedBytes: row.uuid(access)))
    }

    override package var indexCondition: IndexCondition? { isOne(of: constants) { $0.append(uuid: $1.storedBytes) } }
}

/// Compares a to-one relationship with objects.
package final class ReferenceFilter: ColumnFilter {
    package let constants: Set<RowReference>
    package let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: Set<RowReference>, isNegated: Bool = false) {
        self.constants = constants
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        return constants.contains(row.reference(access)) != isNegated
    }

    override package var indexCondition: IndexCondition? {
        isNegated ? nil : isOne(of: constants) { $0.append(reference: $1) }
    }
}

package final class BytesFilter: ColumnFilter {
    package let constant: Data
    package let isNegated: Bool

    init(_ runtime: EntityRuntime, _ property: Int, _ constant: Data, isNegated: Bool) {
        self.constant = constant
        self.isNegated = isNegated
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return isNegated }
        return constant.elementsEqual(row.bytes(access)) != isNegated
    }

    override package var indexCondition: IndexCondition? {
        isNegated ? nil : isOne(of: CollectionOfOne(constant)) { $0.append(data: $1) }
    }
}

/// Looks up data in a list.
package final class BytesSetFilter: ColumnFilter {
    /// Without duplicates.
    package let constants: [Data]
    private let table = GroupTable()

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: [Data]) {
        let table = table
        self.constants = constants.filter { constant in constant.withUnsafeBytes { table.number(of: $0).isNew } }
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        return table.contains(row.bytes(access))
    }

    override package var indexCondition: IndexCondition? { isOne(of: constants) { $0.append(data: $1) } }
}

extension KeyBuilder {
    fileprivate func append(data: Data) { data.withUnsafeBytes { append(bytes: $0) } }
}

package final class IntegerSetFilter: ColumnFilter {
    /// 0, 1 or both for a Boolean column.
    package let constants: Set<Int64>

    init(_ runtime: EntityRuntime, _ property: Int, _ constants: Set<Int64>) {
        self.constants = constants
        super.init(runtime, property)
    }

    override package func matches(_ row: UnsafeRowView, _ scope: QueryScope) throws -> Bool {
        guard let access = access(row) else { return false }
        return constants.contains(row.int64(access))
    }

    override package var indexCondition: IndexCondition? {
        let isBool = runtime.properties[property].kind == .bool
        return isOne(of: constants) { key, constant in
            if isBool { key.append(bool: constant != 0) } else { key.append(int64: constant) }
        }
    }
}
