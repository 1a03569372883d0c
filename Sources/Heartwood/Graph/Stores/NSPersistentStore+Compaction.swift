import RecordLog

extension NSPersistentStore {
    /// Writes a record log's live data to a new file that replaces its file. Objects and contexts stay valid, and saves wait only at its end. A
    /// store compacts automatically unless its options refuse it.
    /// - Parameter progress: called now and then with the fraction done; false cancels, and the store stays unchanged.
    /// - Returns: the log's bytes before and after.
    /// - Throws: 134070 for a store of another type; a timeout error if a compaction is running, in this or another process; otherwise the errors
    ///   of a save. A crash at any point leaves the old file or the new one, whole.
    /// - Complexity: O(live data).
    @discardableResult
    public final func compactRecordLog(progress: ((Double) -> Bool)? = nil) throws -> (bytesBefore: UInt64, bytesAfter: UInt64) {
        guard let log = recordLog else {
            throw StoreAbility.compaction.missing(in: self)
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
