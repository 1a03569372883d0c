import RecordLog

/// The source of a to-many relationship's members.
package enum MemberSource: Sendable {
    /// These tables' indexes over the inverse to-one column.
    case inverse([(table: TableID, index: IndexID)])
    /// A join table, searched by source (forward) or by destination.
    case link(JoinTable, isForward: Bool)
}
