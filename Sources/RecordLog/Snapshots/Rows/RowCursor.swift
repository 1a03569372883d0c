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
    private var group: [UnsafeRowView] = []
    private var given = 0
    private var groupSize = 1
    private var references: [RowReference] = []

    private static let groupSizeMax = 64

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
        if given == group.count { try refill() }
        guard given < group.count else { return nil }
        defer { given += 1 }
        return Row(group[given], in: snapshot)
    }

    /// Looks up the next group. Each is twice as large as the one before, for a caller that needs few rows.
    private mutating func refill() throws(StoreError) {
        group.removeAll(keepingCapacity: true)
        given = 0
        defer {
            groupSize = min(groupSize * 2, Self.groupSizeMax)
            snapshot.counters.rowsRead(group.count)
        }
        if scan != nil { return try scanGroup() }
        // An entry of a damaged index may have no row.
        while group.isEmpty, try takeReferences() { try lookUpGroup() }
    }

    /// - Returns: false at the end of the index.
    private mutating func takeReferences() throws(StoreError) -> Bool {
        references.removeAll(keepingCapacity: true)
        while references.count < groupSize, let row = try entries?.next() { references.append(RowReference(table: table, row: row)) }
        return !references.isEmpty
    }

    private mutating func lookUpGroup() throws(StoreError) {
        references.withUnsafeBufferPointer { snapshot.readAhead($0) }
        for reference in references {
            guard let address = try snapshot.address(of: reference) else { continue }
            group.append(try snapshot.view(at: address, reference))
        }
    }

    private mutating func scanGroup() throws(StoreError) {
        while group.count < groupSize, let row = try scan?.next() { group.append(row) }
    }
}
