extension LogFile.Frame {
    /// Calls `body` with each row record of the frame and its address.
    /// - Returns: false where a record is malformed: nothing behind it can be told apart.
    func forEachRow(_ body: (RowRecord, UInt64) -> Void) -> Bool {
        let rows: UnsafeRawBufferPointer
        switch header.kind {
        case .rows: rows = payload
        case .commit:
            guard let footer = CommitFooter(payload: payload) else { return false }
            rows = footer.rows(in: payload)
        default: return true
        }
        var at = 0
        while let base = rows.baseAddress, at < rows.count {
            guard let record = RowRecord(base + at, limit: rows.count - at), record.distance == FrameHeader.Layout.size + at
            else { return false }
            body(record, offset + UInt64(record.distance))
            at += record.size
        }
        return true
    }
}
