/// The cost of building an index anew while opening, in bytes of log that could be replayed instead.
extension Snapshot {
    /// The cost of the indexes that this commit has and the one before has not.
    func builtBytes(over base: Snapshot) -> UInt64 {
        catalog.indexes.reduce(0) { sum, definition in
            let number = Int(definition.id.rawValue)
            guard base.catalog.index(definition.id) == nil, number < indexes.count, let runs = indexes[number] else { return sum }
            return sum + runs.costOfBuilding(of: base, definition)
        }
    }
}

extension RunSet {
    /// The bytes of an index's entries and of the rows of which it was built. Rows that the log behind a snapshot has are replayed anyway.
    func costOfBuilding(of rows: Snapshot, _ definition: IndexDefinition) -> UInt64 {
        guard let live = rows.state(definition.table)?.liveBytes, live > 0 else { return 0 }
        return UInt64(freshByteCount) + live
    }
}
