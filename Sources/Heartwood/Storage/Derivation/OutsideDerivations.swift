import Foundation
import RecordLog

/// The derived attributes of a store that keeps its rows elsewhere than in a record log: the rows that a change affects, and the values that they
/// get. The store finds and writes rows by its own means.
package struct OutsideDerivations {
    private let schema: RecordLogSchema
    private let watches: DerivationWatches

    /// nil where the model has no derived attributes.
    package init?(_ schema: RecordLogSchema) {
        guard let watches = schema.derivations else { return nil }
        (self.schema, self.watches) = (schema, watches)
    }

    package func derives(_ table: TableID) -> Bool { schema.table(table)?.derivations != nil }

    /// The derived attributes of a table.
    package func properties(of table: EntityTable) -> [Int] { table.derivations?.map(\.property) ?? [] }

    // MARK: What a change affects

    /// A step from rows to those that refer to them.
    package enum Step: Hashable {
        /// By a to-one relationship of these tables.
        case references([Reference])
        /// By the pairs of a relationship's table.
        case pairs(TableID, isForward: Bool)

        package struct Reference: Hashable {
            package let table: TableID
            package let property: Int
        }
    }

    /// The rows whose derived attributes a change may affect.
    package struct Affected {
        package fileprivate(set) var rows: [RowReference] = []
        /// Ways from the changed row to others.
        package fileprivate(set) var ways: [[Step]] = []
    }

    /// - Parameters:
    ///   - old: the row before the change; nil for none.
    ///   - new: the row behind it; nil for none.
    ///   - isNew: whether nothing ever referred to the row before.
    package func affected(_ reference: RowReference, from old: UnsafeRowView?, to new: UnsafeRowView?, isNew: Bool) -> Affected {
        var found = Affected()
        guard let table = schema.table(reference.table) else { return found }
        for watch in watches[reference.table] {
            func isChanged() -> Bool {
                guard let old, let new else { return true }
                return watch.properties.contains { !table.isEqual($0, old, new) }
            }
            switch watch.way {
            case .own:
                guard let new else { continue }
                let isDue = old == nil ? !isNew || watch.properties.contains { table.reference($0, in: new) != nil } : isChanged()
                if isDue { found.rows.append(reference) }
            case .member(let column, _):
                let before = old.flatMap { table.reference(column, in: $0) }, after = new.flatMap { table.reference(column, in: $0) }
                if before != after || isChanged() { found.rows += [before, after].compactMap(\.self) }
            case .pair: continue
            case .back(let steps):
                if !isNew, isChanged() { found.ways.append(steps.compactMap(step)) }
            }
        }
        return found
    }

    /// The rows that a pair affects which comes or goes.
    package func affected(byPairOf link: TableID, from source: RowReference, to destination: RowReference) -> [RowReference] {
        watches[link].compactMap { watch in
            guard case .pair(_, let isForward) = watch.way else { return nil }
            return isForward ? source : destination
        }
    }

    private func step(_ source: MemberSource) -> Step? {
        switch source {
        case .link(let link, let isForward): .pairs(link.id, isForward: isForward)
        case .inverse(let tables):
            .references(tables.compactMap { table, index in
                let property = schema.table(table)?.indexes.first { $0.id == index }?.parts.first?.property
                return property.map { Step.Reference(table: table, property: $0) }
            })
        }
    }

    // MARK: Values

    /// Adds the values that a row derives from itself, for a row that is about to be written. A new row begins with counts and sums of nothing.
    /// - Parameters:
    ///   - values: by property index; an unset value stays as in `row`.
    ///   - row: the row to replace; nil for a new one.
    package func completing(_ values: [ManagedValue], of row: UnsafeRowView?, in table: EntityTable) throws -> [ManagedValue] {
        try scope(nil).completing(values, of: row, in: table) { !$0.isOverRows }
    }

    /// The values of a row's derived attributes by property index; others are unset.
    /// - Parameter leavesOut: whether a number that does not fit its attribute becomes null.
    /// - Throws: 1610 where a number does not fit.
    package func values(of row: UnsafeRowView, from source: any DerivationSource, leavesOut: Bool) throws -> [ManagedValue] {
        guard let table = schema.table(row.reference.table), let derivations = table.derivations else { return [] }
        var values = [ManagedValue](repeating: .unset, count: table.runtime.properties.count)
        for derivation in derivations {
            do {
                values[derivation.property] = try value(of: derivation, values, row, table, source)
            } catch where leavesOut && CoreDataError.isCode(NSValidationNumberTooLargeError, error) {
                values[derivation.property] = .null
            }
        }
        return values
    }

    private func value(
        of derivation: Derivation, _ values: [ManagedValue], _ row: UnsafeRowView, _ table: EntityTable, _ source: any DerivationSource
    ) throws -> ManagedValue {
        switch derivation.form {
        case .now: return .unset
        case .count(let relationship): return try derivation.stored(.integer(Int64(try source.count(of: row.reference, relationship.index))))
        case .sum(let relationship, let attribute):
            var sum = DerivationScope.Sum()
            for member in try source.members(of: row.reference, relationship.index) {
                if let row = try source.member(member) { sum.add(row, attribute, in: schema) }
            }
            return try derivation.stored(sum.total)
        case .copy, .function: return try scope(source).value(of: derivation, values, row, table)
        }
    }

    private func scope(_ source: (any DerivationSource)?) -> DerivationScope { DerivationScope(source, schema: schema) }
}

/// What a store tells of its rows while values are derived from them.
package protocol DerivationSource {
    /// A row that a to-one relationship leads to, in whose attributes or references the value has its source.
    func row(_ reference: RowReference) throws -> UnsafeRowView?
    /// A row whose attribute is part of a sum.
    func member(_ reference: RowReference) throws -> UnsafeRowView?
    func count(of owner: RowReference, _ relationship: Int) throws -> Int
    /// In the order of the relationship.
    func members(of owner: RowReference, _ relationship: Int) throws -> [RowReference]
}
