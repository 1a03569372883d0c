import Foundation
import RecordLog

/// Writes the changes that a transaction has made to objects as one row of the history.
///
/// The transaction knows which rows it has written, and the recorder compares them with the base. So every writer is recorded: saves,
/// batches, cascades, upserts and derived attributes. Nothing has to be remembered for the history before.
/// - Complexity: O(rows changed). Memory: some KiB, and a bit for each row whose to-many relationships have changed.
struct HistoryRecorder {
    private let transaction: Transaction
    private let schema: RecordLogSchema
    private let assigned: [String]
    private var links: HistoryLinks
    private var encoder = HistoryEncoder()
    /// The changed properties of the current update.
    private var changed: [Int] = []

    private var base: Snapshot { transaction.base }

    /// Bytes that are collected before they are written to the log.
    private static let pieceSize = 32 << 10

    /// - Parameter assigned: the properties that a batch request has set.
    init(transaction: Transaction, schema: RecordLogSchema, assigned: [String]) {
        self.transaction = transaction
        self.schema = schema
        self.assigned = assigned
        links = HistoryLinks(transaction, schema)
    }

    /// - Parameter now: the clock's time, in seconds since 2001.
    mutating func record(in table: HistoryTable, _ origin: TransactionOrigin, at now: Double) throws {
        for link in schema.links { try links.note(link) }
        for case let table? in schema.tables { try links.note(table, assigned: assignedProperties(of: table)) }
        var pass = self
        let changes = try transaction.writeValue { writer in
            for case let table? in pass.schema.tables { try pass.write(table, to: writer) }
            pass.encoder.endRun()
            try pass.handOver(to: writer)
        }
        // A transaction that only inserted and deleted the same rows leaves nothing.
        guard changes.count > 0 else { return }
        let reference = RowReference(table: table.id, row: try transaction.newRow(in: table.id))
        let builder = RowBuilder()
        builder.begin(table.layout)
        builder.set(HistoryTable.Field.timestamp.rawValue, double: try time(of: reference, in: table, at: now))
        func set(_ field: HistoryTable.Field, _ text: String?) { if let text { builder.set(field.rawValue, text: text) } }
        set(.author, origin.author)
        set(.contextName, origin.contextName)
        set(.processID, TransactionOrigin.processID)
        set(.bundleID, TransactionOrigin.bundleID)
        builder.set(HistoryTable.Field.changes.rawValue, value: changes)
        try transaction.put(reference, body: builder.unsafeBody())
    }

    /// Returns the clock's time. If the clock was set back a little since the transaction before, returns the next time after that one's, so that
    /// "after" means the same by date and by number. If it was set back by more, records a fall.
    private func time(of reference: RowReference, in table: HistoryTable, at now: Double) throws -> Double {
        // If the transaction before is deleted, all earlier ones are, so there is no time to compare with.
        guard reference.row > 1, let last = try base.unsafeRow(RowReference(table: table.id, row: reference.row - 1)) else { return now }
        let time = table.timestamp(of: last)
        if now > time { return now }
        if time - now <= HistoryFalls.tolerance { return time.nextUp }
        // Written in this commit, so that the history has both the transaction and the fall or neither.
        var falls = try HistoryFalls(of: table.id, in: base), first = reference.row
        try base.scan(table.id) { row in
            first = row.reference.row
            return false
        }
        falls.note(reference.row, first: first)
        try transaction.setSystemValue(RecordLogSystemRow.historyFalls, falls.encoded(of: table.id))
        return now
    }

    private mutating func handOver(to writer: ValueWriter) throws {
        try encoder.take().withUnsafeBytes { try writer.append($0) }
    }

    // MARK: One table

    private mutating func write(_ table: EntityTable, to writer: ValueWriter) throws {
        encoder.begin(table.id)
        let assigned = assignedProperties(of: table), preserved = PreservedColumns(of: table)
        var allLinked = links.rows(of: table.id)
        // The next row whose only change is in its links.
        var linked = allLinked.next()
        var pass = self
        func goOn() throws {
            if pass.encoder.bytes.count >= Self.pieceSize { try pass.handOver(to: writer) }
        }
        func writeLinked(before row: UInt64) throws {
            while let next = linked, next < row {
                try pass.writeLinks(RowReference(table: table.id, row: next), table)
                linked = allLinked.next()
                try goOn()
            }
        }
        try transaction.forEachChange(in: table.id) { (reference, isNew, isDeleted) throws in
            try writeLinked(before: reference.row)
            if linked == reference.row { linked = allLinked.next() }
            try pass.write(reference, table, isNew: isNew, isDeleted: isDeleted, assigned, preserved)
            try goOn()
        }
        try writeLinked(before: .max)
        self = pass
    }

    private mutating func write(
        _ reference: RowReference, _ table: EntityTable, isNew: Bool, isDeleted: Bool, _ assigned: [Int], _ preserved: PreservedColumns?
    ) throws {
        guard !isNew else {
            if !isDeleted { encoder.add(.insertions, reference.row) }
            return
        }
        guard let old = try base.unsafeRow(reference) else {
            // A row number that was reserved before, or an object whose deletion was undone.
            if !isDeleted { encoder.add(.insertions, reference.row) }
            return
        }
        guard !isDeleted else {
            if let preserved, let body = try preserved.body(of: old, in: base) {
                encoder.addDeletion(reference.row, preserving: preserved.columns, body)
            } else {
                encoder.add(.deletions, reference.row)
            }
            return
        }
        changed.removeAll(keepingCapacity: true)
        if assigned.isEmpty || table.derivations != nil {
            guard let new = try transaction.unsafeRow(reference) else { return }
            for property in table.positions.indices where table.positions[property] != nil {
                if !table.isEqual(property, old, new) { changed.append(property) }
            }
            if assigned.contains(where: changed.contains) { add(assigned) }
        } else {
            changed.append(contentsOf: assigned)
        }
        if !links.isEmpty { add(links.properties(of: reference, in: table)) }
        encoder.addUpdate(reference.row, changed, of: table)
    }

    private mutating func writeLinks(_ reference: RowReference, _ table: EntityTable) throws {
        guard try base.contains(reference) else { return }
        changed.removeAll(keepingCapacity: true)
        add(links.properties(of: reference, in: table))
        encoder.addUpdate(reference.row, changed, of: table)
    }

    private mutating func add(_ properties: [Int]) {
        guard !properties.isEmpty else { return }
        changed = Set(changed).union(properties).sorted()
    }

    /// Returns the properties that the batch has set in a table, ascending.
    private func assignedProperties(of table: EntityTable) -> [Int] {
        guard !assigned.isEmpty else { return [] }
        let derived = Set(table.derivations?.map(\.property) ?? [])
        return Set(assigned.compactMap(table.runtime.index)).filter { table.positions[$0] != nil && !derived.contains($0) }.sorted()
    }
}
