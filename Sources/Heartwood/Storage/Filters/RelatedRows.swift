import RecordLog

/// The rows that the tests of one row read beside it, in a store whose rows are in no record log: those at the other ends of its relationships.
package final class RelatedRows {
    private let view: any StoreView
    let schema: RecordLogSchema
    let slotBase: UInt64

    /// - Parameter view: keeps each row that it has given for as long as the query's rows are used.
    package init(_ view: any StoreView, _ schema: RecordLogSchema, slotBase: UInt64) {
        (self.view, self.schema, self.slotBase) = (view, schema, slotBase)
    }

    private func key(_ reference: RowReference) -> ObjectKey { ObjectKey(rawValue: reference.rawValue &+ slotBase) }

    /// nil where there is no such row.
    func row(_ reference: RowReference) throws -> UnsafeRowView? { try view.row(key(reference)) }

    func forEachMember(of owner: RowReference, in source: MemberSources, _ body: (RowReference) throws -> Bool) throws {
        for member in try view.members(of: key(owner), runtime: source.owner, property: source.property) {
            guard try body(RowReference(rawValue: member.rawValue &- slotBase)) else { return }
        }
    }

    func memberCount(of owner: RowReference, in source: MemberSources) throws -> Int {
        try view.memberCount(of: key(owner), runtime: source.owner, property: source.property)
    }
}
