import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Writes one save in a transaction.
///
/// Two round trips, whatever the number of objects: the first locks the rows that the save changes, and reads what decides about it: versions,
/// holders of unique values, pairs. The second writes and commits. A save that only inserts objects skips the first, unless the merge policy
/// expects that others have their unique values (3).
///
/// (1) Rows are locked in the order of their families and numbers, so that two saves do not wait for each other in a circle.
/// (2) A statement may not see the effects of another save that commits meanwhile on rows that are not locked: a unique index and the foreign keys
///     decide then, and the save runs again.
/// (3) A save of new objects alone leaves the first round trip out where nothing but unique values would be read: conflicts are rare, and by (2) the
///     index finds them too.
struct PostgreSQLSave {
    private let batch: SaveBatch
    private let layout: PostgreSQLLayout
    private let connection: PostgreSQLConnection
    private let numbers: NumberBlocks
    /// Reads by the save's connection, and keeps the rows as long as the save.
    private let view: PostgreSQLView
    private let copies: RowCopies?
    private let isNumbered: Bool
    /// Whether the save runs again, so that its new objects have their keys.
    private let isAgain: Bool
    /// Whether the save may run again, where a unique index refuses a row.
    private let isRepeatable: Bool

    private var inserted: [SavedRow] = []
    private var updated: [SavedRow] = []
    private var deleted: [(object: SavedObject, key: ObjectKey, entity: BoundEntity)] = []
    private var unique: UniqueCheck
    private var links: LinkSave
    /// nil for a store without a history.
    private var changes: HistoryChanges?
    /// nil for a model without derived attributes.
    private var derived: DerivedSave?
    /// The number that the history gave the transaction; 0 for none.
    private(set) var recordedNumber: Int64 = 0

    /// - Parameters:
    ///   - copies: the rows that the context has read; nil where it has read none.
    ///   - isRepeatable: whether the caller runs the save again behind an error that may pass.
    init(
        _ batch: SaveBatch, _ store: PostgreSQLStore.Loaded, _ connection: PostgreSQLConnection, _ view: PostgreSQLView, _ copies: RowCopies?,
        isAgain: Bool, isRepeatable: Bool
    ) {
        (self.batch, layout, self.connection, numbers, self.view, self.copies) = (batch, store.layout, connection, store.numbers, view, copies)
        (isNumbered, self.isAgain, self.isRepeatable) = (store.abilities.numbersTransactions, isAgain, isRepeatable)
        changes = store.keepsHistory ? HistoryChanges(store.layout) : nil
        unique = UniqueCheck(layout)
        links = LinkSave([], layout)
        derived = DerivedSave(layout, connection, view)
        if derived != nil { batch.forgetDerived() }
    }

    private func objects(_ kind: SaveBatch.Kind) -> [SavedObject] { batch.objects(kind, layout.schema, slotBase: layout.slotBase) }

    /// Runs the transaction. `finish` has to follow once it is committed.
    /// - Parameter last: statements at the end of the transaction.
    /// - Throws: `VersionConflicts`, `ConstraintViolations`, a `PostgreSQLError`. Nothing is committed then, unless the connection was lost.
    mutating func run(_ trace: TransactionTrace, _ last: (inout PostgreSQLBatch) throws -> Void) throws {
        try assignNumbers()
        for object in objects(.inserted) { inserted.append(try newRow(object)) }
        try gatherUpdated()
        try deriveFromItself()
        for object in objects(.deleted) {
            guard let key = object.key, let entity = layout.entity(of: key) else { continue }
            deleted.append((object, key, entity))
            unique.release(key, entity)
        }
        if !leavesUniqueToIndex { for row in inserted + updated { try unique.add(row) } }
        links = LinkSave(inserted + updated, layout)
        let results = try readFirst(trace)
        try write(results, trace, last)
    }

    /// Gives the objects what the commit has made of them.
    func finish() {
        let written = inserted + changed
        for row in written { row.object?.give(version: row.version) }
        keep(written)
    }

    /// See (3).
    private var leavesUniqueToIndex: Bool {
        isRepeatable && !isAgain && !batch.expectsConflicts && updated.isEmpty && deleted.isEmpty && objects(.checked).isEmpty
    }

    private var changed: [SavedRow] { updated.filter { !$0.values.isEmpty } }

    // MARK: Gathering

    /// Rows refer to each other, so numbers come first.
    private func assignNumbers() throws {
        // A commit that got no answer is known by the numbers of its rows.
        let new = objects(.inserted).filter { $0.needsKey && !(isAgain && $0.key != nil) }
        for (family, objects) in Dictionary(grouping: new, by: { (try? layout.entity(of: $0.table()).family) ?? 0 }) {
            let given = try numbers.take(objects.count, of: family, layout) { try connection.execute($0, $1) }
            for (object, number) in zip(objects, given) {
                object.give(ObjectKey(slot: try object.table().runtime.slot, row: UInt64(number)))
            }
        }
    }

    private func newRow(_ object: SavedObject) throws -> SavedRow {
        guard let key = object.key else { throw object.missing() }
        return try SavedRow(object, layout.entity(of: try object.table()), key, over: nil)
    }

    private mutating func gatherUpdated() throws {
        let objects = objects(.updated)
        var bases: [ObjectKey: UnsafeRowView] = [:], missing: [ObjectKey] = []
        for object in objects {
            object.give(version: 0)
            guard let key = object.key else { continue }
            if object.readVersion != 0, let row = copies?.rows.row(key, layout.reference(key), version: object.readVersion) {
                bases[key] = row
            } else {
                missing.append(key)
            }
        }
        // Objects that were changed without being read.
        try view.rows(missing) { key, row in if let row { bases[key] = row } }
        for object in objects {
            guard let key = object.key, let entity = layout.entity(of: key) else { continue }
            guard !object.isRevived || bases[key] != nil else {
                let row = try SavedRow(object, entity, key, over: nil)
                row.version = Self.versionOfRevived
                inserted.append(row)
                continue
            }
            let row = try SavedRow(object, entity, key, over: bases[key])
            row.version = RowVersion.after(bases[key]?.version ?? 0)
            updated.append(row)
        }
    }

    /// No version names two contents of a row, so one that is written again gets a version of its own: the time.
    private static var versionOfRevived: UInt32 {
        1 << 30 | UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSinceReferenceDate * 16)) & (1 << 30 - 1)
    }

    // MARK: The first round trip

    /// - Returns: the answers; none where nothing has to be read.
    private mutating func readFirst(_ trace: TransactionTrace) throws -> [PostgreSQLResult] {
        let checked = objects(.checked)
        let known = updated.compactMap(\.object) + deleted.map(\.object) + checked
        var reading = PostgreSQLBatch()
        let number = TransactionTrace.begin(PostgreSQLTransaction(), layout, numbered: isNumbered, in: &reading), head = reading.count
        var locks: [Int] = []
        for (family, keys) in layout.byFamily(known.compactMap(\.key)) {
            locks.append(reading.count)
            try addLock(keys, family, to: &reading)
        }
        try unique.addReading(to: &reading)
        try links.addReading(to: &reading)
        // New rows tell by themselves whether a commit took place, since no other client has their numbers.
        let isTold = inserted.allSatisfy { $0.version == 1 }
        if isTold, let row = inserted.first { trace.newRow = (layout.families[row.entity.family], Int64(row.key.row)) }
        trace.isRepeatable = inserted.isEmpty && reading.count == head
        guard reading.count > head || !isTold else { return [] }
        let results = try connection.execute(reading)
        if let number { try trace.note(results[number]) }
        var versions: [ObjectKey: UInt32] = [:]
        for place in locks {
            for line in 0..<results[place].count {
                guard let key = layout.key(try results[place].int64(line, 0), try results[place].int16(line, 1)) else { continue }
                versions[key] = RowVersion.of(try results[place].int32(line, 2))
            }
        }
        try check(known, versions)
        try unique.check(results)
        return results
    }

    private func addLock(_ keys: [ObjectKey], _ family: FamilyTable, to batch: inout PostgreSQLBatch) throws {
        var parameters = PostgreSQLParameters()
        let condition = try PostgreSQLView.numbers(keys, &parameters)
        let statement = layout.writing.statement(.lock(table: family.quoted, isOne: keys.count == 1)) {
            "SELECT \(FamilyTable.number), \(FamilyTable.entity), \(FamilyTable.version) FROM \(family.quoted)"
                + " WHERE \(FamilyTable.number) \(condition) ORDER BY \(FamilyTable.number) FOR NO KEY UPDATE"
        }
        batch.add(statement, parameters)
    }

    /// - Throws: `VersionConflicts` if rows are not at the versions that the objects read; 133000 for a row that is gone.
    private mutating func check(_ objects: [SavedObject], _ versions: [ObjectKey: UInt32]) throws {
        var conflicts = objects.filter { $0.readVersion != 0 && $0.key.flatMap { versions[$0] } != $0.readVersion }
        if derived != nil, !conflicts.isEmpty { conflicts = try leavingOutDerived(conflicts) }
        guard conflicts.isEmpty else { throw VersionConflicts(conflicts, known: nil) }
        for row in updated {
            guard let version = versions[row.key] else {
                if !row.values.isEmpty, let object = row.object { throw object.missing() }
                continue
            }
            row.version = RowVersion.after(version)
        }
    }

    // MARK: The second round trip

    private mutating func write(_ results: [PostgreSQLResult], _ trace: TransactionTrace, _ last: (inout PostgreSQLBatch) throws -> Void) throws {
        var writing = PostgreSQLBatch()
        if results.isEmpty { _ = TransactionTrace.begin(PostgreSQLTransaction(), layout, numbered: false, in: &writing) }
        try addRows(to: &writing)
        var members: [(owner: ObjectKey, property: Int, members: [ObjectKey])] = []
        try links.addWriting(to: &writing, results) { members.append(($0, $1, $2)) }
        if try derive(writing, members) { writing = PostgreSQLBatch() }
        let record = try addHistory(members, to: &writing)
        try last(&writing)
        let answers = try trace.commit(writing, connection)
        if let record { recordedNumber = try answers[record].int64(0, 0) }
    }

    private mutating func addHistory(
        _ members: [(owner: ObjectKey, property: Int, members: [ObjectKey])], to writing: inout PostgreSQLBatch
    ) throws -> Int? {
        guard var changes else { return nil }
        for row in inserted + updated { try changes.note(row) }
        for (owner, property, members) in members { changes.note(members, of: owner, property) }
        for (object, key, entity) in deleted {
            let row = copies?.rows.row(key, layout.reference(key), version: object.readVersion)
            try changes.note(deleted: key, entity, row) { access, row in
                try LargeMark.data(access, of: row, layout) { try connection.execute($0, $1) }
            }
        }
        for (key, row) in derived?.written ?? [:] { changes.note(.update, key, updated: row.names) }
        self.changes = changes
        return changes.isEmpty ? nil : try changes.add(to: &writing, batch.origin)
    }

    /// Deletions come first, since they free unique values; then changes, then new rows.
    private func addRows(to writing: inout PostgreSQLBatch) throws {
        try RowGroups.add(deletions: deleted.map(\.key), layout, to: &writing)
        try RowGroups.add(changes: updated, layout, to: &writing, connection)
        try RowGroups.add(insertions: inserted, layout, to: &writing, connection)
    }

    // MARK: Derived attributes

    private mutating func deriveFromItself() throws {
        guard let derived else { return }
        for row in inserted + changed { try derived.complete(row) }
    }

    /// The objects whose rows differ from those that they read in more than derived attributes. The others are changed over the rows as they are.
    private mutating func leavingOutDerived(_ conflicts: [SavedObject]) throws -> [SavedObject] {
        var rows: [ObjectKey: UnsafeRowView] = [:]
        try view.rows(conflicts.compactMap(\.key)) { key, row in rows[key] = row }
        let others = conflicts.filter { object in
            guard let key = object.key, let row = rows[key], let read = copies?.rows.row(key, layout.reference(key), version: object.readVersion),
                let table = try? object.table(), table.isEqualButDerived(row, read)
            else { return true }
            return false
        }
        let real = Set(others.compactMap(\.key))
        for index in updated.indices where !real.contains(updated[index].key) {
            let row = updated[index]
            guard let newest = rows[row.key], let object = row.object else { continue }
            updated[index] = try SavedRow(object, row.entity, row.key, over: newest)
            if !updated[index].values.isEmpty { try derived?.complete(updated[index]) }
        }
        return others
    }

    /// Computes the derived attributes that the save affects, once its rows are written.
    /// - Returns: false if nothing is affected; nothing is written then.
    private mutating func derive(
        _ writing: PostgreSQLBatch, _ members: [(owner: ObjectKey, property: Int, members: [ObjectKey])]
    ) throws -> Bool {
        guard var derived else { return false }
        for (owner, property, members) in members { derived.note(members, of: owner, property) }
        for row in inserted + changed { try derived.note(row) }
        if !deleted.isEmpty {
            try view.rows(deleted.map(\.key)) { _, row in if let row { derived.note(deleted: row) } }
            try derived.notePairs(of: deleted.map(\.key))
        }
        guard derived.isDue else { return false }
        try connection.execute(writing)
        try derived.run()
        var others = derived.written
        for row in inserted + updated { try derived.give(to: row, &others) }
        for (key, row) in others { if let from = row.from { batch.noteDerived(key, from: from, to: row.to) } }
        self.derived = derived
        return true
    }

    /// Keeps the rows as they are now, so that the context does not read them again.
    private func keep(_ rows: [SavedRow]) {
        guard let copies else { return }
        let builder = RowBuilder()
        for row in rows where (try? row.build(with: builder, layout)) != nil {
            _ = copies.rows.keep(builder.unsafeBody(), row.key, layout.reference(row.key), version: row.version)
        }
    }
}
