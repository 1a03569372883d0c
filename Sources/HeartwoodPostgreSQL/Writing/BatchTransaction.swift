import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// One transaction of a batch request.
struct BatchTransaction {
    let layout: PostgreSQLLayout
    private let connection: PostgreSQLConnection
    private let numbers: NumberBlocks
    private let isNumbered: Bool
    /// Reads within the transaction.
    private let view: PostgreSQLView
    var outcome: BatchOutcome
    private(set) var hasWritten = false
    /// The number that the history gave the transaction; 0 for none.
    private(set) var recordedNumber: Int64 = 0
    /// nil for a store without a history.
    private var changes: HistoryChanges?
    /// nil for a model without derived attributes.
    private var derived: DerivedSave?

    /// The most rows of a statement.
    private static let rowsMax = 1_000

    init(
        _ store: PostgreSQLStore.Loaded, _ connection: PostgreSQLConnection, _ view: PostgreSQLView, _ outcome: BatchOutcome
    ) {
        (layout, self.connection, numbers, self.view, self.outcome) = (store.layout, connection, store.numbers, view, outcome)
        isNumbered = store.abilities.numbersTransactions
        changes = store.keepsHistory ? HistoryChanges(store.layout) : nil
        derived = DerivedSave(layout, connection, view)
    }

    /// Begins the transaction. The rows that the request reads stay as they are until it writes them, or the server reports that others changed
    /// them.
    func begin(_ trace: TransactionTrace) throws {
        var first = PostgreSQLBatch()
        let number = TransactionTrace.begin(PostgreSQLTransaction(.repeatableRead), layout, numbered: isNumbered, in: &first)
        let results = try connection.execute(first)
        if let number { try trace.note(results[number]) }
    }

    /// Records the transaction in the history, and commits it.
    mutating func commit(_ origin: TransactionOrigin, _ trace: TransactionTrace) throws {
        if derived?.isDue == true { try derived?.run() }
        for (key, row) in derived?.written ?? [:] { changes?.note(.update, key, updated: row.names) }
        var last = PostgreSQLBatch()
        let record = try changes.flatMap { $0.isEmpty ? nil : try $0.add(to: &last, origin) }
        let results = try trace.commit(last, connection)
        recordedNumber = try record.map { try results[$0].int64(0, 0) } ?? 0
    }

    private func entity(_ runtime: EntityRuntime) throws -> BoundEntity {
        layout.entity(of: try layout.schema.table(of: runtime, slotBase: layout.slotBase))
    }

    // MARK: Inserting

    /// Inserts rows up to the last one, or to the number of rows for one commit.
    mutating func insert(_ insertion: BatchInsertion) throws {
        let entity = try entity(insertion.runtime)
        var left = insertion.rowsPerCommit == 0 ? Int.max : insertion.rowsPerCommit
        while left > 0, !insertion.rows.isAtEnd {
            let (rows, fault) = try gather(insertion, entity, min(left, Self.rowsMax))
            left -= rows.count
            try insert(rows, insertion)
            // The rows before an invalid one may have an error of their own, which comes first.
            if let fault { throw fault }
            guard !rows.isEmpty else { return }
        }
    }

    /// Inserts rows in their order, as many as possible at once. A row that conflicts with one before it, or with a stored one, is inserted alone.
    private mutating func insert(_ rows: [GivenRow], _ insertion: BatchInsertion) throws {
        guard !rows.isEmpty else { return }
        let contested = try contested(rows.map(\.row))
        var free: [SavedRow] = []
        for row in rows {
            guard contested.contains(row.row.key) else {
                try demandRequired(row.row)
                free.append(row.row)
                continue
            }
            try write(insertions: free, insertion)
            free = []
            try insertContested(row, insertion)
        }
        try write(insertions: free, insertion)
    }

    private struct GivenRow {
        let row: SavedRow
        let values: [ManagedValue]
        /// The properties that the request names.
        let named: [Int]
    }

    /// Takes the next rows of a request.
    /// - Returns: the rows up to the first one that cannot be inserted, and the error of that one.
    private func gather(
        _ insertion: BatchInsertion, _ entity: BoundEntity, _ count: Int
    ) throws -> (rows: [GivenRow], fault: (any Error)?) {
        var given: [(values: [ManagedValue], named: [Int])] = [], fault: (any Error)?
        do {
            while given.count < count, try insertion.rows.next() { given.append((insertion.rows.values, insertion.rows.named)) }
        } catch {
            fault = error
        }
        var rows: [GivenRow] = []
        for (place, given) in given.enumerated() {
            // A row gets its number once it is written.
            let key = ObjectKey(slot: entity.table.runtime.slot, row: ObjectKey.temporaryBit | UInt64(place + 1))
            do {
                let row = try SavedRow(entity, key, over: nil, given.values, slotBase: layout.slotBase)
                if insertion.policy == .errorMergePolicyType { try demandRequired(row) }
                rows.append(GivenRow(row: row, values: given.values, named: given.named))
            } catch {
                return (rows, error)
            }
        }
        return (rows, fault)
    }

    private func demandRequired(_ row: SavedRow) throws {
        for (place, field) in row.entity.fields.enumerated() {
            let description = row.entity.table.runtime.entity.propertiesByIndex[field.property]
            guard description is NSAttributeDescription, !(description is NSDerivedAttributeDescription), !description.isOptional,
                case .null = try row.value(place)
            else { continue }
            throw BatchValues.missing(description.name, of: row.entity.table.runtime.entity)
        }
    }

    private func conflicts(_ rows: [SavedRow]) throws -> [UniqueCheck.Conflict] {
        var check = UniqueCheck(layout)
        for row in rows { try check.add(row) }
        var reading = PostgreSQLBatch()
        try check.addReading(to: &reading)
        return try check.conflicts(try connection.execute(reading))
    }

    /// The rows whose unique values another row has, in the store or among them.
    private func contested(_ rows: [SavedRow]) throws -> Set<ObjectKey> { Set(try conflicts(rows).flatMap(\.rows).map(\.key)) }

    private mutating func write(insertions rows: [SavedRow], _ insertion: BatchInsertion) throws {
        guard let family = rows.first?.entity.family else { return }
        var writing = PostgreSQLBatch()
        for (row, number) in zip(rows, try numbers.take(rows.count, of: family, layout, { try connection.execute($0, $1) })) {
            row.key = ObjectKey(slot: row.entity.table.runtime.slot, row: UInt64(number))
            try derived?.complete(row)
        }
        try RowGroups.add(insertions: rows, layout, to: &writing, connection)
        try connection.execute(writing)
        hasWritten = true
        for row in rows {
            try changes?.note(row)
            try derived?.note(row)
            insertion.counted.make(layout.reference(row.key))
            outcome.add(row.key)
        }
    }

    /// Applies the merge policy to a row whose unique values another row may have. That may be of another entity of the family.
    private mutating func insertContested(_ given: GivenRow, _ insertion: BatchInsertion) throws {
        guard let conflict = try conflicts([given.row]).first(where: { $0.holder != nil }), let holder = conflict.holder else {
            try demandRequired(given.row)
            return try write(insertions: [given.row], insertion)
        }
        var named = given.named
        switch insertion.policy {
        case .errorMergePolicyType: throw BatchConstraintViolation(conflict.constraint.attributes, holder: holder)
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: return
        case .mergeByPropertyObjectTrumpMergePolicyType: break
        case .overwriteMergePolicyType: named = Array(Set(given.row.entity.attributeProperties).union(named))
        }
        guard let owner = layout.entity(of: holder), let row = try view.row(holder) else { return }
        var values = [ManagedValue](repeating: .unset, count: owner.table.runtime.properties.count)
        for property in named {
            let own = given.row.entity.table.runtime.properties[property]
            guard let index = owner.table.runtime.index(of: own.name), owner.table.runtime.properties[index].kind == own.kind else { continue }
            values[index] = given.values[property]
        }
        let new = try SavedRow(owner, holder, over: row, values, slotBase: layout.slotBase)
        new.version = RowVersion.after(row.version)
        // The new values may violate another constraint.
        try change([new])
        if insertion.counted.update(layout.reference(holder)) { outcome.add(holder) }
    }

    // MARK: Updating

    mutating func update(_ update: BatchUpdate) throws {
        var plans = try BatchUpdatePlans(update, layout.schema, slotBase: layout.slotBase)
        let scope = QueryScope(related: nil)
        var rows: [SavedRow] = []
        for row in try targets(update.target) {
            guard let entity = layout.entity(row.reference.table) else { continue }
            let values = try plans.values(of: row, entity.table, scope)
            let changed = try SavedRow(entity, layout.key(row.reference), over: row, values, slotBase: layout.slotBase)
            changed.version = RowVersion.after(row.version)
            rows.append(changed)
        }
        try change(rows, assigned: Set(update.values.map(\.name)))
        for row in rows { outcome.add(row.key) }
    }

    /// The rows that the request targets.
    private func targets(_ target: BatchTarget) throws -> [UnsafeRowView] {
        switch target {
        case .query(let query):
            guard let run = try PostgreSQLQuery(query, view) else { throw UnansweredQuery() }
            return try run.rows().0
        case .keys(let keys):
            var found: [UnsafeRowView] = []
            try view.rows(keys) { _, row in if let row { found.append(row) } }
            return found
        }
    }

    /// - Parameter assigned: the names of properties that the history has beside those that change.
    /// - Throws: `BatchConstraintViolation` where two rows would have the same unique values. Rows may exchange theirs.
    private mutating func change(_ rows: [SavedRow], assigned: Set<String> = []) throws {
        let rows = rows.filter { !$0.values.isEmpty }
        guard !rows.isEmpty else { return }
        for row in rows { try derived?.complete(row) }
        if let conflict = try conflicts(rows).first, let holder = conflict.holder ?? conflict.rows.first?.key {
            throw BatchConstraintViolation(conflict.constraint.attributes, holder: holder)
        }
        var writing = PostgreSQLBatch()
        try RowGroups.add(changes: rows, layout, to: &writing, connection)
        try connection.execute(writing)
        for row in rows {
            try changes?.note(row)
            try derived?.note(row)
            if !assigned.isEmpty { changes?.note(.update, row.key, updated: assigned) }
        }
        hasWritten = true
    }

    // MARK: Deleting

    /// Deletes rows and applies the delete rules of their relationships.
    mutating func delete(_ target: BatchTarget) throws {
        let asked = try targets(target).map { layout.key($0.reference) }
        var deletion = BatchDeletion(layout, view, connection, changes, derived)
        let doomed = try deletion.run(asked)
        (changes, derived) = (deletion.changes, deletion.derived)
        guard !doomed.isEmpty else { return }
        hasWritten = true
        let counted = Set(asked)
        for key in doomed { outcome.add(key, isCounted: counted.contains(key)) }
    }
}

extension BoundEntity {
    /// The properties of the fields that are attributes.
    fileprivate var attributeProperties: [Int] { fields.filter { $0.kind != .toOne }.map(\.property) }
}
