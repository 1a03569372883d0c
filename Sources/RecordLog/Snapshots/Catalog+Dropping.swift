extension Catalog {
    /// Removes the states of tables and indexes that are not in this catalog.
    func removeDropped(_ tables: inout [TableState?], _ indexes: inout [RunSet?]) {
        for number in tables.indices.dropFirst() where table(TableID(rawValue: UInt16(number))) == nil { tables[number] = nil }
        var known = IDSet()
        for index in self.indexes { _ = known.insert(index.id.rawValue) }
        for number in indexes.indices where !known.contains(UInt16(number)) { indexes[number] = nil }
    }
}
