/// What one `LogStore.write` changes. Confined to its closure: nothing of it is seen by others until the closure returns,
/// and nothing at all happens if it throws.
public final class Transaction {
    /// The newest commit, under the write lock: what this transaction builds on.
    public let base: Snapshot
    /// The tables and indexes, this transaction's changes included.
    public private(set) var catalog: Catalog

    let appender: FrameAppender
    let start: UInt64
    private let extractors: [String: any IndexKeyExtractor]
    private(set) var isCatalogChanged = false
    private(set) var rowCount: UInt32 = 0
    /// By table ID: what this transaction did to it.
    private(set) var tables: [TableChanges?] = []
    /// By index ID.
    private(set) var indexBuilders: [MemoryRunBuilder?] = []
    private var oldKey = KeyBuilder()
    private var newKey = KeyBuilder()

    /// Changes of one table.
    final class TableChanges {
        let id: TableID
        var definition: TableDefinition?
        var indexes: [(id: IndexID, extractor: any IndexKeyExtractor)]
        /// Rows from `firstNew` on are this transaction's own; by place: their address, with the tombstone's bit, or 0.
        let firstNew: UInt64
        var newAddresses: [UInt64] = []
        /// Older rows that were changed.
        var changed: [UInt64: UInt64] = [:]
        /// Row numbers that were given out and not written yet.
        var unwritten = 0
        var rowDelta: Int64 = 0
        var byteDelta: Int64 = 0

        init(id: TableID, definition: TableDefinition?, indexes: [(id: IndexID, extractor: any IndexKeyExtractor)], firstNew: UInt64) {
            self.id = id
            self.definition = definition
            self.indexes = indexes
            self.firstNew = firstNew
        }

        var nextRow: UInt64 { firstNew + UInt64(newAddresses.count) }

        @inline(__always)
        func address(_ row: UInt64) -> UInt64? {
            if row >= firstNew {
                let place = Int(row - firstNew)
                guard place < newAddresses.count, newAddresses[place] != 0 else { return nil }
                return newAddresses[place]
            }
            return changed[row]
        }

        @inline(__always)
        func set(_ row: UInt64, _ address: UInt64) {
            guard row >= firstNew else {
                changed[row] = address
                return
            }
            if newAddresses[Int(row - firstNew)] == 0 { unwritten -= 1 }
            newAddresses[Int(row - firstNew)] = address
        }
    }

    init(base: Snapshot, appender: FrameAppender, extractors: [String: any IndexKeyExtractor]) {
        self.base = base
        catalog = base.catalog
        self.appender = appender
        start = appender.position
        self.extractors = extractors
    }

    private func invalid(_ message: String, _ remedy: String) -> StoreError {
        StoreError(.invalidArgument, path: base.file.path, message, remedy: remedy)
    }

    var hasChanges: Bool { rowCount > 0 || isCatalogChanged }

    @inline(__always)
    private func changes(_ table: TableID) throws(StoreError) -> TableChanges {
        let index = Int(table.rawValue)
        if index < tables.count, let known = tables[index] { return known }
        return try makeChanges(table)
    }

    private func makeChanges(_ table: TableID) throws(StoreError) -> TableChanges {
        let definition = catalog.table(table)
        guard table == .system || definition != nil else {
            throw invalid("there is no table \(table.rawValue)", "Define the table first.")
        }
        var indexes: [(id: IndexID, extractor: any IndexKeyExtractor)] = []
        for index in catalog.indexes(on: table) { indexes.append((index.id, try extractor(of: index))) }
        let firstNew = table == .system ? Self.systemRowsMax : base.state(table)?.nextRow ?? 1
        let made = TableChanges(id: table, definition: definition, indexes: indexes, firstNew: firstNew)
        while tables.count <= Int(table.rawValue) { tables.append(nil) }
        tables[Int(table.rawValue)] = made
        return made
    }

    private func extractor(of index: IndexDefinition) throws(StoreError) -> any IndexKeyExtractor {
        try IndexKeyExtractors.extractor(of: index, among: extractors, path: base.file.path)
    }

    // MARK: Rows

    /// A row number that no row of the table has or had. Numbers that are not used are not given again while the
    /// transaction lasts.
    public func newRow(in table: TableID) throws(StoreError) -> UInt64 {
        let changes = try changes(table)
        let row = changes.nextRow
        guard row < RowReference.rowMask, table != .system else {
            throw invalid("the table has no row number left", "Use another table.")
        }
        changes.newAddresses.append(0)
        changes.unwritten += 1
        return row
    }

    /// Writes a row, new or in place of what it was.
    /// - Parameter body: a body that a `RowBuilder` made for a layout of the table; copied.
    /// - Throws: `invalidArgument` for a row number that was never given or a body of no layout; `tooLarge`.
    /// - Complexity: O(bytes + indexes of the table).
    public func put(_ reference: RowReference, body: UnsafeRawBufferPointer) throws(StoreError) {
        let changes = try changes(reference.table)
        guard reference.row > 0, reference.row < changes.nextRow else {
            throw invalid("row \(reference.row) was never given out", "Take row numbers from newRow(in:).")
        }
        let old = try currentRow(reference, changes)
        if reference.table != .system { try index(reference, body, old: old, changes) }
        let address = try appender.appendRow(
            .put, reference, body: body, version: (old.version ?? 0) &+ 1, previous: old.address)
        changes.set(reference.row, address)
        if old.view == nil { changes.rowDelta += 1 }
        changes.byteDelta += Int64(RowRecord.size(ofBody: body.count)) - Int64(old.view.map { RowRecord.size(ofBody: $0.byteCount) } ?? 0)
        rowCount &+= 1
    }

    /// Deletes a row.
    /// - Returns: false where there is none.
    public func delete(_ reference: RowReference) throws(StoreError) -> Bool {
        let changes = try changes(reference.table)
        let old = try currentRow(reference, changes)
        guard let view = old.view else { return false }
        if !changes.indexes.isEmpty, let layout = changes.definition?.layout(view.layoutID) {
            for (id, extractor) in changes.indexes {
                oldKey.removeAll()
                if extractor.appendKey(of: view, layout: layout, to: &oldKey) { add(&oldKey, row: reference.row, to: id, isTombstone: true) }
            }
        }
        let address = try appender.appendRow(
            .delete, reference, body: UnsafeRawBufferPointer(start: nil, count: 0), version: (old.version ?? 0) &+ 1,
            previous: old.address)
        changes.set(reference.row, address | PrimaryDelta.tombstoneBit)
        changes.rowDelta -= 1
        changes.byteDelta -= Int64(RowRecord.size(ofBody: view.byteCount))
        rowCount &+= 1
        return true
    }

    /// The row with this transaction's changes; valid until the next change.
    public func row(_ reference: RowReference) throws(StoreError) -> RowView? {
        let index = Int(reference.table.rawValue)
        guard index < tables.count, let changes = tables[index] else { return try base.row(reference) }
        return try currentRow(reference, changes).view
    }

    /// What a row is now: its view (nil where it is deleted or never was), and its newest record's address and version.
    @inline(__always)
    private func currentRow(
        _ reference: RowReference, _ changes: TableChanges
    ) throws(StoreError) -> (view: RowView?, address: UInt64, version: UInt32?) {
        if let pending = changes.address(reference.row) {
            let address = pending & ~PrimaryDelta.tombstoneBit
            let (record, body) = try appender.row(at: address)
            let view = RowView(body: body, byteCount: record.bodyLength, reference: reference, version: record.version)
            return (record.operation == .put ? view : nil, address, record.version)
        }
        if reference.row >= changes.firstNew { return (nil, 0, nil) }
        return try base.newestRecord(of: reference)
    }

    // MARK: Indexes

    @inline(__always)
    private func index(
        _ reference: RowReference, _ body: UnsafeRawBufferPointer, old: (view: RowView?, address: UInt64, version: UInt32?),
        _ changes: TableChanges
    ) throws(StoreError) {
        guard let start = body.baseAddress, body.count >= RowLayout.nullsOffset else {
            throw invalid("a row has no layout", "Make rows with a RowBuilder.")
        }
        let new = RowView(body: start, byteCount: body.count, reference: reference, version: 0)
        guard let layout = changes.definition?.layout(new.layoutID), body.count >= layout.minimumBodySize else {
            throw invalid("a row names a layout that its table does not have", "Make rows with a layout of the table.")
        }
        guard !changes.indexes.isEmpty else { return }
        let oldLayout = old.view.flatMap { changes.definition?.layout($0.layoutID) }
        for (id, extractor) in changes.indexes {
            newKey.removeAll()
            let isIn = extractor.appendKey(of: new, layout: layout, to: &newKey)
            if let view = old.view, let oldLayout {
                oldKey.removeAll()
                let wasIn = extractor.appendKey(of: view, layout: oldLayout, to: &oldKey)
                if wasIn, isIn, oldKey.bytes == newKey.bytes { continue }
                if wasIn { add(&oldKey, row: reference.row, to: id, isTombstone: true) }
            }
            if isIn { add(&newKey, row: reference.row, to: id, isTombstone: false) }
        }
    }

    @inline(__always)
    private func add(_ key: inout KeyBuilder, row: UInt64, to index: IndexID, isTombstone: Bool) {
        key.append(row: row)
        let slot = Int(index.rawValue)
        while indexBuilders.count <= slot { indexBuilders.append(nil) }
        if indexBuilders[slot] == nil { indexBuilders[slot] = MemoryRunBuilder() }
        key.bytes.withUnsafeBytes { indexBuilders[slot]?.append($0, isTombstone: isTombstone) }
    }

    // MARK: System values

    /// The system table's rows are numbered by the client, below this.
    public static let systemRowsMax: UInt64 = 1024

    /// Clients' rows; the ones before are the engine's: the catalog and what may come.
    public static let systemRows: Range<UInt64> = 8..<systemRowsMax

    /// Keeps bytes under a number of the client's choice, 8 to 1023, or removes them.
    public func setSystemValue(_ row: UInt64, _ bytes: [UInt8]?) throws(StoreError) {
        guard Self.systemRows.contains(row) else {
            throw invalid("there is no system row \(row)", "Use a number from 8 to \(Self.systemRowsMax - 1).")
        }
        try setSystemRow(row, bytes)
    }

    private func setSystemRow(_ row: UInt64, _ bytes: [UInt8]?) throws(StoreError) {
        let reference = RowReference(table: .system, row: row)
        guard let bytes else {
            _ = try delete(reference)
            return
        }
        let result: Result<Void, StoreError> = bytes.withUnsafeBytes { bytes in
            do throws(StoreError) { return .success(try put(reference, body: bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Checks that the transaction is whole, and writes the catalog where it changed. Called last.
    func finish() throws(StoreError) {
        // Replay bounds row numbers by rows, so none is skipped.
        for changes in tables where changes?.unwritten ?? 0 > 0 {
            throw invalid("\(changes?.unwritten ?? 0) new rows were numbered and never written", "Put every row that newRow(in:) numbered.")
        }
        if isCatalogChanged { try setSystemRow(Catalog.row, catalog.encoded()) }
    }

    // MARK: Schema

    /// Makes a table with one layout.
    /// - Throws: `schema` where the name is taken or there are too many columns or tables.
    public func defineTable(name: String, columns: [(name: String, type: ColumnType)]) throws(StoreError) -> TableDefinition {
        guard catalog.table(named: name) == nil else { throw schema("the store has a table \(name) already") }
        guard columns.count <= RowLayout.columnsMax, catalog.nextTable < UInt16.max else { throw schema("the table \(name) is too large") }
        let list = columns.enumerated().map { Column(id: ColumnID(rawValue: UInt16($0.offset + 1)), name: $0.element.name, type: $0.element.type) }
        let table = TableDefinition(
            id: TableID(rawValue: catalog.nextTable), name: name,
            layouts: [RowLayout(id: LayoutID(rawValue: 0), columns: list)], nextColumn: UInt16(columns.count + 1))
        setCatalog(Catalog(
            tables: catalog.tables + [table], indexes: catalog.indexes, nextTable: catalog.nextTable + 1, nextIndex: catalog.nextIndex))
        return table
    }

    /// Gives a table a new layout for the rows to come; older rows keep theirs.
    /// - Parameter columns: columns with an ID are the table's own, carried over; an ID of 0 asks for a new one.
    public func addLayout(to table: TableID, columns: [Column]) throws(StoreError) -> RowLayout {
        guard let old = catalog.table(table) else { throw schema("there is no table \(table.rawValue)") }
        guard columns.count <= RowLayout.columnsMax, old.layouts.count < Int(UInt16.max) else { throw schema("the table \(old.name) is too large") }
        var next = old.nextColumn
        let list = columns.map { column in
            guard column.id.rawValue == 0 else { return column }
            defer { next += 1 }
            return Column(id: ColumnID(rawValue: next), name: column.name, type: column.type)
        }
        let layout = RowLayout(id: LayoutID(rawValue: UInt16(old.layouts.count)), columns: list)
        let new = TableDefinition(id: old.id, name: old.name, layouts: old.layouts + [layout], nextColumn: next)
        setCatalog(Catalog(
            tables: catalog.tables.map { $0.id == table ? new : $0 }, indexes: catalog.indexes, nextTable: catalog.nextTable,
            nextIndex: catalog.nextIndex))
        return layout
    }

    /// Makes an index over a table, with the entries of the rows it has.
    /// - Throws: `schema` where the name is taken on the table, or where this transaction has changed rows of it already.
    /// - Complexity: O(rows of the table).
    public func defineIndex(
        named name: String, on table: TableID, parts: [IndexPart], extractorName: String? = nil
    ) throws -> IndexID {
        guard catalog.table(table) != nil else { throw schema("there is no table \(table.rawValue)") }
        guard !catalog.indexes(on: table).contains(where: { $0.name == name }) else {
            throw schema("the table has an index \(name) already")
        }
        guard catalog.nextIndex < UInt16.max else { throw schema("the store has too many indexes") }
        if Int(table.rawValue) < tables.count, let changes = tables[Int(table.rawValue)], changes.rowDelta != 0 || !changes.changed.isEmpty {
            throw schema("an index is defined before the same transaction changes its table's rows")
        }
        let definition = IndexDefinition(
            id: IndexID(rawValue: catalog.nextIndex), table: table, name: name, parts: parts, extractorName: extractorName)
        let extractor = try extractor(of: definition)
        setCatalog(Catalog(
            tables: catalog.tables, indexes: catalog.indexes + [definition], nextTable: catalog.nextTable,
            nextIndex: catalog.nextIndex + 1))
        while indexBuilders.count <= Int(definition.id.rawValue) { indexBuilders.append(nil) }
        indexBuilders[Int(definition.id.rawValue)] = MemoryRunBuilder()
        let layouts = catalog.table(table)
        try base.scan(table) { row in
            guard let layout = layouts?.layout(row.layoutID) else { return true }
            newKey.removeAll()
            if extractor.appendKey(of: row, layout: layout, to: &newKey) {
                add(&newKey, row: row.reference.row, to: definition.id, isTombstone: false)
            }
            return true
        }
        return definition.id
    }

    private func schema(_ message: String) -> StoreError {
        StoreError(.schema, path: base.file.path, message, remedy: "Look at the store's catalog before changing it.")
    }

    /// Puts the new catalog in place; tables already touched learn their new layouts and indexes.
    private func setCatalog(_ new: Catalog) {
        catalog = new
        isCatalogChanged = true
        for index in tables.indices {
            guard let changes = tables[index], changes.id != .system else { continue }
            changes.definition = new.table(changes.id)
            changes.indexes = new.indexes(on: changes.id).compactMap { definition in
                (try? extractor(of: definition)).map { (definition.id, $0) }
            }
        }
    }
}

/// Finds the function that makes an index's keys.
enum IndexKeyExtractors {
    static func extractor(
        of index: IndexDefinition, among registered: [String: any IndexKeyExtractor], path: String
    ) throws(StoreError) -> any IndexKeyExtractor {
        guard let name = index.extractorName else { return ColumnKeyExtractor(index.parts) }
        guard let found = registered[name] else {
            throw StoreError(
                .schema, path: path, "the index \(index.name) needs the extractor \"\(name)\", which was not registered",
                remedy: "Give it in StoreOptions.extractors when opening the store for writing.")
        }
        return found
    }
}

extension Snapshot {
    /// A row's newest record: its view (nil for a deletion), address and version.
    func newestRecord(of reference: RowReference) throws(StoreError) -> (view: RowView?, address: UInt64, version: UInt32?) {
        guard let table = state(reference.table) else { return (nil, 0, nil) }
        let known = table.primary.delta.load(reference.row)
        if known & PrimaryDelta.tombstoneBit != 0 {
            let address = known & ~PrimaryDelta.tombstoneBit
            return (nil, address, try file.record(at: address, end: end).record.version)
        }
        guard let address = try address(of: reference) else { return (nil, 0, nil) }
        let view = try view(at: address, reference)
        return (view, address, view.version)
    }
}
