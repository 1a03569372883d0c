extension Transaction {
    /// The changes of one table.
    final class TableChanges {
        let id: TableID
        var definition: TableDefinition? {
            didSet {
                hasValues = definition?.hasValues ?? false
                known = .none
            }
        }
        /// Whether its rows may have values in frames of their own.
        private var hasValues: Bool
        var indexes: [IndexMaintainer] {
            didSet {
                known = .none
                unretainedIndexes = indexes.map(Unmanaged.passUnretained)
            }
        }
        /// The elements of `indexes`, which keeps them alive, for loops over each row's indexes without reference counting.
        private(set) var unretainedIndexes: [Unmanaged<IndexMaintainer>]
        /// Rows from this number on are this transaction's own.
        private(set) var firstNew: UInt64
        /// The number after the last one given out.
        @exclusivity(unchecked) private(set) var nextRow: UInt64
        /// The addresses of the written rows, with the tombstone bit for deleted ones.
        @exclusivity(unchecked) var addresses = RowAddresses()
        /// The count of row numbers given out and not written yet.
        @exclusivity(unchecked) private(set) var unwritten: UInt64 = 0
        @exclusivity(unchecked) var rowDelta: Int64 = 0
        @exclusivity(unchecked) var byteDelta: Int64 = 0

        init(id: TableID, definition: TableDefinition?, indexes: [IndexMaintainer], firstNew: UInt64) {
            self.id = id
            self.definition = definition
            hasValues = definition?.hasValues ?? false
            self.indexes = indexes
            unretainedIndexes = indexes.map(Unmanaged.passUnretained)
            self.firstNew = firstNew
            nextRow = firstNew
        }

        /// The older rows that were changed, in order.
        var changedRows: [UInt64] {
            var rows: [UInt64] = []
            addresses.forEach(below: firstNew) { row, _ in rows.append(row) }
            return rows
        }

        @inline(__always)
        func takeRow() -> UInt64 {
            defer {
                nextRow &+= 1
                unwritten &+= 1
            }
            return nextRow
        }

        /// The facts that a change of a row is checked with, for the layout used last.
        private var known = LayoutFacts.none

        @inline(__always)
        func facts(of layout: LayoutID) -> LayoutFacts? {
            known.layout == Int(layout.rawValue) ? known : findFacts(of: layout)
        }

        @inline(never)
        private func findFacts(of id: LayoutID) -> LayoutFacts? {
            guard let layout = definition?.layout(id) else { return nil }
            known = LayoutFacts(
                layout: Int(id.rawValue), minimumBodySize: layout.minimumBodySize, hasValues: !layout.valuePositions.isEmpty,
                indexedColumns: indexes.reduce(into: .none) { $0.formUnion($1.columnSet(of: layout)) })
            return known
        }

        /// A layout of the table; the definition holds it.
        @inline(__always)
        func layout(_ id: LayoutID) -> Unmanaged<RowLayout>? { definition?.layout(id).map(Unmanaged.passUnretained) }

        /// Counts rows below `next` as older ones.
        func skip(to next: UInt64) {
            precondition(nextRow == firstNew, "row numbers are left out before any is given")
            firstNew = max(firstNew, next)
            nextRow = firstNew
        }

        @inline(__always)
        func liveBytes(of row: UnsafeRowView) -> UInt64 {
            guard hasValues, let definition else { return UInt64(RowRecord.size(ofBody: row.byteCount)) }
            return definition.liveBytes(of: row)
        }

        @inline(__always)
        func liveBytes(ofBody body: UnsafeRawBufferPointer, _ reference: RowReference) -> UInt64 {
            guard hasValues, let base = body.baseAddress else { return UInt64(RowRecord.size(ofBody: body.count)) }
            return liveBytes(of: UnsafeRowView(body: base, byteCount: body.count, reference: reference, version: 0))
        }

        /// The address at which this transaction has written a row; 0 if it has not.
        @inline(__always)
        func address(_ row: UInt64) -> UInt64 { addresses.address(row) }

        @inline(__always)
        func set(_ row: UInt64, _ address: UInt64) {
            if row >= firstNew, addresses.address(row) == 0 { unwritten &-= 1 }
            addresses.set(row, address)
        }
    }

    struct LayoutFacts {
        /// The layout's ID; -1 for none.
        let layout: Int
        let minimumBodySize: Int
        let hasValues: Bool
        /// The columns in the keys of any index.
        let indexedColumns: ColumnSet

        static let none = LayoutFacts(layout: -1, minimumBodySize: 0, hasValues: false, indexedColumns: .all)
    }
}
