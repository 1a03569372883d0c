import RecordLog

extension NSPersistentStore {
    /// Writes a record log's live data to a new file in its file's place; objects and contexts go on as they were, and saves
    /// wait only at its end. A store does this by itself unless its options say otherwise.
    /// - Parameter progress: called now and then with the fraction done; false cancels, and the store stays as it was.
    /// - Returns: the log's bytes before and after.
    /// - Throws: 134070 for a store of another type; the error of a timeout where a compaction is under way, in whatever
    ///   process; otherwise as a save does. A crash at any point leaves the old file or
    ///   the new one, whole.
    /// - Complexity: O(live data).
    @discardableResult
    public final func compactRecordLog(progress: ((Double) -> Bool)? = nil) throws -> (bytesBefore: UInt64, bytesAfter: UInt64) {
        guard let log = recordLog else {
            throw CoreDataError.make(NSPersistentStoreOperationError, "Only a record log can be compacted; this store is \(type).")
        }
        do {
            let report = try log.compact(findsHolders: false) { state in
                progress?(Double(state.rowsDone) / Double(max(state.rowsTotal, 1))) ?? true
            }
            return (report.bytesBefore, report.bytesAfter)
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }
}
