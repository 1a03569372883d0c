import Synchronization

/// Reads row records, each in a verified frame.
extension LogFile {
    /// The row record at `address`, inside its verified frame.
    /// - Parameter end: rows at or past this offset do not exist for the caller.
    @inline(__always)
    func record(at address: UInt64, end: UInt64) throws(StoreError) -> (record: RowRecord, body: UnsafeRawPointer) {
        guard address >= FileFormat.dataStart, address < end else {
            throw StoreError.corrupt(path, at: address, "an index names a row outside the log")
        }
        let pointer = if let mapped = try mapped(address) { mapped } else { try readRecord(at: address, end: end) }
        let limit = Int(min(end &- address, room(at: address)))
        guard let record = RowRecord(pointer, limit: limit) else {
            throw StoreError.corrupt(path, at: address, "there is no row where an index says")
        }
        let start = address &- UInt64(record.distance)
        guard record.distance >= FrameHeader.Layout.size, record.distance <= Int(address & segmentMask),
            try isInFrame(record, frame: start, end: end)
        else { throw StoreError.corrupt(path, at: address, "a row is outside every valid frame") }
        return (record, pointer + record.bodyOffset)
    }

    /// The body of a row that was inserted and never changed, in a mapped frame that is already verified. The fast path.
    /// - Returns: nil if the row is not of that kind or the frame is not verified; use `record(at:end:)` then.
    @inline(__always)
    func insertedBody(at address: UInt64, end: UInt64, _ reference: RowReference) throws(StoreError) -> UnsafeRawBufferPointer? {
        guard address >= FileFormat.dataStart, address < end, let pointer = try mapped(address) else { return nil }
        let limit = Int(truncatingIfNeeded: min(end &- address, room(at: address)))
        guard limit >= RowRecord.Layout.size else { return nil }
        let distance = RowRecord.distance(pointer), start = address &- UInt64(distance)
        guard distance >= FrameHeader.Layout.size, distance <= Int(address & segmentMask), start % UInt64(FrameHeader.alignment) == 0,
            start >= FileFormat.dataStart, let word = bit(start), word.word.pointee.load(ordering: .relaxed) & word.mask != 0,
            let length = RowRecord.insertedBody(pointer, limit: limit, reference, distance: distance)
        else { return nil }
        return UnsafeRawBufferPointer(start: pointer + RowRecord.Layout.size, count: length)
    }

    /// Like `record(at:end:)`, for a scan that mostly stays in one frame. Keeps the frame's bounds in `frame`.
    @inline(__always)
    func record(
        at address: UInt64, end: UInt64, in frame: inout VerifiedFrame
    ) throws(StoreError) -> (record: RowRecord, body: UnsafeRawPointer) {
        if address >= frame.start, address < frame.end, address < end {
            let pointer = frame.pointer + Int(address &- frame.start)
            if let record = RowRecord(pointer, limit: Int(frame.end &- address)), record.distance == Int(address &- frame.frameStart) {
                return (record, pointer + record.bodyOffset)
            }
        }
        let found = try record(at: address, end: end)
        let frameStart = address &- UInt64(found.record.distance)
        let pointer = found.body - found.record.bodyOffset - found.record.distance
        if let header = FrameHeader(pointer, limit: room(at: frameStart)) {
            let start = UInt64(FrameHeader.Layout.size)
            frame = VerifiedFrame(
                frameStart: frameStart, start: frameStart &+ start, end: min(end, frameStart &+ start &+ UInt64(header.payloadLength)),
                pointer: pointer + Int(start))
        }
        return found
    }

    /// Reads the frame of the row record at `address`.
    /// - Returns: the record's address in memory.
    @inline(never)
    private func readRecord(at address: UInt64, end: UInt64) throws(StoreError) -> UnsafeRawPointer {
        if let known = frames.pointer(at: address) { return known }
        let limit = min(min(end, readableEnd), address &+ room(at: address))
        if address < limit, let distance = try frames.distance(at: address, limit: limit), distance <= address & segmentMask,
            try frame(at: address - distance, limit: end) != nil, let pointer = frames.pointer(at: address)
        {
            return pointer
        }
        throw StoreError.corrupt(path, at: address, "there is no row where an index says")
    }

    /// Whether a record is in a valid frame of rows. For a verified frame it does not read the header again, which would cost a cache miss for
    /// each row. A record is inside its segment in any case, so nothing outside is read.
    @inline(__always)
    private func isInFrame(_ record: RowRecord, frame start: UInt64, end: UInt64) throws(StoreError) -> Bool {
        guard start % UInt64(FrameHeader.alignment) == 0, start >= FileFormat.dataStart, let word = bit(start) else { return false }
        if word.word.pointee.load(ordering: .relaxed) & word.mask != 0 { return true }
        return try isInNewFrame(record, frame: start, end: end)
    }

    @inline(never)
    private func isInNewFrame(_ record: RowRecord, frame start: UInt64, end: UInt64) throws(StoreError) -> Bool {
        guard let frame = try frame(at: start, limit: end), frame.header.kind == .rows || frame.header.kind == .commit else { return false }
        return record.distance &+ record.size <= FrameHeader.Layout.size &+ Int(frame.header.payloadLength)
    }
}

/// The payload of a verified frame, for scans.
struct VerifiedFrame {
    var frameStart: UInt64 = 0
    var start: UInt64 = 0
    var end: UInt64 = 0
    var pointer = UnsafeRawPointer(bitPattern: 1)!
}
