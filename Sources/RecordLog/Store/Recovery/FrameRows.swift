extension LogFile.Frame {
    /// Calls `body` with each row record of the frame, the record's body and its address.
    /// - Returns: nil, or the address of a malformed record. The boundaries of the rows behind it are unknown.
    @inline(__always)
    func forEachRow<Failure: Error>(
        _ body: (RowRecord, UnsafeRawPointer, UInt64) throws(Failure) -> Void
    ) throws(Failure) -> UInt64? {
        let start = FrameHeader.Layout.size
        let rows: UnsafeRawBufferPointer
        switch header.kind {
        case .rows: rows = payload
        case .commit:
            guard let footer = CommitFooter(payload: payload) else { return offset + UInt64(start) }
            rows = footer.rows(in: payload)
        default: return nil
        }
        var at = 0
        while let base = rows.baseAddress, at < rows.count {
            let address = offset + UInt64(start + at)
            guard let record = RowRecord(base + at, limit: rows.count - at), record.distance == start + at else { return address }
            try body(record, base + at + record.bodyOffset, address)
            at += record.size
        }
        return nil
    }
}
