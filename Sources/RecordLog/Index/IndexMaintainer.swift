/// Makes the keys of one index for many rows, and keeps its look-ups in a layout for the next row. Used by one thread at a time.
final class IndexMaintainer {
    let id: IndexID
    private let extractor: any IndexKeyExtractor
    /// Empty if a client's extractor makes the keys.
    private let parts: [IndexPart]
    private var layout: RowLayout?
    /// By part, for the current layout. Not an array, so that loops count no references.
    private let columns: UnsafeMutableBufferPointer<(access: ColumnAccess, isDescending: Bool)>

    init(_ definition: IndexDefinition, _ extractor: any IndexKeyExtractor) {
        id = definition.id
        self.extractor = extractor
        parts = definition.extractorName == nil ? definition.parts : []
        columns = .allocate(capacity: parts.count)
        columns.initialize(repeating: (.absent, false))
    }

    deinit {
        columns.deallocate()
    }

    @inline(__always)
    private func look(_ layout: RowLayout) {
        guard self.layout !== layout else { return }
        self.layout = layout
        for (index, part) in parts.enumerated() {
            columns[index] = (layout.access(of: part.column), !part.ascending)
        }
    }

    /// Appends the key of `row`.
    /// - Returns: false if the index has no entry for the row.
    @inline(__always)
    func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
        guard !parts.isEmpty else { return extractor.appendKey(of: row, layout: layout, to: key) }
        look(layout)
        for (access, isDescending) in columns { key.append(column: access, of: row, descending: isDescending) }
        return true
    }

    /// The columns of a layout from which keys are made; all columns if a client's extractor makes them.
    func columnSet(of layout: RowLayout) -> ColumnSet {
        guard !parts.isEmpty else { return .all }
        return parts.reduce(into: .none) { set, part in
            if let position = layout.position(of: part.column) { set.insert(position) }
        }
    }

    /// Whether two rows of one layout certainly have the same key.
    func isUnchanged(_ old: UnsafeRowView, _ new: UnsafeRowView, layout: RowLayout) -> Bool {
        guard !parts.isEmpty else { return false }
        look(layout)
        for (access, _) in columns where !access.isAbsent {
            guard old.isNull(access) == new.isNull(access) else { return false }
            if let size = access.type.slotSize {
                guard KeyBytes.areEqual(old.slot(access), new.slot(access), size) else { return false }
            } else {
                guard KeyBytes.compare(old.bytes(access), new.bytes(access)) == 0 else { return false }
            }
        }
        return true
    }
}
