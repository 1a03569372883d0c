import RecordLog

/// The source of a to-many relationship's members.
package enum MemberSource: Sendable {
    /// These tables' indexes over the inverse to-one column.
    case inverse([(table: TableID, index: IndexID)])
    /// A join table, searched by source (forward) or by destination.
    case link(JoinTable, isForward: Bool)
}

/// Reads the members of a to-many relationship in one commit.
extension Snapshot {
    /// Calls `body` with each member's reference, in the relationship's order, until it returns false.
    /// One index seek for each table; reads no member's row.
    func forEachMember(of owner: RowReference, in source: MemberSource, _ body: (RowReference) throws -> Bool) throws {
        let range = RecordLogView.range(of: owner)
        switch source {
        case .inverse(let tables):
            for (table, index) in tables {
                var cursor = try cursor(index, range)
                while let row = try cursor.next() {
                    guard try body(RowReference(table: table, row: row)) else { return }
                }
            }
        case .link(let link, let isForward):
            var cursor = try cursor(link.index(isForward: isForward), range)
            while try cursor.next() != nil {
                // The key's last component is the other end, so the link row need not be read.
                guard let member = RecordLogView.lastReference(of: cursor.unsafeKey) else { continue }
                guard try body(member) else { return }
            }
        }
    }

    func memberCount(of owner: RowReference, in source: MemberSource) throws -> Int {
        let range = RecordLogView.range(of: owner)
        switch source {
        case .inverse(let tables): return try tables.reduce(0) { try $0 + count($1.index, range) }
        case .link(let link, let isForward): return try count(isForward ? link.forward : link.backward, range)
        }
    }
}
