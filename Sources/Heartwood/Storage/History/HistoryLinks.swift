import RecordLog

/// The to-many relationships that a transaction has changed, found by comparing its rows with the base. All writers are covered, with or
/// without a context.
///
/// A row of a join table changes both of its ends. A to-one column changes its old and its new owner. Memory: a bit for each changed row and
/// relationship.
struct HistoryLinks {
    /// One relationship of a table's rows.
    private struct Side: Hashable {
        let table: TableID
        let property: Int
    }

    private let transaction: Transaction
    private let schema: RecordLogSchema
    private var sides: [Side: RowSet] = [:]
    /// The rows of all sides.
    private var touched = RowSet()

    private var base: Snapshot { transaction.base }

    init(_ transaction: Transaction, _ schema: RecordLogSchema) {
        self.transaction = transaction
        self.schema = schema
    }

    var isEmpty: Bool { touched.count == 0 }

    /// Gives the rows of a table with a changed relationship, ascending.
    func rows(of table: TableID) -> RowSet.Numbers { touched.rows(of: table) }

    /// Returns the changed relationships of a row, ascending.
    func properties(of row: RowReference, in table: EntityTable) -> [Int] {
        guard touched.contains(row) else { return [] }
        return table.members.indices.filter { sides[Side(table: table.id, property: $0)]?.contains(row) == true }
    }

    private mutating func mark(_ row: RowReference, _ property: Int) {
        sides[Side(table: row.table, property: property), default: RowSet()].insert(row)
        touched.insert(row)
    }

    // MARK: Pairs

    /// Collects the changes of a join table's rows.
    mutating func note(_ link: JoinTable) throws {
        var pass = self
        try transaction.forEachChange(in: link.id) { (reference, isNew, isDeleted) throws in
            let old = isNew ? nil : try pass.base.unsafeRow(reference)
            let new = isDeleted ? nil : try pass.transaction.unsafeRow(reference)
            guard let pair = new ?? old else { return }
            func isMoved(_ position: Int) -> Bool {
                guard let old, let new else { return true }
                return old.int64(link.layout.access[position]) != new.int64(link.layout.access[position])
            }
            let hasStayed = old != nil && new != nil
            if !hasStayed || link.isOrdered && isMoved(JoinTable.orderPosition) {
                pass.mark(pair.reference(link.layout.access[JoinTable.sourcePosition]), link, isForward: true)
            }
            if !hasStayed || link.inverse != nil && isMoved(JoinTable.inverseOrderPosition) {
                pass.mark(pair.reference(link.layout.access[JoinTable.destinationPosition]), link, isForward: false)
            }
        }
        self = pass
    }

    private mutating func mark(_ row: RowReference, _ link: JoinTable, isForward: Bool) {
        guard let members = schema.table(row.table)?.members else { return }
        for (property, source) in members.enumerated() {
            guard case .link(let own, isForward)? = source, own === link else { continue }
            mark(row, property)
        }
    }

    // MARK: Columns

    /// Collects the old and new owners in the to-one columns of a table's changed rows.
    /// - Parameter assigned: the only properties that can have changed; empty where this is unknown.
    mutating func note(_ table: EntityTable, assigned: [Int]) throws {
        let columns = table.positions.indices.filter { property in
            let found = table.runtime.properties[property]
            return table.positions[property] != nil && found.kind == .toOne && found.inverse != nil && found.inverseIsToMany
                && (assigned.isEmpty || assigned.contains(property))
        }
        guard !columns.isEmpty else { return }
        var pass = self
        try transaction.forEachChange(in: table.id) { (reference, isNew, isDeleted) throws in
            let old = isNew ? nil : try pass.base.unsafeRow(reference)
            let new = isDeleted ? nil : try pass.transaction.unsafeRow(reference)
            for property in columns {
                let before = old.flatMap { table.reference(property, in: $0) }, after = new.flatMap { table.reference(property, in: $0) }
                guard before != after, let inverse = table.runtime.properties[property].inverse else { continue }
                if let before { pass.mark(owner: before, inverse) }
                if let after { pass.mark(owner: after, inverse) }
            }
        }
        self = pass
    }

    private mutating func mark(owner: RowReference, _ property: Int) {
        // The join table of an ordered relationship has reported the change already.
        guard let members = schema.table(owner.table)?.members, property < members.count, case .inverse? = members[property] else { return }
        mark(owner, property)
    }
}
