import RecordLog

/// An index over one entity's table.
final class TableIndex: Sendable {
    struct Part: Sendable {
        let key: IndexKey
        let isAscending: Bool

        init(_ key: IndexKey, isAscending: Bool) {
            self.key = key
            self.isAscending = isAscending
        }

        init(property: Int, isAscending: Bool) {
            self.init(.property(property), isAscending: isAscending)
        }

        /// nil for an expression.
        var property: Int? {
            if case .property(let index) = key { return index }
            return nil
        }
    }

    let id: IndexID
    let name: String
    let parts: [Part]
    /// Whether the index enforces a uniqueness constraint.
    let isUnique: Bool
    /// The condition of the rows in the index; nil where it contains all rows.
    let partial: PartialIndex?
    /// Whether the index has terms of a text instead of keys; it has one part then.
    let isText: Bool
    /// The same constraint's indexes on the tables of related entities, which inherit it: a value is unique over all of them.
    let siblings: [(table: TableID, index: IndexID)]

    /// The indexed attributes; nil where a part is an expression.
    let attributes: [(property: Int, isDescending: Bool)]?
    /// Identifies the constraint: the same number in all tables that it covers.
    let constraint: UInt16

    init(
        id: IndexID, name: String, parts: [Part], isUnique: Bool, isText: Bool = false, partial: PartialIndex?,
        siblings: [(table: TableID, index: IndexID)]
    ) {
        self.id = id
        self.name = name
        self.parts = parts
        self.isUnique = isUnique
        self.isText = isText
        self.partial = partial
        self.siblings = siblings
        // A loop instead of `map`: see `EntityTable.names(of:)`.
        var attributes: [(property: Int, isDescending: Bool)] = []
        for part in parts {
            if case .property(let property) = part.key { attributes.append((property, !part.isAscending)) }
        }
        self.attributes = attributes.count == parts.count ? attributes : nil
        constraint = siblings.reduce(id.rawValue) { min($0, $1.index.rawValue) }
    }
}
