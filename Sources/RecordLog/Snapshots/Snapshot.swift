/// One commit of a store. Immutable, and readable as long as it is held, regardless of later writes.
///
/// Taking one is a retain. A snapshot holds the file that it reads (mapped memory and, after a compaction, the old inode).
public final class Snapshot: @unchecked Sendable {
    // Unchecked: `readers` is never written after `init`.
    /// The commit's number; 0 for an empty store.
    public let sequence: UInt64
    public let catalog: Catalog
    /// Keeps row views readable.
    package let file: LogFile
    /// The end of the log as of the commit.
    let end: UInt64
    /// The checksum of the commit's frame.
    package let commitChecksum: UInt64
    /// By table ID.
    let tables: [TableState?]
    /// By index ID.
    let indexes: [RunSet?]
    package let counters: Counters
    /// By table ID; as many as `tables`.
    private let readers: UnsafeMutablePointer<TableReader>

    init(
        sequence: UInt64, catalog: Catalog, file: LogFile, end: UInt64, commitChecksum: UInt64, tables: [TableState?],
        indexes: [RunSet?], counters: Counters
    ) {
        self.sequence = sequence
        self.catalog = catalog
        self.file = file
        self.end = end
        self.commitChecksum = commitChecksum
        self.tables = tables
        self.indexes = indexes
        self.counters = counters
        readers = .allocate(capacity: max(1, tables.count))
        for index in tables.indices { (readers + index).initialize(to: TableReader(tables[index])) }
    }

    deinit {
        readers.deallocate()
    }

    /// The snapshot before the first commit.
    static func empty(_ file: LogFile, _ counters: Counters) -> Snapshot {
        Snapshot(
            sequence: 0, catalog: .empty, file: file, end: FileFormat.dataStart, commitChecksum: 0, tables: [], indexes: [],
            counters: counters)
    }

    @inline(__always)
    func state(_ table: TableID) -> TableState? {
        let index = Int(table.rawValue)
        return index < tables.count ? tables[index] : nil
    }

    // MARK: Rows

    /// The row as of this snapshot.
    /// - Returns: nil if there is no such row.
    /// - Throws: `corrupt` if the index or the row's frame is damaged.
    /// - Complexity: O(1); a frame's checksum is computed at the first touch of any row in it.
    @inline(__always)
    public func unsafeRow(_ reference: RowReference) throws(StoreError) -> UnsafeRowView? {
        counters.rowRead()
        guard let address = try address(of: reference) else { return nil }
        file.askOnce(address)
        file.touchRow(address)
        return try view(at: address, reference)
    }

    public func contains(_ reference: RowReference) throws(StoreError) -> Bool {
        try address(of: reference) != nil
    }

    /// The address of the row's record as of this snapshot.
    @inline(__always)
    package func address(of reference: RowReference) throws(StoreError) -> UInt64? {
        let index = Int(reference.table.rawValue)
        guard index < tables.count else { return nil }
        let known = readers[index].known(reference.row)
        if known != 0 {
            let address = known & ~PrimaryDelta.tombstoneBit
            if address < end { return known & PrimaryDelta.tombstoneBit == 0 ? address : nil }
            return try olderAddress(than: address, reference)
        }
        let address = try readers[index].baseAddress(reference.row)
        return address == 0 ? nil : address
    }

    /// Requests the primary index's page with the row's address, if the page is new.
    /// - Returns: whether the page is new.
    @inline(__always)
    func willResolve(_ reference: RowReference) -> Bool {
        let index = Int(reference.table.rawValue)
        return index < tables.count && readers[index].willResolve(reference.row)
    }

    /// A row's newest record: its view (nil for a deletion), address and version. For the writer, whose base is the newest snapshot.
    func newestRecord(of reference: RowReference) throws(StoreError) -> (view: UnsafeRowView?, address: UInt64, version: UInt32?) {
        let index = Int(reference.table.rawValue)
        guard index < tables.count else { return (nil, 0, nil) }
        let known = readers[index].known(reference.row)
        if known & PrimaryDelta.tombstoneBit != 0 {
            let address = known & ~PrimaryDelta.tombstoneBit
            return (nil, address, try file.record(at: address, end: end).record.version)
        }
        let address = try known != 0 ? known : readers[index].baseAddress(reference.row)
        guard address != 0 else { return (nil, 0, nil) }
        let view = try view(at: address, reference)
        return (view, address, view.version)
    }

    /// Follows a row's chain back to the newest record that this snapshot may see.
    @inline(never)
    private func olderAddress(than newer: UInt64, _ reference: RowReference) throws(StoreError) -> UInt64? {
        var address = newer
        while address >= end {
            let record = try file.record(at: address, end: file.readableEnd).record
            guard record.reference == reference, record.previous < address else {
                throw StoreError.corrupt(file.path, at: address, "a row's chain of versions is broken")
            }
            if record.previous == 0 { return nil }
            address = record.previous
        }
        let record = try file.record(at: address, end: end).record
        return record.operation == .put ? address : nil
    }

    @inline(__always)
    package func view(at address: UInt64, _ reference: RowReference) throws(StoreError) -> UnsafeRowView {
        if let body = try file.insertedBody(at: address, end: end, reference), let start = body.baseAddress {
            let row = UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: 1)
            if catalog.isWellFormed(row) { return row }
        }
        return try checked(try file.record(at: address, end: end), at: address, reference)
    }

    /// The row of a record. Checks that it is the wanted row and fits its layout.
    @inline(__always)
    func checked(
        _ found: (record: RowRecord, body: UnsafeRawPointer), at address: UInt64, _ reference: RowReference
    ) throws(StoreError) -> UnsafeRowView {
        try Self.checked(found, at: address, reference, catalog, file)
    }

    @inline(__always)
    static func checked(
        _ found: (record: RowRecord, body: UnsafeRawPointer), at address: UInt64, _ reference: RowReference, _ catalog: Catalog, _ file: LogFile
    ) throws(StoreError) -> UnsafeRowView {
        let (record, body) = found
        guard record.reference == reference, record.operation == .put else {
            throw StoreError.corrupt(file.path, at: address, "the index names another row's record")
        }
        let row = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: reference, version: record.version)
        guard reference.table == .system || catalog.isWellFormed(row) else {
            throw StoreError.corrupt(file.path, at: address, "a row does not have the layout it names")
        }
        return row
    }

    /// The number of a table's rows. O(1).
    public func rowCount(_ table: TableID) -> Int {
        Int(state(table)?.rowCount ?? 0)
    }

    /// The bytes stored by number in the system table; valid as long as the snapshot is held.
    public func unsafeSystemValue(_ row: UInt64) throws(StoreError) -> UnsafeRawBufferPointer? {
        guard let view = try self.unsafeRow(RowReference(table: .system, row: row)) else { return nil }
        return UnsafeRawBufferPointer(start: view.body, count: view.byteCount)
    }

    /// A copy of the bytes stored by number in the system table; nil for none.
    public func systemValue(_ row: UInt64) throws(StoreError) -> [UInt8]? { try unsafeSystemValue(row).map { [UInt8]($0) } }
}

extension Snapshot {
    /// The row at one of its versions, of this snapshot or an earlier one, even if it was deleted later.
    /// - Returns: nil if there was no such version, or a compaction has dropped it.
    /// - Throws: `corrupt`.
    /// - Complexity: O(versions since).
    public func unsafeRow(_ reference: RowReference, version: UInt32) throws(StoreError) -> UnsafeRowView? {
        guard let table = state(reference.table) else { return nil }
        let known = table.primary.known(reference.row) & ~PrimaryDelta.tombstoneBit
        var address = known == 0 ? try self.address(of: reference) ?? 0 : known
        while address != 0 {
            let found = try file.record(at: address, end: file.readableEnd)
            let record = found.record
            guard record.reference == reference, record.previous < address else {
                throw StoreError.corrupt(file.path, at: address, "a row's chain of versions is broken")
            }
            if address < end, record.version == version {
                return record.operation == .put ? try checked(found, at: address, reference) : nil
            }
            address = record.previous
        }
        return nil
    }
}
