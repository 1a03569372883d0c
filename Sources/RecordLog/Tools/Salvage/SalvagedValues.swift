/// Copies the values that rows have in frames of their own, each whole or not at all.
///
/// A value that lacks a part becomes null in the new store, and is listed: a value with a hole would pass for a stored one.
struct SalvagedValues {
    private let audit: ValueAudit
    private var copy: ValueCopy
    private let builder = RowBuilder()
    /// For the row that is being mended, since `builder` may have another.
    private let mender = RowBuilder()
    private(set) var lost = SalvageList<StoreSalvage.LostValue>()

    init(source: SalvageSource) {
        audit = ValueAudit(path: source.path, size: source.size) { offset, budget throws(StoreError) in
            try source.frame(at: offset, budget: &budget)
        }
        copy = ValueCopy(from: audit)
    }

    /// The row in the form that a writer gives it. In a malformed row, a value that is invalid for its column becomes null and counts as
    /// lost.
    mutating func mended(_ row: UnsafeRowView, _ layout: RowLayout) -> (row: UnsafeRowView, lost: Int) {
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
        let body = mender.unsafeBody()
        guard let base = body.baseAddress else { preconditionFailure("a row has a layout") }
        return (UnsafeRowView(body: base, byteCount: body.count, reference: row.reference, version: row.version), count)
    }

    /// Writes a row's values to the new store.
    /// - Returns: the row's body in the new store, and the count of lost values.
    mutating func bring(
        _ row: UnsafeRowView, _ layout: RowLayout, to transaction: Transaction
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
            let body = builder.unsafeBody()
            guard let base = body.baseAddress else { preconditionFailure("a row has a layout") }
            row = UnsafeRowView(body: base, byteCount: body.count, reference: row.reference, version: row.version)
        }
        let body = try copy.copy(row, layout, to: transaction.appender)
        for value in copy.values { transaction.own(value) }
        return (body, damaged.count)
    }
}
