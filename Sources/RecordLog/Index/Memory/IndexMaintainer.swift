/// Makes the keys of one index for many rows, and keeps its look-ups in a layout for the next row. Used by one thread at a time.
final class IndexMaintainer {
    let id: IndexID
    private let extractor: any IndexKeyExtractor
    /// Set if the index has terms instead of keys.
    private let termExtractor: (any IndexTermExtractor)?
    /// Not computed: to look at the extractor copies it.
    let hasTerms: Bool
    private let terms = TermList(), otherTerms = TermList()
    /// Empty if a client's extractor makes the keys.
    private let parts: [IndexPart]
    /// The columns from which the terms are made; empty if they are not known.
    private let columnNames: [String]
    private var layout: RowLayout?
    /// By part, or by name, for the current layout. Not an array, so that loops count no references.
    private let columns: UnsafeMutableBufferPointer<(access: ColumnAccess, isDescending: Bool)>

    init(_ definition: IndexDefinition, _ extractor: any IndexKeyExtractor) {
        id = definition.id
        self.extractor = extractor
        termExtractor = extractor as? any IndexTermExtractor
        hasTerms = termExtractor != nil
        parts = definition.extractorName == nil ? definition.parts : []
        columnNames = termExtractor?.columnNames ?? []
        columns = .allocate(capacity: parts.count + columnNames.count)
        columns.initialize(repeating: (.absent, false))
    }

    deinit {
        columns.deallocate()
    }

    @inline(__always)
    private func look(_ layout: RowLayout) {
        guard self.layout !== layout else { return }
        self.layout = layout
        for (index, name) in columnNames.enumerated() {
            let column = layout.columns.first { $0.name == name } ?? layout.laterColumns.first { $0.name == name }
            columns[index] = (column.map { layout.access(of: $0.id) } ?? .absent, false)
        }
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
        if !columnNames.isEmpty {
            return layout.columns.indices.reduce(into: .none) { set, position in
                if columnNames.contains(layout.columns[position].name) { set.insert(position) }
            }
        }
        guard !parts.isEmpty else { return .all }
        return parts.reduce(into: .none) { set, part in
            if let position = layout.position(of: part.column) { set.insert(position) }
        }
    }

    /// Whether two rows of one layout certainly have the same key.
    func isUnchanged(_ old: UnsafeRowView, _ new: UnsafeRowView, layout: RowLayout) -> Bool {
        guard !columns.isEmpty else { return false }
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

    // MARK: Terms

    /// Calls `body` with the key of each term of a row.
    func forEachTerm(
        of row: UnsafeRowView, layout: RowLayout, key: KeyBuilder, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        terms.removeAll()
        termExtractor?.appendTerms(of: row, layout: layout, to: terms)
        for index in 0..<terms.count {
            key.removeAll()
            key.append(term: terms[index])
            try body()
        }
    }

    /// Calls `body` with the key of each term that only one of two rows has.
    func forEachChangedTerm(
        _ old: UnsafeRowView, _ oldLayout: RowLayout, _ new: UnsafeRowView, _ newLayout: RowLayout, key: KeyBuilder,
        _ body: (_ isOld: Bool) throws(StoreError) -> Void
    ) throws(StoreError) {
        terms.removeAll()
        otherTerms.removeAll()
        termExtractor?.appendTerms(of: old, layout: oldLayout, to: terms)
        termExtractor?.appendTerms(of: new, layout: newLayout, to: otherTerms)
        terms.sort()
        otherTerms.sort()
        var before = 0, after = 0
        while before < terms.count || after < otherTerms.count {
            let order = before == terms.count ? 1
                : after == otherTerms.count ? -1 : KeyBytes.compare(terms.sorted(before), otherTerms.sorted(after))
            if order != 0 {
                key.removeAll()
                key.append(term: order < 0 ? terms.sorted(before) : otherTerms.sorted(after))
                try body(order < 0)
            }
            if order <= 0 { before += 1 }
            if order >= 0 { after += 1 }
        }
    }
}
