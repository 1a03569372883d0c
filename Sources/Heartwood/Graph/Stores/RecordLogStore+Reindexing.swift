import RecordLog

extension RecordLogStore {
    /// Has views from now on use the indexes of a newer catalog; older views keep what they had.
    final func adoptIndexes(_ catalog: Catalog) {
        replaceSchema { RecordLogSchema(tables: $0.tables.compactMap { $0?.reindexed(catalog) }, links: $0.links) }
    }
}
