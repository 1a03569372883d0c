/// Brings over the values that rows have in frames of their own: whole, or not at all.
///
/// A value that lacks a part is null in the new store, and listed: a value with a hole would pass for one that was stored.
struct SalvagedValues {
    private let audit: ValueAudit
    private var copy: ValueCopy
    private let builder = RowBuilder()
    /// Of the row that is being mended, while `builder` may have another.
    private let mender = RowBuilder()
    private(set) var lost = SalvageList<StoreSalvage.LostValue>()

    init(source: SalvageSource) {
        audit = ValueAudit(path: source.path, size: source.size) { offset, budget throws(StoreError) in
            try source.frame(at: offset, budget: &budget)
        }
        copy = ValueCopy(from: audit)
    }

    /// A row as a writer lays it down: of one that is not so, what is no value of its column is null and counts as lost.
    mutating func mended(_ row: RowView, _ layout: RowLayout) -> (row: RowView, lost: Int) {
        guard RowAudit.fault(of: row, layout) != nil else { return (row, 0) }
        var count = 0
        mender.begin(layout)
        for position in layout.columns.indices where !row.isNull(layout.access[position]) {
            guard RowAudit.fault(of: layout.access[position], in: row) != nil else {
                mender.copy(position, from: row, layout.access[position])
                continue
            }
            count += 1
            lost.append(.init(
                reference: row.reference, column: layout.columns[position].name,
                bytes: UInt64(layout.columns[position].type.slotSize ?? row.bytes(layout.access[position]).count)))
        }
        let body = mender.finish()
        guard let base = body.baseAddress else { preconditionFailure("a row has a layout") }
        return (RowView(body: base, byteCount: body.count, reference: row.reference, version: row.version), count)
    }

    /// Writes a row's values to the new store.
    /// - Returns: the row's body as it is there, and how many values are lost.
    mutating func bring(
        _ row: RowView, _ layout: RowLayout, to transaction: Transaction
    ) throws(StoreError) -> (body: [UInt8], lost: Int) {
        var damaged: [Int] = []
        for position in layout.valuePositions where !row.isNull(layout.access[position]) {
            let stored = row.bytes(layout.access[position])
            do throws(StoreError) {
                _ = try audit.value(stored)
            } catch {
                guard error.code == .corrupt else { throw error }
                damaged.append(position)
                lost.append(.init(
                    reference: row.reference, column: layout.columns[position].name, bytes: ValueReference(stored)?.length ?? 0))
            }
        }
        var row = row
        if !damaged.isEmpty {
            builder.begin(layout)
            for position in layout.columns.indices where !damaged.contains(position) && !row.isNull(layout.access[position]) {
                builder.copy(position, from: row, layout.access[position])
            }
            let body = builder.finish()
            guard let base = body.baseAddress else { preconditionFailure("a row has a layout") }
            row = RowView(body: base, byteCount: body.count, reference: row.reference, version: row.version)
        }
        let body = try copy.copy(row, layout, to: transaction.appender)
        for value in copy.values { transaction.own(value) }
        return (body, damaged.count)
    }
}
