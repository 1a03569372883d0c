/// A store that changes rows without objects.
package protocol BatchStore: NSPersistentStore {
    /// Inserts, updates or deletes rows without objects in a context; `outcome` collects the affected rows.
    func execute(_ batch: StoreBatch, origin: TransactionOrigin, outcome: BatchOutcome) throws -> BatchOutcome
}
