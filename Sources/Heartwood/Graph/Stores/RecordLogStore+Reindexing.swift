import RecordLog

extension RecordLogStore {
    /// Makes new views use the indexes of a newer catalog; older views keep theirs.
    final func adoptIndexes(_ catalog: Catalog) {
        replaceSchema { RecordLogSchema(tables: $0.tables.compactMap { $0?.reindexed(catalog) }, links: $0.links) }
    }
}
