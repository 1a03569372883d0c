import RecordLog

/// A query of one entity's rows, compiled to a test and an order. For stores whose rows are in no record log.
package struct TableQuery {
    package let table: EntityTable
    /// nil where every row passes.
    package let test: RowFilter?
    /// nil for any order.
    package let order: RowOrder?
    /// The only rows of the table that can pass, in ascending order; nil where the test names none.
    package let rows: [RowReference]?

    /// - Parameter related: what test and order may read beside the row itself.
    /// - Returns: nil where the rows do not suffice.
    package init?(_ query: StoreQuery, _ table: EntityTable, slotBase: UInt64, related: RelatedRows? = nil) {
        var test: RowFilter?, order: RowOrder?
        if let predicate = query.predicate {
            guard let compiled = PredicateCompiler(table: table, view: nil, related: related, slotBase: slotBase).compile(predicate) else { return nil }
            test = compiled
        }
        if !query.sort.isEmpty {
            guard let compiled = RowOrder(query.sort, table: table, readsOtherRows: related != nil) else { return nil }
            order = compiled
        }
        (self.table, self.test, self.order) = (table, test, order)
        rows = test?.namedRows.map { rows in rows.filter { $0.table == table.id }.sorted { $0.rawValue < $1.rawValue } }
    }
}

extension RowFilter {
    /// The only rows that can pass, if the test names them.
    fileprivate final var namedRows: Set<RowReference>? {
        switch self {
        case let test as IdentityFilter: test.isNegated ? nil : test.constants
        case let test as ConstantFilter: test.value ? nil : []
        case let test as AllFilter: test.tests.lazy.compactMap(\.namedRows).first
        case let test as AnyFilter:
            test.tests.reduce(Set<RowReference>() as Set<RowReference>?) { all, test in all.flatMap { all in test.namedRows.map { all.union($0) } } }
        default: nil
        }
    }
}
