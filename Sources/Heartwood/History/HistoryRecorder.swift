import Foundation
import RecordLog

/// Tells what a transaction has done to objects, and writes it as one row of the history.
///
/// It asks the transaction itself which rows it has written, and compares them with what they were before. So whatever writes rows is
/// recorded, saves and batches alike, with cascades, upserts and derived attributes; and nothing is kept for it meanwhile.
/// - Complexity: O(rows changed); memory is some KiB, and a bit for each row whose to-many relationships have changed.
struct HistoryRecorder {
    private let transaction: Transaction
    private let schema: RecordLogSchema
    private let stated: [String]
    private var links: HistoryLinks
    private var encoder = HistoryEncoder()
    /// The properties of the update that is being told.
    private var changed: [Int] = []

    private var base: Snapshot { transaction.base }

    /// So much is gathered before it goes to the log.
    private static let pieceSize = 32 << 10

    /// - Parameter stated: the properties that a batch request has set.
    init(transaction: Transaction, schema: RecordLogSchema, stated: [String]) {
        self.transaction = transaction
        self.schema = schema
        self.stated = stated
        links = HistoryLinks(transaction, schema)
    }

    mutating func record(in table: HistoryTable, _ origin: TransactionOrigin) throws {
        for link in schema.links { try links.note(link) }
        for case let table? in schema.tables { try links.note(table, stated: statedProperties(of: table)) }
        var pass = self
        let changes = try transaction.writeValue { writer in
            for case let table? in pass.schema.tables { try pass.tell(table, to: writer) }
            pass.encoder.endRun()
            try pass.handOver(to: writer)
        }
        // Rows that came and went leave nothing.
        guard changes.count > 0 else { return }
        let builder = RowBuilder()
        builder.begin(table.layout)
        builder.set(HistoryTable.Field.timestamp.rawValue, double: try time(in: table))
        func set(_ field: HistoryTable.Field, _ text: String?) { if let text { builder.set(field.rawValue, text: text) } }
        set(.author, origin.author)
        set(.contextName, origin.contextName)
        set(.processID, TransactionOrigin.processID)
        set(.bundleID, TransactionOrigin.bundleID)
        builder.set(HistoryTable.Field.changes.rawValue, value: changes)
        try transaction.put(RowReference(table: table.id, row: transaction.newRow(in: table.id)), body: builder.finish())
    }

    /// Now; later than the transaction before, whatever the clock says, so that "after" means one thing by date and by number.
    private func time(in table: HistoryTable) throws -> Double {
        let now = Date().timeIntervalSinceReferenceDate
        let limit = base.rowLimit(table.id)
        guard limit > 1, let last = try base.row(RowReference(table: table.id, row: limit - 1)) else { return now }
        return max(now, table.timestamp(of: last).nextUp)
    }

    private mutating func handOver(to writer: ValueWriter) throws {
        try encoder.take().withUnsafeBytes { try writer.append($0) }
    }

    // MARK: One table

    private mutating func tell(_ table: EntityTable, to writer: ValueWriter) throws {
        encoder.begin(table.id)
        let stated = statedProperties(of: table), preserved = PreservedColumns(of: table)
        // Rows of which nothing is written but their links.
        var linked = links.firstRow(of: table.id, from: 0)
        var pass = self
        func goOn() throws {
            if pass.encoder.bytes.count >= Self.pieceSize { try pass.handOver(to: writer) }
        }
        func tellLinked(before row: UInt64) throws {
            while let next = linked, next < row {
                try pass.tellLinks(RowReference(table: table.id, row: next), table)
                linked = pass.links.firstRow(of: table.id, from: next + 1)
                try goOn()
            }
        }
        try transaction.forEachChange(in: table.id) { (reference, isNew, isDeleted) throws in
            try tellLinked(before: reference.row)
            if linked == reference.row { linked = pass.links.firstRow(of: table.id, from: reference.row + 1) }
            try pass.tell(reference, table, isNew: isNew, isDeleted: isDeleted, stated, preserved)
            try goOn()
        }
        try tellLinked(before: .max)
        self = pass
    }

    private mutating func tell(
        _ reference: RowReference, _ table: EntityTable, isNew: Bool, isDeleted: Bool, _ stated: [Int], _ preserved: PreservedColumns?
    ) throws {
        guard !isNew else {
            if !isDeleted { encoder.add(.insertions, reference.row) }
            return
        }
        guard let old = try base.row(reference) else {
            // A number that was taken ahead, or an object whose deletion is taken back.
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
        if stated.isEmpty || table.derivations != nil {
            guard let new = try transaction.row(reference) else { return }
            for property in table.positions.indices where table.positions[property] != nil {
                if !table.isEqual(property, old, new) { changed.append(property) }
            }
            if stated.contains(where: changed.contains) { add(stated) }
        } else {
            changed.append(contentsOf: stated)
        }
        if !links.isEmpty { add(links.properties(of: reference, in: table)) }
        encoder.addUpdate(reference.row, changed, of: table)
    }

    private mutating func tellLinks(_ reference: RowReference, _ table: EntityTable) throws {
        guard try base.contains(reference) else { return }
        changed.removeAll(keepingCapacity: true)
        add(links.properties(of: reference, in: table))
        encoder.addUpdate(reference.row, changed, of: table)
    }

    private mutating func add(_ properties: [Int]) {
        guard !properties.isEmpty else { return }
        changed = Set(changed).union(properties).sorted()
    }

    /// What the batch has set in a table, in rising order.
    private func statedProperties(of table: EntityTable) -> [Int] {
        guard !stated.isEmpty else { return [] }
        let derived = Set(table.derivations?.map(\.property) ?? [])
        return Set(stated.compactMap(table.runtime.index)).filter { table.positions[$0] != nil && !derived.contains($0) }.sorted()
    }
}
