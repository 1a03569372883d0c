/// Follows the log from a known state: verifies each frame and the chain of commits, and applies the commits.
///
/// Opening uses it, and catching up with other processes. It stops at the first frame that is not a whole, valid continuation.
/// `TailExamination` decides what that means.
final class Replay {
    let file: LogFile
    private let options: StoreOptions
    private var sequence: UInt64
    private var commitChecksum: UInt64
    private var catalog: Catalog
    private var tables: [TableState?]
    /// The tables whose state no snapshot shares.
    private var own = IDSet()
    private var indexes: [RunSet?]
    private var added: AddedEntries
    private var extractors: [UInt16: [IndexMaintainer]] = [:]
    /// The end of the last whole commit, or of the published checkpoint after it.
    private(set) var end: UInt64
    /// The prepared commit at the log's end, if it waits for another store.
    private(set) var prepared: PreparedCommit?
    /// Bytes of the applied commits.
    private(set) var commitBytes: UInt64 = 0
    /// Bytes of indexes that `finish` has built of rows that were there before, and of these rows.
    private(set) var builtBytes: UInt64 = 0
    private let start: Snapshot
    private let key = KeyBuilder()

    init(file: LogFile, from snapshot: Snapshot, at position: UInt64, options: StoreOptions) {
        self.file = file
        self.options = options
        start = snapshot
        sequence = snapshot.sequence
        commitChecksum = snapshot.commitChecksum
        catalog = snapshot.catalog
        tables = snapshot.tables
        indexes = snapshot.indexes
        added = AddedEntries(bytesMax: options.indexMemory)
        end = position
    }

    /// Applies commits up to `limit`, which is within the file.
    /// - Parameters:
    ///   - publishedEnd: the log's end as the header has it.
    ///   - wholeEnd: no crash can have damaged the log up to here. A damaged frame before it belongs to an index and went bad later.
    ///   - last: no commit after the one with this number is applied.
    func run(limit: UInt64, publishedEnd: UInt64?, wholeEnd: UInt64, through last: UInt64 = .max) throws(StoreError) {
        var scan = CommitScan(
            log: .file(file), behind: sequence, checksum: commitChecksum, at: end, limit: limit, publishedEnd: publishedEnd, wholeEnd: wholeEnd)
        // Verified bytes past the end may be cut off or overwritten.
        defer { file.forgetVerified(from: end, to: min(scan.position, file.readableEnd)) }
        while sequence < last {
            guard let footer = try scan.next() else {
                end = scan.end
                prepared = scan.prepared
                return
            }
            guard footer.sequence <= last else { return }
            try apply(scan.frames, footer)
            commitBytes += scan.end - footer.start
            sequence = scan.sequence
            commitChecksum = scan.commitChecksum
            end = scan.end
        }
    }

    /// Applies the prepared commit that `run` found, with the commit frame that it lacked.
    /// - Parameter completedEnd: the end of that frame.
    func take(_ prepared: PreparedCommit, _ completion: FramePointer, end completedEnd: UInt64) throws(StoreError) {
        // Scans the commit again: `run` forgot that it verified these bytes, since they might have been cut off.
        var scan = CommitScan(
            log: .file(file), behind: sequence, checksum: commitChecksum, at: end, limit: prepared.end, publishedEnd: nil, wholeEnd: 0)
        guard try scan.next() == nil, let again = scan.prepared, again.isSame(as: prepared) else {
            throw StoreError.corrupt(file.path, at: prepared.offset, "a prepared commit has changed while it was read")
        }
        try apply(scan.frames, prepared.footer)
        commitBytes += completedEnd - prepared.footer.start
        sequence = prepared.footer.sequence
        commitChecksum = completion.checksum
        end = completedEnd
        self.prepared = nil
    }

    // MARK: Applying

    private func apply(_ frames: [LogFile.Frame], _ footer: CommitFooter) throws(StoreError) {
        var count = 0
        for frame in frames {
            let malformed = try frame.forEachRow { record, body, address throws(StoreError) in
                try apply(record, body: body, at: address, rowLimit: UInt64(footer.rowCount))
                count += 1
            }
            if let malformed { throw StoreError.corrupt(file.path, at: malformed, "a valid frame holds a malformed row") }
        }
        guard count == Int(footer.rowCount) else {
            throw StoreError.corrupt(file.path, at: footer.start, "a commit does not have the rows that its footer counts")
        }
    }

    private func apply(_ record: RowRecord, body: UnsafeRawPointer, at address: UInt64, rowLimit: UInt64) throws(StoreError) {
        let table = record.reference.table
        let number = Int(table.rawValue)
        let isSystem = table == .system
        guard isSystem || catalog.table(table) != nil else {
            throw StoreError.corrupt(file.path, at: address, "a row is of a table that the catalog does not have")
        }
        let state = ownState(number)
        // Row numbers are given consecutively, so a commit can extend a table by its own row count at most. A hostile commit reserves no
        // memory.
        let limit = isSystem ? Transaction.systemRowsMax : state.nextRow + rowLimit
        guard record.reference.row > 0, record.reference.row < limit, record.previous < address else {
            throw StoreError.corrupt(file.path, at: address, "a row's number or history is impossible")
        }
        let new = UnsafeRowView(body: body, byteCount: record.bodyLength, reference: record.reference, version: record.version)
        let old = try liveRow(record.reference, state, before: address)
        let isPut = record.operation == .put
        guard !isPut || isSystem || catalog.isWellFormed(new) else {
            throw StoreError.corrupt(file.path, at: address, "a row does not have the layout it names")
        }
        state.primary.delta.store(record.reference.row, isPut ? address : address | PrimaryDelta.tombstoneBit)
        state.count(old: old.map { catalog.liveBytes(of: $0) }, new: isPut ? catalog.liveBytes(of: new) : nil)
        state.skip(to: isSystem ? Transaction.systemRowsMax : record.reference.row + 1)
        if isSystem {
            if record.reference.row == Catalog.row { try setCatalog(new, at: address) }
            if record.reference.row == RowNumbers.row { try setRowNumbers(new, at: address) }
        } else {
            try index(old: old, new: isPut ? new : nil, table: table)
        }
    }

    /// The state of a table, in a copy that no snapshot shares.
    private func ownState(_ number: Int) -> TableState {
        while tables.count <= number { tables.append(nil) }
        if !own.insert(UInt16(number)), let state = tables[number] { return state }
        let state = tables[number].map { $0.with($0.primary) } ?? TableState()
        tables[number] = state
        return state
    }

    /// The row as it was before the record at address `before`.
    private func liveRow(_ reference: RowReference, _ state: TableState, before end: UInt64) throws(StoreError) -> UnsafeRowView? {
        let known = state.primary.known(reference.row)
        var address = known & ~PrimaryDelta.tombstoneBit
        guard known & PrimaryDelta.tombstoneBit == 0 || address >= end else { return nil }
        if known == 0 { address = try state.primary.base?.address(of: reference.row) ?? 0 }
        guard address != 0 else { return nil }
        var (record, body) = try file.record(at: address, end: file.readableEnd)
        // All snapshots share the delta: a replay that failed later may have stored its addresses in it.
        let isRepeated = known != 0 && address >= end
        while isRepeated, address >= end {
            guard record.reference == reference, record.previous < address else {
                throw StoreError.corrupt(file.path, at: address, "a row's chain of versions is broken")
            }
            address = record.previous
            guard address != 0 else { return nil }
            (record, body) = try file.record(at: address, end: file.readableEnd)
        }
        if isRepeated, record.operation == .delete { return nil }
        return try Snapshot.checked((record, body), at: address, reference, catalog, file)
    }

    private func setCatalog(_ row: UnsafeRowView, at address: UInt64) throws(StoreError) {
        let bytes = UnsafeRawBufferPointer(start: row.body, count: row.byteCount)
        guard let new = Catalog(bytes) else { throw Catalog.unreadable(bytes, file.path, at: address) }
        catalog = new
        extractors = [:]
        catalog.removeDropped(&tables, &indexes)
        for number in indexes.indices where indexes[number] == nil { added.remove(number) }
    }

    /// Applies the row numbers that a compacted file had given out, so that none is given twice.
    private func setRowNumbers(_ row: UnsafeRowView, at address: UInt64) throws(StoreError) {
        guard sequence == 0, let numbers = RowNumbers(UnsafeRawBufferPointer(start: row.body, count: row.byteCount)) else {
            throw StoreError.corrupt(file.path, at: address, "the list of row numbers is malformed, or its address is wrong")
        }
        for (table, nextRow) in numbers.next where catalog.table(table) != nil {
            ownState(Int(table.rawValue)).skip(to: nextRow)
        }
    }

    // MARK: Indexes

    /// Updates the indexes that have runs. `finish` builds the others whole.
    private func index(old: UnsafeRowView?, new: UnsafeRowView?, table: TableID) throws(StoreError) {
        let definition = catalog.table(table)
        for index in try maintained(table) {
            if let old, let layout = definition?.layout(old.layoutID) { try add(old, layout, index, isTombstone: true) }
            if let new, let layout = definition?.layout(new.layoutID) { try add(new, layout, index, isTombstone: false) }
        }
    }

    private func add(
        _ row: UnsafeRowView, _ layout: RowLayout, _ index: IndexMaintainer, isTombstone: Bool
    ) throws(StoreError) {
        if index.hasTerms {
            return try index.forEachTerm(of: row, layout: layout, key: key) { () throws(StoreError) in
                key.append(row: row.reference.row)
                add(Int(index.id.rawValue), isTombstone: isTombstone)
            }
        }
        guard try makeKey(row, layout, index) else { return }
        add(Int(index.id.rawValue), isTombstone: isTombstone)
    }

    /// Adds the entry in `key`.
    private func add(_ number: Int, isTombstone: Bool) {
        if added.add(key.unsafeBuffer, to: number, isTombstone: isTombstone) { return }
        added.addBeyondMemory(key.unsafeBuffer, to: number, isTombstone: isTombstone) { SpilledEntries(file, options) }
    }

    /// Puts the row's index entry into `key`.
    /// - Returns: false if the row has no entry.
    private func makeKey(_ row: UnsafeRowView, _ layout: RowLayout, _ index: IndexMaintainer) throws(StoreError) -> Bool {
        key.removeAll()
        guard index.appendKey(of: row, layout: layout, to: key) else { return false }
        key.append(row: row.reference.row)
        try IndexKeyExtractors.check(key, sizeMax: IndexKeyExtractors.keySizeMax(file), in: file)
        return true
    }

    private func maintained(_ table: TableID) throws(StoreError) -> [IndexMaintainer] {
        if let known = extractors[table.rawValue] { return known }
        var found: [IndexMaintainer] = []
        for definition in catalog.indexes(on: table) {
            let number = Int(definition.id.rawValue)
            guard number < indexes.count, indexes[number] != nil else { continue }
            guard let extractor = try extractor(of: definition) else {
                // Its runs are stale from here on.
                indexes[number] = nil
                continue
            }
            found.append(IndexMaintainer(definition, extractor))
        }
        extractors[table.rawValue] = found
        return found
    }

    /// A reader that lacks an extractor does without the index. A writer throws, or the index would become stale.
    private func extractor(of definition: IndexDefinition) throws(StoreError) -> (any IndexKeyExtractor)? {
        do throws(StoreError) {
            return try IndexKeyExtractors.extractor(of: definition, options, path: file.path)
        } catch {
            guard options.isReadOnly else { throw error }
            return nil
        }
    }

    /// The snapshot of the state reached, with all its indexes.
    func finish(counters: Counters) throws(StoreError) -> Snapshot {
        added.add(to: &indexes)
        added = AddedEntries(bytesMax: options.indexMemory)
        let partial = snapshotAsIs(counters: counters)
        for definition in catalog.indexes {
            let number = Int(definition.id.rawValue)
            while indexes.count <= number { indexes.append(nil) }
            guard indexes[number] == nil, let extractor = try extractor(of: definition) else { continue }
            let built = try build(definition, extractor, from: partial)
            builtBytes += built.costOfBuilding(of: start, definition)
            indexes[number] = built
        }
        // `take` may still apply a prepared commit, and must update the indexes that were built here.
        extractors = [:]
        return snapshotAsIs(counters: counters)
    }

    /// The snapshot without the gathered index entries, for a replay that began without indexes and builds none.
    func snapshotAsIs(counters: Counters) -> Snapshot {
        own = IDSet()
        return Snapshot(
            sequence: sequence, catalog: catalog, file: file, end: end, commitChecksum: commitChecksum, tables: tables,
            indexes: indexes, counters: counters)
    }

    /// Builds an index from the rows of a snapshot.
    func build(_ definition: IndexDefinition, from rows: Snapshot) throws(StoreError) -> RunSet? {
        try extractor(of: definition).map { extractor throws(StoreError) in try build(definition, extractor, from: rows) }
    }

    private func build(
        _ definition: IndexDefinition, _ extractor: any IndexKeyExtractor, from rows: Snapshot
    ) throws(StoreError) -> RunSet {
        guard let table = catalog.table(definition.table) else { return .empty }
        let maintainer = IndexMaintainer(definition, extractor)
        var entries = AddedEntries(bytesMax: options.indexMemory)
        try rows.scanRows(definition.table) { row throws(StoreError) in
            guard let layout = table.layout(row.layoutID) else { return true }
            if maintainer.hasTerms {
                try maintainer.forEachTerm(of: row, layout: layout, key: key) { () throws(StoreError) in
                    key.append(row: row.reference.row)
                    if entries.add(key.unsafeBuffer, to: 0, isTombstone: false) { return }
                    entries.addBeyondMemory(key.unsafeBuffer, to: 0, isTombstone: false) { SpilledEntries(file, options) }
                }
                return true
            }
            guard try makeKey(row, layout, maintainer) else { return true }
            if entries.add(key.unsafeBuffer, to: 0, isTombstone: false) { return true }
            entries.addBeyondMemory(key.unsafeBuffer, to: 0, isTombstone: false) { SpilledEntries(file, options) }
            return true
        }
        return entries.runs(of: 0)
    }
}
