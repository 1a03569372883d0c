/// The entries of an index that is built beside readers and writers.
///
/// The first pass makes the entries of one snapshot's rows, without a lock. Then each `follow` adds those of the rows that commits have changed
/// since; the last one is short, and runs in the transaction that defines the index. Nothing of it is in the file before that commit.
struct IndexBuild {
    private let store: LogStore
    private let definition: IndexDefinition
    private let maintainer: IndexMaintainer
    /// The commit whose rows `runs` has.
    private(set) var base: Snapshot
    /// The entries.
    private(set) var runs = RunSet.empty
    private let key = KeyBuilder()

    /// Rows between two looks whether the store was closed.
    private static let rowsPerLook = 1024

    /// - Parameter definition: its number plays no part.
    init(of definition: IndexDefinition, in store: LogStore, over base: Snapshot) throws(StoreError) {
        self.store = store
        self.definition = definition
        self.base = base
        let extractor = try IndexKeyExtractors.extractor(of: definition, store.options, path: store.path)
        maintainer = IndexMaintainer(definition, extractor)
        var entries = AddedEntries(bytesMax: store.options.indexMemory), rows = 0
        let table = base.catalog.table(definition.table)
        try base.scanRows(definition.table) { row throws(StoreError) in
            rows += 1
            if rows % Self.rowsPerLook == 0, store.closing.isFinished {
                throw StoreError(.closed, path: store.path, "the store was closed while an index was built", remedy: "Open it again.")
            }
            if let layout = table?.layout(row.layoutID) { try add(row, layout, isTombstone: false, to: &entries) }
            return true
        }
        runs = entries.runs(of: 0)
    }

    /// Whether the entries can be brought to a later snapshot. A compaction gives the store another file, whose log does not go on from here.
    func canFollow(to newest: Snapshot) -> Bool { newest.file === base.file }

    /// Adds the entries of the rows that commits up to a later snapshot have changed.
    /// - Complexity: O(log between the two).
    mutating func follow(to newest: Snapshot) throws(StoreError) {
        var changed: Set<UInt64> = [], scan = CommitScan(from: base, to: newest)
        while scan.sequence < newest.sequence {
            guard try scan.next() != nil else {
                throw StoreError.corrupt(store.path, at: scan.position, "the log ends before its newest commit")
            }
            for frame in scan.frames {
                _ = frame.forEachRow { record, _, _ in
                    if record.reference.table == definition.table { changed.insert(record.reference.row) }
                }
            }
        }
        var entries = AddedEntries(bytesMax: store.options.indexMemory)
        for row in changed.sorted() {
            let reference = RowReference(table: definition.table, row: row)
            if let old = try base.unsafeRow(reference), let layout = base.catalog.table(definition.table)?.layout(old.layoutID) {
                try add(old, layout, isTombstone: true, to: &entries)
            }
            // Of equal entries the last one counts.
            if let new = try newest.unsafeRow(reference), let layout = newest.catalog.table(definition.table)?.layout(new.layoutID) {
                try add(new, layout, isTombstone: false, to: &entries)
            }
        }
        runs = entries.runs(of: 0, over: runs)
        base = newest
    }

    private func add(
        _ row: UnsafeRowView, _ layout: RowLayout, isTombstone: Bool, to entries: inout AddedEntries
    ) throws(StoreError) {
        if maintainer.hasTerms {
            try maintainer.forEachTerm(of: row, layout: layout, key: key) { () throws(StoreError) in
                key.append(row: row.reference.row)
                add(isTombstone: isTombstone, to: &entries)
            }
            return
        }
        key.removeAll()
        guard maintainer.appendKey(of: row, layout: layout, to: key) else { return }
        key.append(row: row.reference.row)
        try IndexKeyExtractors.check(key, sizeMax: IndexKeyExtractors.keySizeMax(base.file), in: base.file)
        add(isTombstone: isTombstone, to: &entries)
    }

    /// Adds the entry in `key`.
    private func add(isTombstone: Bool, to entries: inout AddedEntries) {
        if entries.add(key.unsafeBuffer, to: 0, isTombstone: isTombstone) { return }
        entries.addBeyondMemory(key.unsafeBuffer, to: 0, isTombstone: isTombstone) { SpilledEntries(base.file, store.options) }
    }
}
