/// Finds the indexes of a copied snapshot that disagree with its rows.
///
/// Sums the hashes of an index's entries, and of the entries made from the rows, so that neither set is sorted or stored. If the sums are
/// equal and the entries are in order, the sets are equal, with an error of one in 2^64. A thread sums the rows while the indexes are
/// written.
final class IndexCheck: @unchecked Sendable {
    // Unchecked: only the thread writes the outcome, and others read it once the thread has ended.

    private struct Sum: Equatable {
        var count: UInt64 = 0
        var hashes: UInt64 = 0

        @inline(__always)
        mutating func add(_ entry: UnsafeRawBufferPointer) {
            count &+= 1
            hashes &+= XXH64.hash(entry, seed: 0)
        }

        /// Adds the entries that an index has for rows.
        mutating func add(
            entriesOf rows: UnsafeBufferPointer<UnsafeRowView>, _ table: TableDefinition, _ maintainer: IndexMaintainer, _ key: KeyBuilder
        ) throws(StoreError) {
            var layout: RowLayout?
            for row in rows {
                if layout?.id != row.layoutID { layout = table.layout(row.layoutID) }
                guard let layout else { continue }
                guard !maintainer.hasTerms else {
                    try maintainer.forEachTerm(of: row, layout: layout, key: key) { () throws(StoreError) in
                        key.append(row: row.reference.row)
                        add(key.unsafeBuffer)
                    }
                    continue
                }
                key.removeAll()
                guard maintainer.appendKey(of: row, layout: layout, to: key) else { continue }
                key.append(row: row.reference.row)
                add(key.unsafeBuffer)
            }
        }
    }

    /// The indexes of a table that can be checked.
    private struct Part {
        let table: TableDefinition
        let definitions: [IndexDefinition]
        let maintainers: [IndexMaintainer]
    }

    private let rows: Snapshot
    private let parts: [Part]
    private let path: String
    private var outcome: Result<[[Sum]], StoreError>?
    private let thread = StoppableThread()

    private static let reportEvery: UInt64 = 1 << 16

    /// Begins to sum the rows. Skips an index whose extractor is missing.
    /// - Parameters:
    ///   - base: the snapshot that is copied.
    ///   - rows: the copied rows.
    init(of base: Snapshot, _ rows: Snapshot, _ options: StoreOptions) {
        self.rows = rows
        let path = rows.file.path
        self.path = path
        parts = base.catalog.tables.compactMap { table in
            var definitions: [IndexDefinition] = [], maintainers: [IndexMaintainer] = []
            for definition in base.catalog.indexes(on: table.id) where base.hasIndex(definition.id) {
                guard let extractor = try? IndexKeyExtractors.extractor(of: definition, options, path: path) else { continue }
                definitions.append(definition)
                maintainers.append(IndexMaintainer(definition, extractor))
            }
            return definitions.isEmpty ? nil : Part(table: table, definitions: definitions, maintainers: maintainers)
        }
        let count = parts.reduce(UInt64(0)) { $0 + (rows.state($1.table.id)?.rowCount ?? 0) }
        if count < options.entriesForThread || !thread.start({ self.sumUpRows() }) { sumUpRows() }
    }

    private func sumUpRows() {
        do throws(StoreError) {
            var all: [[Sum]] = []
            for part in parts { all.append(try sums(of: part)) }
            outcome = .success(all)
        } catch {
            outcome = .failure(error)
        }
    }

    /// Stops the thread and waits for its end.
    func stop() { thread.stop() }

    /// - Parameters:
    ///   - copied: the rows with their indexes.
    ///   - report: called now and then; an error that it throws ends the check.
    /// - Returns: the indexes that must be rebuilt.
    /// - Complexity: O(rows and entries), one pass over each.
    func run(on copied: Snapshot, _ report: () throws(StoreError) -> Void) throws(StoreError) -> [IndexDefinition] {
        var entries: [[Sum?]] = []
        for part in parts {
            var sums: [Sum?] = []
            for definition in part.definitions { sums.append(try sum(of: definition, in: copied, report)) }
            entries.append(sums)
        }
        while !thread.hasEnded {
            try report()
            thread.wait(atMost: 10)
        }
        guard let wanted = try outcome?.get() else { preconditionFailure("a check that has ended has an outcome") }
        var wrong: [IndexDefinition] = []
        for (position, part) in parts.enumerated() {
            for (index, definition) in part.definitions.enumerated() where entries[position][index] != wanted[position][index] {
                wrong.append(definition)
            }
        }
        return wrong
    }

    private func sums(of part: Part) throws(StoreError) -> [Sum] {
        var sums = [Sum](repeating: Sum(), count: part.maintainers.count)
        let key = KeyBuilder()
        // In batches, so that the inner loop looks up no layout and no maintainer, which would count references.
        let batch = UnsafeMutableBufferPointer<UnsafeRowView>.allocate(capacity: Snapshot.scanBatchSize)
        defer { batch.deallocate() }
        var scan = RowScan(rows, part.table.id, from: 0), count: UInt64 = 0
        defer { rows.counters.rowsRead(scan.found) }
        while true {
            let filled = try scan.fill(batch)
            for index in part.maintainers.indices {
                try sums[index].add(entriesOf: UnsafeBufferPointer(rebasing: batch[..<filled]), part.table, part.maintainers[index], key)
            }
            guard filled == batch.count else { return sums }
            count &+= UInt64(filled)
            if count % Self.reportEvery == 0 { try thread.check(path) }
        }
    }

    /// - Returns: nil if the entries are out of order or cannot be read.
    private func sum(
        of definition: IndexDefinition, in copied: Snapshot, _ report: () throws(StoreError) -> Void
    ) throws(StoreError) -> Sum? {
        do throws(StoreError) {
            var sum = Sum()
            let merge = try copied.merge(definition.id, .all, descending: false)
            let last = KeyBuilder()
            while try merge.next() {
                let entry = merge.entry
                guard last.count == 0 || KeyBytes.compare(last.unsafeBuffer, entry) < 0 else { return nil }
                last.removeAll()
                last.append(key: entry)
                sum.add(entry)
                if sum.count % Self.reportEvery == 0 { try report() }
            }
            return sum
        } catch {
            guard error.code == .corrupt else { throw error }
            return nil
        }
    }
}
