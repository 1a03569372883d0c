import Foundation
import RecordLog

/// The rows from which derivations are computed: a transaction's current rows, or those of a commit for reading.
struct DerivationScope {
    private enum Rows {
        case transaction(Transaction)
        case snapshot(Snapshot)
        case outside((any DerivationSource)?)
    }

    private let rows: Rows
    let schema: RecordLogSchema
    /// Returns the row of an object's key in the store; nil for none.
    let reference: (ObjectKey) -> RowReference?

    init(transaction: Transaction, schema: RecordLogSchema, reference: @escaping (ObjectKey) -> RowReference?) {
        rows = .transaction(transaction)
        self.schema = schema
        self.reference = reference
    }

    init(snapshot: Snapshot, schema: RecordLogSchema) {
        rows = .snapshot(snapshot)
        self.schema = schema
        reference = { _ in nil }
    }

    /// - Parameter source: of rows that are in no record log; nil where no other row is asked for.
    init(_ source: (any DerivationSource)?, schema: RecordLogSchema) {
        rows = .outside(source)
        self.schema = schema
        reference = { _ in nil }
    }

    /// - Precondition: the scope is a transaction's.
    var transaction: Transaction {
        guard case .transaction(let transaction) = rows else { preconditionFailure("nothing is written to a commit that is only read") }
        return transaction
    }

    @inline(__always)
    func row(_ reference: RowReference) throws -> UnsafeRowView? {
        switch rows {
        case .transaction(let transaction): try transaction.unsafeRow(reference)
        case .snapshot(let snapshot): try snapshot.unsafeRow(reference)
        case .outside(let source): try source?.row(reference)
        }
    }

    /// Adds derived values to those of a row about to be written: values derived from the row itself, or through to-one relationships from existing
    /// rows. Counts and sums keep the row's value; they are 0 in a new row.
    /// - Parameters:
    ///   - values: by property index; an unset value stays as in `row`.
    ///   - row: the row to replace; nil for a new one.
    ///   - isDue: false for a derivation whose value is not computed yet; it is unset then.
    func completing(
        _ values: [ManagedValue], of row: UnsafeRowView?, in table: EntityTable, where isDue: (Derivation) -> Bool = { _ in true }
    ) throws -> [ManagedValue] {
        guard let derivations = table.derivations else { return values }
        var result = values
        if result.isEmpty { result = Array(repeating: .unset, count: table.runtime.properties.count) }
        for derivation in derivations {
            switch derivation.form {
            case .now: result[derivation.property] = .date(Date().timeIntervalSinceReferenceDate)
            case .count, .sum: result[derivation.property] = row == nil ? try derivation.stored(.integer(0)) : .unset
            default: result[derivation.property] = isDue(derivation) ? try value(of: derivation, result, row, table) : .unset
            }
        }
        return result
    }

    /// Returns the value derived from one row and its to-one relationships.
    /// - Parameter values: as in `completing`, with the values derived before.
    func value(of derivation: Derivation, _ values: [ManagedValue], _ row: UnsafeRowView?, _ table: EntityTable) throws -> ManagedValue {
        switch derivation.form {
        case .copy(let source): return try derivation.stored(try value(at: source, values, row, table), of: source.kind)
        case .function(let function, let source):
            guard case .text(let text) = try value(at: source, values, row, table), case .text(let made) = function.apply([.text(text)])
            else { return .null }
            return .text(made)
        case .now, .count, .sum: return .unset
        }
    }

    private func value(
        at source: Derivation.Source, _ values: [ManagedValue], _ row: UnsafeRowView?, _ table: EntityTable
    ) throws -> ManagedValue {
        guard let first = source.path.first else {
            let value = values[source.attribute.index]
            guard value.isUnset else { return value }
            return row.map { table.value(source.attribute.index, source.kind, in: $0) } ?? .null
        }
        var next: RowReference?
        switch values[first.index] {
        case .unset: next = row.flatMap { table.reference(first.index, in: $0) }
        case .reference(let key): next = key.isNone ? nil : reference(key)
        default: next = nil
        }
        for step in source.path.dropFirst() {
            guard let known = next, let row = try self.row(known), let table = schema.table(known.table) else { return .null }
            next = table.reference(step.index, in: row)
        }
        guard let end = next, let last = try self.row(end), let table = schema.table(end.table) else { return .null }
        return table.value(source.attribute.index, source.kind, in: last)
    }

    /// The sum of an attribute over rows.
    struct Sum {
        private(set) var total: PredicateNumber? = .integer(0)

        /// Adds a member's value; ignores null.
        mutating func add(_ member: RowReference, _ source: Derivation.Source, in scope: DerivationScope) throws {
            if let row = try scope.row(member) { add(row, source, in: scope.schema) }
        }

        mutating func add(_ row: UnsafeRowView, _ source: Derivation.Source, in schema: RecordLogSchema) {
            guard let table = schema.table(row.reference.table), let access = table.runtime.access(source.attribute.index, in: row),
                let known = total
            else { return }
            let number: PredicateNumber = switch source.raw {
            case .double: .double(row.double(access))
            case .decimal: .decimal(Decimal(row.decimal(access)))
            default: .integer(row.int64(access))
            }
            total = PredicateNumber.combine(.add, known, number)
        }
    }
}

extension EntityTable {
    /// Returns the destination of a row's to-one relationship; nil for null.
    func reference(_ property: Int, in row: UnsafeRowView) -> RowReference? {
        guard let access = runtime.access(property, in: row) else { return nil }
        let reference = row.reference(access)
        return reference.isNone ? nil : reference
    }

    /// Returns the value of an attribute that the row itself contains.
    func value(_ property: Int, _ kind: PropertyKind, in row: UnsafeRowView) -> ManagedValue {
        guard let access = runtime.access(property, in: row) else { return .null }
        return ManagedValue(row: row, access: access, kind: kind, slotBase: 0)
    }

    /// Whether a column has the same value in two versions of a row.
    func isEqual(_ property: Int, _ a: UnsafeRowView, _ b: UnsafeRowView) -> Bool {
        switch (runtime.access(property, in: a), runtime.access(property, in: b)) {
        case (nil, nil): return true
        case (let x?, let y?):
            let kind = runtime.properties[property].kind
            if x.type.slotSize == nil, y.type.slotSize == nil { return a.bytes(x).elementsEqual(b.bytes(y)) }
            return ManagedValue(row: a, access: x, kind: kind, slotBase: 0).isEqual(to: ManagedValue(row: b, access: y, kind: kind, slotBase: 0))
        default: return false
        }
    }

    /// Whether two versions of a row differ only in derived attributes.
    package func isEqualButDerived(_ a: UnsafeRowView, _ b: UnsafeRowView) -> Bool {
        guard let derivations else { return false }
        return positions.indices.allSatisfy { property in
            positions[property] == nil || derivations.contains { $0.property == property } || isEqual(property, a, b)
        }
    }
}
