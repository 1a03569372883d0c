extension Snapshot {
    /// The row at one of its versions, of this snapshot or an earlier one, even if it was deleted later.
    /// - Returns: nil if there was no such version, or a compaction has dropped it.
    /// - Throws: `corrupt`.
    /// - Complexity: O(versions since).
    public func unsafeRow(_ reference: RowReference, version: UInt32) throws(StoreError) -> UnsafeRowView? {
        guard let table = state(reference.table) else { return nil }
        let known = table.primary.known(reference.row) & ~PrimaryDelta.tombstoneBit
        var address = known == 0 ? try self.address(of: reference) ?? 0 : known
        while address != 0 {
            let found = try file.record(at: address, end: file.readableEnd)
            let record = found.record
            guard record.reference == reference, record.previous < address else {
                throw StoreError.corrupt(file.path, at: address, "a row's chain of versions is broken")
            }
            if address < end, record.version == version {
                return record.operation == .put ? try checked(found, at: address, reference) : nil
            }
            address = record.previous
        }
        return nil
    }
}
