import RecordLog

/// Where the members of a to-many relationship are found.
enum MemberSource: Sendable {
    /// In each of these tables' index over the inverse to-one column.
    case inverse([(table: TableID, index: IndexID)])
    /// In a join table, looked up by source (forward) or by destination.
    case link(JoinTable, isForward: Bool)
}
