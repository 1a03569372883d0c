/// Finds the indexes of a snapshot that do not say what its rows say.
///
/// The entries of an index and those that the rows make are summed up by their hashes, so that neither is sorted or kept: where the sums are
/// equal and the entries are in order, the entries are, with certainty enough (one in 2^64), the same.
struct IndexCheck {
    private struct Sum: Equatable {
        var count: UInt64 = 0
        var hashes: UInt64 = 0

        @inline(__always)
        mutating func add(_ entry: UnsafeRawBufferPointer) {
            count &+= 1
            hashes &+= XXH64.hash(entry, seed: 0)
        }
    }

    private let snapshot: Snapshot
    private let options: StoreOptions
    private let path: String
    private let report: () throws(StoreError) -> Void

    private static let reportEvery: UInt64 = 1 << 16

    init(_ snapshot: Snapshot, _ options: StoreOptions, path: String, _ report: @escaping () throws(StoreError) -> Void) {
        self.snapshot = snapshot
        self.options = options
        self.path = path
        self.report = report
    }

    /// - Returns: the indexes that must be made anew. One whose extractor is missing is left alone.
    /// - Complexity: O(rows and entries); one pass over each.
    func run() throws(StoreError) -> [IndexDefinition] {
        var wrong: [IndexDefinition] = []
        for table in snapshot.catalog.tables {
            var definitions: [IndexDefinition] = [], maintainers: [IndexMaintainer] = []
            for definition in snapshot.catalog.indexes(on: table.id) where snapshot.hasIndex(definition.id) {
                guard let extractor = try? IndexKeyExtractors.extractor(of: definition, options, path: path) else { continue }
                definitions.append(definition)
                maintainers.append(IndexMaintainer(definition, extractor))
            }
            guard !definitions.isEmpty else { continue }
            let wanted = try sums(of: table, maintainers)
            for (place, definition) in definitions.enumerated() where try sum(of: definition) != wanted[place] { wrong.append(definition) }
        }
        return wrong
    }

    private func sums(of table: TableDefinition, _ maintainers: [IndexMaintainer]) throws(StoreError) -> [Sum] {
        var sums = [Sum](repeating: Sum(), count: maintainers.count)
        let key = KeyBuilder()
        var rows: UInt64 = 0
        try snapshot.scanRows(table.id) { row throws(StoreError) in
            rows &+= 1
            if rows % Self.reportEvery == 0 { try report() }
            guard let layout = table.layout(row.layoutID) else { return true }
            for place in maintainers.indices {
                key.removeAll()
                guard maintainers[place].appendKey(of: row, layout: layout, to: key) else { continue }
                key.append(row: row.reference.row)
                sums[place].add(key.buffer)
            }
            return true
        }
        return sums
    }

    /// - Returns: nil where the entries are not in order, or cannot be read.
    private func sum(of definition: IndexDefinition) throws(StoreError) -> Sum? {
        do throws(StoreError) {
            var sum = Sum()
            let merge = try snapshot.merge(definition.id, .all, descending: false)
            var last: [UInt8] = []
            while try merge.next() {
                let entry = merge.entry
                guard last.isEmpty || last.withUnsafeBytes({ KeyBytes.compare($0, entry) < 0 }) else { return nil }
                last.removeAll(keepingCapacity: true)
                last.append(contentsOf: entry)
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
