extension Catalog {
    /// Forgets the state of tables and indexes that are not in this catalog (any more).
    func removeDropped(_ tables: inout [TableState?], _ indexes: inout [IndexRuns?]) {
        for slot in tables.indices.dropFirst() where table(TableID(rawValue: UInt16(slot))) == nil { tables[slot] = nil }
        var known = IDSet()
        for index in self.indexes { _ = known.insert(index.id.rawValue) }
        for slot in indexes.indices where !known.contains(UInt16(slot)) { indexes[slot] = nil }
    }
}
