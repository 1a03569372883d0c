/// The changes of one `LogStore.write`. Confined to its closure: other readers see nothing of it until the closure returns, and if the
/// closure throws, nothing is changed.
///
/// Invariants:
/// 1. A row's record comes after the catalog that has its table and layout: replay applies records in order.
/// 2. Once a change was made in part (`failure`), the transaction cannot be committed, even if its closure returns.
public final class Transaction {
    /// The newest commit, under the write lock; the base of this transaction.
    public let base: Snapshot
    /// The tables and indexes, including this transaction's changes.
    public private(set) var catalog: Catalog

    let appender: FrameAppender
    private var maintainers: IndexMaintainers
    private(set) var isCatalogChanged = false
    /// The catalog differs from the one last written or read (1).
    private var isCatalogUnwritten = false
    /// The error that stopped a change halfway (2).
    private(set) var failure: StoreError?
    private let keySizeMax: Int
    private(set) var rowCount: UInt32 = 0
    /// This transaction's changes, by table ID.
    @exclusivity(unchecked) var tables = Slots<TableChanges>()
    /// The entries of indexes that were built before the transaction.
    var builtIndexes: [IndexID: RunSet] = [:]
    /// Values in frames of their own that no row has taken yet.
    var unusedValues: Set<ValueReference> = []
    @exclusivity(unchecked) var entries: AddedEntries
    private let oldKey: KeyBuilder
    let newKey: KeyBuilder
    /// Builders that no closure of `insert` or `update` is using.
    private var spareBuilders: [RowBuilder] = []

    /// - Parameter maintainers: those of the base's catalog.
    init(base: Snapshot, appender: FrameAppender, maintainers: IndexMaintainers) {
        self.base = base
        catalog = base.catalog
        self.appender = appender
        self.maintainers = maintainers
        keySizeMax = IndexKeyExtractors.keySizeMax(base.file)
        entries = AddedEntries(bytesMax: maintainers.options.indexMemory)
        (oldKey, newKey) = (maintainers.oldKey, maintainers.newKey)
    }

    /// Runs a change that cannot be taken back halfway (2).
    func wholly<Result>(_ change: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try change()
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    private func invalid(_ message: String, _ remedy: String) -> StoreError {
        StoreError(.invalidArgument, path: base.file.path, message, remedy: remedy)
    }

    /// The rows that were written and deleted so far. Not `rowCount` itself: a property that other modules see is checked at each access.
    package var writtenRows: UInt32 { rowCount }

    /// A row builder that no closure further out is using.
    package func takeBuilder() -> RowBuilder { spareBuilders.popLast() ?? RowBuilder() }

    package func keepBuilder(_ builder: RowBuilder) { spareBuilders.append(builder) }

    var hasChanges: Bool { rowCount > 0 || isCatalogChanged }

    /// The changes of a table so far; nil for none.
    @inline(__always)
    func changesSoFar(_ table: TableID) -> TableChanges? { tables[Int(table.rawValue)] }

    /// Unretained, since `tables` keeps them alive.
    @inline(__always)
    private func unretainedChanges(_ table: TableID) throws(StoreError) -> Unmanaged<TableChanges> {
        if let known = tables.unretained(Int(table.rawValue)) { return known }
        return .passUnretained(try makeChanges(table))
    }

    func changes(_ table: TableID) throws(StoreError) -> TableChanges { try unretainedChanges(table).takeUnretainedValue() }

    private func makeChanges(_ table: TableID) throws(StoreError) -> TableChanges {
        let definition = catalog.table(table)
        guard table == .system || definition != nil else {
            throw invalid("there is no table \(table.rawValue)", "Define the table first.")
        }
        let firstNew = table == .system ? Self.systemRowsMax : base.state(table)?.nextRow ?? 1
        let made = TableChanges(id: table, definition: definition, indexes: try maintainers.of(table), firstNew: firstNew)
        tables[Int(table.rawValue)] = made
        return made
    }

    func maintainer(of index: IndexDefinition) throws(StoreError) -> IndexMaintainer { try maintainers.maintainer(of: index) }

    // MARK: Rows

    /// A row number that no row of the table has or had. A number that is not used is not given again during the transaction.
    public func newRow(in table: TableID) throws(StoreError) -> UInt64 {
        try unretainedChanges(table).guaranteed { changes throws(StoreError) in
            guard changes.nextRow < RowReference.rowMask, table != .system else {
                throw invalid("the table has no row number left", "Use another table.")
            }
            return changes.takeRow()
        }
    }

    /// Writes a row, which is new or replaces its earlier version.
    /// - Parameters:
    ///   - body: a body that a `RowBuilder` made for a layout of the table; copied.
    ///   - changed: the columns that may differ from the row's current state in this transaction, if both have one layout. A builder that
    ///     began with a copy of that row knows them. Indexes over other columns are not updated.
    /// - Throws: `invalidArgument` for a row number that was never given or a body of no layout, `tooLarge` for a body that no frame holds:
    ///   nothing has changed then. After any other error (`tooLarge` for an index key, `io`, `noSpace`, `corrupt`) the transaction cannot be
    ///   committed.
    /// - Complexity: O(bytes + indexes of the table).
    public func put(_ reference: RowReference, body: UnsafeRawBufferPointer, changing changed: ColumnSet = .all) throws(StoreError) {
        try put(reference, body: body, changing: changed, version: nil)
    }

    /// - Parameter version: the row's version if it is copied from another file; nil for the next one.
    func put(
        _ reference: RowReference, body: UnsafeRawBufferPointer, changing changed: ColumnSet = .all, version: UInt32?
    ) throws(StoreError) {
        try unretainedChanges(reference.table).guaranteed { changes throws(StoreError) in
            try put(reference, body, changing: changed, version: version, changes)
        }
    }

    @inline(__always)
    private func put(
        _ reference: RowReference, _ body: UnsafeRawBufferPointer, changing changed: ColumnSet, version: UInt32?, _ changes: TableChanges
    ) throws(StoreError) {
        guard reference.row > 0, reference.row < changes.nextRow else {
            throw invalid("row \(reference.row) was never given out", "Take row numbers from newRow(in:).")
        }
        try appender.checkFits(payload: RowRecord.size(ofBody: body.count, version: 0, previous: 1))
        guard rowCount < .max else { throw invalid("a transaction writes at most \(UInt32.max) rows", "Use several.") }
        if reference.table != .system, isCatalogUnwritten { try writeCatalog() }
        let old = try currentRow(reference, changes)
        let oldSize = old.view.map { changes.liveBytes(of: $0) }
        if reference.table != .system { try index(reference, body, old: old, in: changed, changes) }
        let size = changes.liveBytes(ofBody: body, reference)
        // The old row's bytes may move from here on.
        let address = try wholly { () throws(StoreError) in
            try appender.appendRow(.put, reference, body: body, version: version ?? (old.version ?? 0) &+ 1, previous: old.address)
        }
        changes.set(reference.row, address)
        if oldSize == nil { changes.rowDelta += 1 }
        changes.byteDelta += Int64(size) - Int64(oldSize ?? 0)
        rowCount += 1
    }

    /// Deletes a row.
    /// - Returns: false if the row does not exist.
    public func delete(_ reference: RowReference) throws(StoreError) -> Bool {
        try unretainedChanges(reference.table).guaranteed { changes throws(StoreError) in try delete(reference, changes) }
    }

    @inline(__always)
    private func delete(_ reference: RowReference, _ changes: TableChanges) throws(StoreError) -> Bool {
        guard rowCount < .max else { throw invalid("a transaction writes at most \(UInt32.max) rows", "Use several.") }
        if reference.table != .system, isCatalogUnwritten { try writeCatalog() }
        let old = try currentRow(reference, changes)
        guard let view = old.view else { return false }
        let oldSize = changes.liveBytes(of: view)
        let address = try wholly { () throws(StoreError) in
            if let layout = changes.layout(view.layoutID) {
                for position in changes.unretainedIndexes.indices {
                    let index = changes.unretainedIndexes[position]
                    if index._withUnsafeGuaranteedRef(\.hasTerms) {
                        try addTerms(index.takeUnretainedValue(), of: view, layout.takeUnretainedValue(), reference.row, isTombstone: true)
                        continue
                    }
                    oldKey.removeAll()
                    if append(index, of: view, layout, to: oldKey) {
                        try add(oldKey, row: reference.row, to: index._withUnsafeGuaranteedRef(\.id), isTombstone: true)
                    }
                }
            }
            return try appender.appendRow(
                .delete, reference, body: UnsafeRawBufferPointer(start: nil, count: 0), version: (old.version ?? 0) &+ 1,
                previous: old.address)
        }
        changes.set(reference.row, address | PrimaryDelta.tombstoneBit)
        changes.rowDelta -= 1
        changes.byteDelta -= Int64(oldSize)
        rowCount += 1
        return true
    }

    /// The row with this transaction's changes; valid until the next change.
    public func unsafeRow(_ reference: RowReference) throws(StoreError) -> UnsafeRowView? {
        guard let changes = tables.unretained(Int(reference.table.rawValue)) else {
            guard reference.table == .system || catalog.table(reference.table) != nil else { return nil }
            return try base.unsafeRow(reference)
        }
        return try changes.guaranteed { changes throws(StoreError) in try currentRow(reference, changes).view }
    }

    /// The current state of a row: its view (nil if it is deleted or never existed), and the address and version of its newest record.
    @inline(__always)
    private func currentRow(
        _ reference: RowReference, _ changes: TableChanges
    ) throws(StoreError) -> (view: UnsafeRowView?, address: UInt64, version: UInt32?) {
        let pending = changes.address(reference.row)
        if pending != 0 {
            let address = pending & ~PrimaryDelta.tombstoneBit
            let (record, body) = try appender.row(at: address)
            let view = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: reference, version: record.version)
            return (record.operation == .put ? view : nil, address, record.version)
        }
        if reference.row >= changes.firstNew { return (nil, 0, nil) }
        return try base.newestRecord(of: reference)
    }

    // MARK: Indexes

    @inline(__always)
    private func index(
        _ reference: RowReference, _ body: UnsafeRawBufferPointer, old: (view: UnsafeRowView?, address: UInt64, version: UInt32?),
        in changed: ColumnSet, _ changes: TableChanges
    ) throws(StoreError) {
        guard let start = body.baseAddress, body.count >= RowLayout.nullsOffset else {
            throw invalid("a row has no layout", "Make rows with a RowBuilder.")
        }
        let new = UnsafeRowView(body: start, byteCount: body.count, reference: reference, version: 0)
        guard let facts = changes.facts(of: new.layoutID), body.count >= facts.minimumBodySize,
            let layout = changes.layout(new.layoutID)
        else { throw invalid("a row names a layout that its table does not have", "Make rows with a layout of the table.") }
        let isSameLayout = old.view.map { $0.layoutID == new.layoutID } ?? false
        let oldLayout = isSameLayout ? layout : old.view.flatMap { changes.layout($0.layoutID) }
        if facts.hasValues { try takeValues(of: new, layout.takeUnretainedValue(), old: old.view, oldLayout?.takeUnretainedValue()) }
        if isSameLayout, facts.indexedColumns.isDisjoint(with: changed) {
            assert(
                changes.indexes.allSatisfy { $0.isUnchanged(old.view ?? new, new, layout: layout.takeUnretainedValue()) },
                "a column changed that is not in the set of changed columns")
            return
        }
        try wholly { () throws(StoreError) in
            for position in changes.unretainedIndexes.indices {
                let index = changes.unretainedIndexes[position]
                if isSameLayout, let view = old.view, isUnchanged(index, view, new, layout) { continue }
                let id = index._withUnsafeGuaranteedRef(\.id)
                if index._withUnsafeGuaranteedRef(\.hasTerms) {
                    let maintainer = index.takeUnretainedValue()
                    guard let view = old.view, let oldLayout else {
                        try addTerms(maintainer, of: new, layout.takeUnretainedValue(), reference.row, isTombstone: false)
                        continue
                    }
                    try maintainer.forEachChangedTerm(
                        view, oldLayout.takeUnretainedValue(), new, layout.takeUnretainedValue(), key: newKey
                    ) { isOld throws(StoreError) in try add(newKey, row: reference.row, to: id, isTombstone: isOld) }
                    continue
                }
                newKey.removeAll()
                let isIn = append(index, of: new, layout, to: newKey)
                if let view = old.view, let oldLayout {
                    oldKey.removeAll()
                    let wasIn = append(index, of: view, oldLayout, to: oldKey)
                    if wasIn, isIn, KeyBytes.compare(oldKey.unsafeBuffer, newKey.unsafeBuffer) == 0 { continue }
                    if wasIn { try add(oldKey, row: reference.row, to: id, isTombstone: true) }
                }
                if isIn { try add(newKey, row: reference.row, to: id, isTombstone: false) }
            }
        }
    }

    /// Adds an entry for each term of a row.
    func addTerms(
        _ index: IndexMaintainer, of row: UnsafeRowView, _ layout: RowLayout, _ number: UInt64, isTombstone: Bool
    ) throws(StoreError) {
        try index.forEachTerm(of: row, layout: layout, key: newKey) { () throws(StoreError) in
            try add(newKey, row: number, to: index.id, isTombstone: isTombstone)
        }
    }

    @inline(__always)
    private func append(_ index: Unmanaged<IndexMaintainer>, of row: UnsafeRowView, _ layout: Unmanaged<RowLayout>, to key: KeyBuilder) -> Bool {
        index._withUnsafeGuaranteedRef { index in
            layout._withUnsafeGuaranteedRef { index.appendKey(of: row, layout: $0, to: key) }
        }
    }

    @inline(__always)
    private func isUnchanged(
        _ index: Unmanaged<IndexMaintainer>, _ old: UnsafeRowView, _ new: UnsafeRowView, _ layout: Unmanaged<RowLayout>
    ) -> Bool {
        index._withUnsafeGuaranteedRef { index in
            layout._withUnsafeGuaranteedRef { index.isUnchanged(old, new, layout: $0) }
        }
    }

    @inline(__always)
    func add(_ key: KeyBuilder, row: UInt64, to index: IndexID, isTombstone: Bool) throws(StoreError) {
        key.append(row: row)
        try IndexKeyExtractors.check(key, sizeMax: keySizeMax, in: base.file)
        if entries.add(key.unsafeBuffer, to: Int(index.rawValue), isTombstone: isTombstone) { return }
        addBeyondMemory(key.unsafeBuffer, to: index, isTombstone: isTombstone)
    }

    @inline(never)
    private func addBeyondMemory(_ entry: UnsafeRawBufferPointer, to index: IndexID, isTombstone: Bool) {
        entries.addBeyondMemory(entry, to: Int(index.rawValue), isTombstone: isTombstone) { SpilledEntries(base.file, maintainers.options) }
    }

    // MARK: System values

    /// The limit of row numbers in the system table, whose rows the client numbers.
    package static let systemRowsMax: UInt64 = 1024

    /// The row numbers for clients. Those before are the engine's: the catalog and others.
    public static let systemRows: Range<UInt64> = 8..<systemRowsMax

    /// Stores bytes under a number that the client chooses, 8 to 1023, or removes them.
    public func setSystemValue(_ row: UInt64, _ bytes: [UInt8]?) throws(StoreError) {
        guard Self.systemRows.contains(row) else {
            throw invalid("there is no system row \(row)", "Use a number from 8 to \(Self.systemRowsMax - 1).")
        }
        try setSystemRow(row, bytes)
    }

    /// As `setSystemValue`, for any row of the system table.
    func setSystemRow(_ row: UInt64, _ bytes: [UInt8]?) throws(StoreError) {
        let reference = RowReference(table: .system, row: row)
        guard let bytes else {
            _ = try delete(reference)
            return
        }
        try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try put(reference, body: UnsafeRawBufferPointer(bytes)) }
    }

    /// Writes the catalog, before the rows that need it (1).
    func writeCatalog() throws(StoreError) {
        try wholly { () throws(StoreError) in try setSystemRow(Catalog.row, catalog.encoded()) }
        isCatalogUnwritten = false
    }

    /// Writes the catalog that the store has a second time. No row can be read without it, so a file of rows that come from elsewhere has it before
    /// the rows and behind them, as a compacted file does.
    package func repeatCatalog() throws(StoreError) { try writeCatalog() }

    /// Checks that the transaction is whole, and writes the catalog if it changed. Called last.
    func finish() throws(StoreError) {
        if let failure { throw failure }
        // Replay bounds row numbers by the row count, so none may be skipped.
        for index in 0..<tables.count {
            guard let unwritten = tables[index]?.unwritten, unwritten > 0 else { continue }
            throw invalid("\(unwritten) new rows were numbered and never written", "Put every row that newRow(in:) numbered.")
        }
        if isCatalogUnwritten { try writeCatalog() }
    }

    // MARK: Catalog

    /// Installs the new catalog. Tables changed so far get their new layouts and indexes.
    func setCatalog(_ new: Catalog) throws(StoreError) {
        let maintainers = maintainers.with(new)
        self.maintainers = maintainers
        catalog = new
        isCatalogChanged = true
        isCatalogUnwritten = true
        for index in 0..<tables.count {
            guard let changes = tables[index], changes.id != .system else { continue }
            changes.definition = new.table(changes.id)
            changes.indexes = try maintainers.of(changes.id)
        }
    }
}
