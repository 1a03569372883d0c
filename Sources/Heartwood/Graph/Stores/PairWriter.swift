import RecordLog

/// Writes pairs as rows of a join table.
package struct PairWriter {
    private let link: JoinTable
    private let builder = RowBuilder()

    package init(_ link: JoinTable) { self.link = link }

    /// - Parameters:
    ///   - order: the member's position among the owner's; `inverseOrder` the owner's among the member's.
    /// - Returns: the row's size.
    package func write(
        _ owner: RowReference, _ member: RowReference, order: Int64, inverseOrder: Int64, _ transaction: Transaction
    ) throws -> Int {
        builder.begin(link.layout)
        builder.set(JoinTable.sourcePosition, reference: owner)
        builder.set(JoinTable.destinationPosition, reference: member)
        if link.isOrdered { builder.set(JoinTable.orderPosition, int64: order) }
        if link.inverse != nil { builder.set(JoinTable.inverseOrderPosition, int64: inverseOrder) }
        let body = builder.unsafeBody()
        try transaction.put(RowReference(table: link.id, row: try transaction.newRow(in: link.id)), body: body)
        return body.count
    }
}
