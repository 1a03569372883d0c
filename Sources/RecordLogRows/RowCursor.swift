import RecordLog

/// Gives rows one after another. It keeps its snapshot.
///
/// ```swift
/// var films = snapshot.rows(in: table)
/// while let film = try films.next() { print(try film[title]) }
/// ```
public struct RowCursor: ~Copyable {
    private let snapshot: Snapshot
    /// A scan of a table; nil for rows of an index.
    private var scan: RowScan?
    private var entries: IndexCursor?
    private let table: TableID
    /// Rows that were looked up together, so that cache misses overlap; `next` is the first that was not given yet.
    private var batch: [UnsafeRowView] = []
    private var given = 0
    private var batchSize = 1
    private var references: [RowReference] = []

    private static let batchSizeMax = 64

    init(_ snapshot: Snapshot, scanning table: TableID) {
        self.snapshot = snapshot
        self.table = table
        scan = RowScan(snapshot, table, from: 0)
    }

    /// - Parameter entries: nil for no rows.
    init(_ snapshot: Snapshot, _ entries: IndexCursor?, of table: TableID) {
        self.snapshot = snapshot
        self.table = table
        self.entries = entries
    }

    /// The next row; nil at the end.
    /// - Throws: `corrupt`.
    public mutating func next() throws(StoreError) -> Row? {
        if given == batch.count { try refill() }
        guard given < batch.count else { return nil }
        defer { given += 1 }
        return Row(batch[given], in: snapshot)
    }

    /// Looks up the next batch. Each is twice as large as the one before, for a caller that needs few rows.
    private mutating func refill() throws(StoreError) {
        batch.removeAll(keepingCapacity: true)
        given = 0
        defer {
            batchSize = min(batchSize * 2, Self.batchSizeMax)
            snapshot.counters.rowsRead(batch.count)
        }
        if scan != nil { return try scanBatch() }
        // An entry of a damaged index may have no row.
        while batch.isEmpty, try takeReferences() { try lookUpBatch() }
    }

    /// - Returns: false at the end of the index.
    private mutating func takeReferences() throws(StoreError) -> Bool {
        references.removeAll(keepingCapacity: true)
        while references.count < batchSize, let row = try entries?.next() { references.append(RowReference(table: table, row: row)) }
        return !references.isEmpty
    }

    private mutating func lookUpBatch() throws(StoreError) {
        references.withUnsafeBufferPointer { snapshot.readAhead($0) }
        for reference in references {
            guard let address = try snapshot.address(of: reference) else { continue }
            batch.append(try snapshot.view(at: address, reference))
        }
    }

    private mutating func scanBatch() throws(StoreError) {
        while batch.count < batchSize, let row = try scan?.next() { batch.append(row) }
    }
}
