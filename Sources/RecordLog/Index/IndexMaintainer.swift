/// Makes the keys of one index for many rows, one after the other: what it has looked up of a layout it keeps for the next row.
/// Used by one thread at a time.
final class IndexMaintainer {
    let id: IndexID
    private let extractor: any IndexKeyExtractor
    /// Empty where the extractor is the client's.
    private let parts: [IndexPart]
    private var layout: RowLayout?
    private var columns: [(access: ColumnAccess, isDescending: Bool)] = []
    /// The columns of `layout` that keys are made of; all of them where the extractor is the client's.
    private var columnSet = ColumnSet.all

    init(_ definition: IndexDefinition, _ extractor: any IndexKeyExtractor) {
        id = definition.id
        self.extractor = extractor
        parts = definition.extractorName == nil ? definition.parts : []
    }

    @inline(__always)
    private func look(_ layout: RowLayout) {
        guard self.layout !== layout else { return }
        self.layout = layout
        let positions = parts.map { layout.position(of: $0.column) }
        columns = zip(parts, positions).map { part, position in (position.map { layout.access[$0] } ?? .absent, !part.ascending) }
        columnSet = .none
        for position in positions { position.map { columnSet.insert($0) } }
    }

    /// Appends the key of `row`.
    /// - Returns: false where the row has no place in the index.
    @inline(__always)
    func appendKey(of row: RowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
        guard !parts.isEmpty else { return extractor.appendKey(of: row, layout: layout, to: key) }
        look(layout)
        for (access, isDescending) in columns { key.append(column: access, of: row, descending: isDescending) }
        return true
    }

    /// Whether two rows of one layout certainly have the same key.
    /// - Parameter changed: the rows are equal in all other columns.
    @inline(__always)
    func isUnchanged(_ old: RowView, _ new: RowView, in changed: ColumnSet, layout: RowLayout) -> Bool {
        guard !parts.isEmpty else { return false }
        look(layout)
        return columnSet.isDisjoint(with: changed) || hasEqualColumns(old, new)
    }

    /// Of the layout that was looked at last.
    func hasEqualColumns(_ old: RowView, _ new: RowView) -> Bool {
        for (access, _) in columns where !access.isAbsent {
            guard old.isNull(access) == new.isNull(access) else { return false }
            if let size = access.type.slotSize {
                guard KeyBytes.areEqual(old.body + Int(access.position), new.body + Int(access.position), size) else { return false }
            } else {
                guard KeyBytes.compare(old.bytes(access), new.bytes(access)) == 0 else { return false }
            }
        }
        return true
    }
}
