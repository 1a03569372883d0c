import Synchronization

/// One physical file of a store, mapped: its identity, its bytes, and which of its frames have been verified.
///
/// Invariants:
/// 1. A frame lies within one segment, so a verified frame is contiguous in memory.
/// 2. Callers read only frames that `verify` has passed, and only below the end of the file as it was when they learned
///    of the frame; committed bytes never change, so a frame once verified stays so.
/// 3. Segments stay mapped as long as this object lives.
/// 4. Nothing is touched at or past `readableEnd`: mapped memory past the file's end faults, and offsets in the file may be
///    anything.
public final class LogFile: @unchecked Sendable {
    // Unchecked: the two tables are read and written through atomics alone.
    let storage: any StorageFile
    let path: String
    let identity: FileIdentity
    private let segmentShift: UInt64
    private let segmentMask: UInt64
    /// By segment: its address, 0 until mapped.
    private let segments: UnsafeMutablePointer<Atomic<UInt>>
    /// By segment: the address of its bits, one for each 64 bytes; 0 until needed.
    private let verified: UnsafeMutablePointer<Atomic<UInt>>
    private let mapping = Mutex(())
    /// Behind the last segment that was ever mapped.
    private let segmentsEnd = Atomic<Int>(0)
    private let readable = Atomic<UInt64>(0)

    /// So that the tables stay small; 1 TiB with segments of 64 MiB.
    static let segmentsMax = 1 << 14

    init(storage: any StorageFile, path: String, identity: FileIdentity) {
        self.storage = storage
        self.path = path
        self.identity = identity
        segmentShift = UInt64(identity.segmentShift)
        segmentMask = (1 << segmentShift) - 1
        let size = Self.segmentsMax * MemoryLayout<Atomic<UInt>>.stride
        // Zero is a valid, empty state of both tables.
        segments = LazyMemory.zeroed(size).bindMemory(to: Atomic<UInt>.self, capacity: Self.segmentsMax)
        verified = LazyMemory.zeroed(size).bindMemory(to: Atomic<UInt>.self, capacity: Self.segmentsMax)
    }

    deinit {
        for index in 0..<segmentsEnd.load(ordering: .acquiring) {
            if let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .relaxed)) {
                LazyMemory.release(bits, bitmapSize)
            }
        }
        LazyMemory.release(UnsafeMutableRawPointer(segments), 0)
        LazyMemory.release(UnsafeMutableRawPointer(verified), 0)
    }

    /// The file's size as it was last seen (4).
    var readableEnd: UInt64 { readable.load(ordering: .relaxed) }

    /// The file was seen to be at least this long.
    func extendReadable(to size: UInt64) { readable.max(size, ordering: .relaxed) }

    /// The file was cut to this length.
    func cutReadable(to size: UInt64) { readable.store(size, ordering: .relaxed) }

    private var bitmapSize: Int { max(8, (1 << Int(segmentShift)) / 64 / 8) }

    var segmentSize: UInt64 { 1 << segmentShift }

    /// The bytes from `offset` to the end of its segment.
    @inline(__always)
    func room(at offset: UInt64) -> UInt64 { segmentSize &- (offset & segmentMask) }

    /// Where the file's byte `offset` lies in memory.
    @inline(__always)
    func pointer(at offset: UInt64) throws(StoreError) -> UnsafeRawPointer {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        if index < Self.segmentsMax {
            let base = segments[index].load(ordering: .acquiring)
            if let base = UnsafeRawPointer(bitPattern: base) { return base + Int(offset & segmentMask) }
        }
        return try mapSegment(index) + Int(offset & segmentMask)
    }

    @inline(never)
    private func mapSegment(_ index: Int) throws(StoreError) -> UnsafeRawPointer {
        guard index < Self.segmentsMax else {
            throw StoreError(
                .tooLarge, path: path, "the store has reached \(Self.segmentsMax) segments",
                remedy: "Compact it, or split the data over several stores.")
        }
        let result: Result<UInt, StoreError> = mapping.withLock { _ in
            let known = segments[index].load(ordering: .acquiring)
            if known != 0 { return .success(known) }
            do throws(StoreError) {
                let base = try storage.map(offset: UInt64(index) << segmentShift, length: 1 << Int(segmentShift))
                let bits = LazyMemory.zeroed(bitmapSize)
                segmentsEnd.max(index + 1, ordering: .releasing)
                verified[index].store(UInt(bitPattern: bits), ordering: .releasing)
                segments[index].store(UInt(bitPattern: base), ordering: .releasing)
                return .success(UInt(bitPattern: base))
            } catch {
                return .failure(error)
            }
        }
        return UnsafeRawPointer(bitPattern: try result.get())!
    }

    /// Writes bytes in place of themselves, before a sync that must reach them: after a failed sync, which another handle
    /// may have had, the system may call pages clean that are not on the disk. A torn write changes nothing.
    func rewrite(from start: UInt64, to end: UInt64) throws(StoreError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(min(end - start, 1 << 20)), alignment: 64)
        defer { buffer.deallocate() }
        var at = start
        while at < end {
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(end - at, UInt64(buffer.count)))])
            let count = try storage.read(into: part, at: at)
            guard count > 0 else { return }
            try storage.write(UnsafeRawBufferPointer(rebasing: part[..<count]), at: at)
            at += UInt64(count)
        }
    }

    // MARK: Frames

    /// A frame whose checksum holds.
    struct Frame {
        let offset: UInt64
        let pointer: UnsafeRawPointer
        let header: FrameHeader

        var payload: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: pointer + FrameHeader.Layout.size, count: Int(header.payloadLength))
        }

        var end: UInt64 { offset + UInt64(header.length) }
    }

    /// The frame at `offset`, verified.
    /// - Parameter limit: the end of what may be read.
    /// - Returns: nil where no whole, valid frame lies there.
    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> Frame? {
        let limit = min(limit, readableEnd)
        guard offset >= FileFormat.dataStart, offset % UInt64(FrameHeader.alignment) == 0, offset < limit else { return nil }
        let pointer = try pointer(at: offset)
        guard let header = FrameHeader(pointer, limit: min(limit - offset, room(at: offset))) else { return nil }
        guard verify(pointer, header, offset) else { return nil }
        return Frame(offset: offset, pointer: pointer, header: header)
    }

    /// Compares a frame's checksum with its bytes, once.
    @inline(__always)
    private func verify(_ pointer: UnsafeRawPointer, _ header: FrameHeader, _ offset: UInt64) -> Bool {
        guard let word = bit(offset) else { return false }
        if word.word.pointee.load(ordering: .relaxed) & word.mask != 0 { return true }
        return verifySlowly(pointer, header, offset)
    }

    @inline(never)
    private func verifySlowly(_ pointer: UnsafeRawPointer, _ header: FrameHeader, _ offset: UInt64) -> Bool {
        let checksum = FrameHeader.checksum(of: pointer, length: header.length, fileID: identity.fileID, offset: offset)
        guard checksum == header.checksum else { return false }
        markVerified(offset)
        return true
    }

    /// Remembers that a frame is valid, because it was just checked or written.
    func markVerified(_ offset: UInt64) {
        guard let word = bit(offset) else { return }
        word.word.pointee.bitwiseOr(word.mask, ordering: .relaxed)
    }

    /// Forgets what was known of frames from `offset` on: their bytes are about to be cut off.
    func forgetVerified(from offset: UInt64, to end: UInt64) {
        var at = offset & ~63
        while at < end {
            if let word = bit(at) { word.word.pointee.bitwiseAnd(~word.mask, ordering: .relaxed) }
            at += 64
        }
    }

    /// The word and bit that stand for the frame at `offset`; nil in a segment that was never mapped.
    @inline(__always)
    private func bit(_ offset: UInt64) -> (word: UnsafeMutablePointer<Atomic<UInt64>>, mask: UInt64)? {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        guard index < Self.segmentsMax,
            let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .acquiring))
        else { return nil }
        let granule = Int((offset & segmentMask) >> 6)
        let words = bits.assumingMemoryBound(to: Atomic<UInt64>.self)
        return (words + granule / 64, 1 << UInt64(granule % 64))
    }

    // MARK: Rows

    /// The row record at `address`, inside its verified frame.
    /// - Parameter end: rows at or past this offset do not exist for the caller.
    @inline(__always)
    func record(at address: UInt64, end: UInt64) throws(StoreError) -> (record: RowRecord, body: UnsafeRawPointer) {
        guard address >= FileFormat.dataStart, address < end else {
            throw StoreError.corrupt(path, at: address, "an index names a row outside the log")
        }
        let pointer = try pointer(at: address)
        let limit = Int(min(end &- address, room(at: address)))
        guard let record = RowRecord(pointer, limit: limit) else {
            throw StoreError.corrupt(path, at: address, "there is no row where an index says")
        }
        let start = address &- UInt64(record.distance)
        guard record.distance >= FrameHeader.Layout.size, record.distance <= Int(address & segmentMask),
            isInFrame(record, at: address, frame: start, pointer: pointer - record.distance, end: end)
        else { throw StoreError.corrupt(path, at: address, "a row lies outside every valid frame") }
        return (record, pointer + record.bodyOffset)
    }

    /// The body of a row that was inserted and never changed, in a frame that is known to be valid: the short way.
    /// - Returns: nil where the row is not of that kind, or nothing is known of its frame: `record(at:end:)` tells then.
    @inline(__always)
    func insertedBody(at address: UInt64, end: UInt64, _ reference: RowReference) throws(StoreError) -> UnsafeRawBufferPointer? {
        guard address >= FileFormat.dataStart, address < end else { return nil }
        let pointer = try pointer(at: address)
        let limit = Int(truncatingIfNeeded: min(end &- address, room(at: address)))
        guard limit >= RowRecord.Layout.size else { return nil }
        let distance = RowRecord.distance(pointer), start = address &- UInt64(distance)
        guard distance >= FrameHeader.Layout.size, distance <= Int(address & segmentMask), start % UInt64(FrameHeader.alignment) == 0,
            start >= FileFormat.dataStart, let word = bit(start), word.word.pointee.load(ordering: .relaxed) & word.mask != 0,
            let length = RowRecord.insertedBody(pointer, limit: limit, reference, distance: distance)
        else { return nil }
        return UnsafeRawBufferPointer(start: pointer + RowRecord.Layout.size, count: length)
    }

    /// The same for a walk that mostly stays in one frame: what was learnt of the frame is kept in `frame`.
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
        let pointer = try pointer(at: frameStart)
        if let header = FrameHeader(pointer, limit: room(at: frameStart)) {
            let start = UInt64(FrameHeader.Layout.size)
            frame = VerifiedFrame(
                frameStart: frameStart, start: frameStart &+ start, end: min(end, frameStart &+ start &+ UInt64(header.payloadLength)),
                pointer: pointer + Int(start))
        }
        return found
    }

    /// Reads a byte at each offset: loads that do not wait for each other, so that the misses of memory overlap.
    /// - Returns: something made of them, so that they are not optimised away.
    @inline(never)
    func touch(_ offsets: UnsafeBufferPointer<UInt64>) -> UInt8 {
        let end = readableEnd
        var sum: UInt8 = 0
        for offset in offsets where offset < end {
            let index = Int(truncatingIfNeeded: offset >> segmentShift)
            guard index < Self.segmentsMax, let base = UnsafeRawPointer(bitPattern: segments[index].load(ordering: .acquiring))
            else { continue }
            sum ^= (base + Int(offset & segmentMask)).load(as: UInt8.self)
        }
        return sum
    }

    /// Whether a record lies in a valid frame of rows. Once the frame is known, its header is not looked at again: that would
    /// cost a miss of memory for each row. A record is inside its segment in any case, so nothing outside is ever read.
    @inline(__always)
    private func isInFrame(
        _ record: RowRecord, at address: UInt64, frame start: UInt64, pointer: UnsafeRawPointer, end: UInt64
    ) -> Bool {
        guard start % UInt64(FrameHeader.alignment) == 0, start >= FileFormat.dataStart, let word = bit(start) else { return false }
        if word.word.pointee.load(ordering: .relaxed) & word.mask != 0 { return true }
        return isInNewFrame(record, frame: start, pointer: pointer, end: end)
    }

    @inline(never)
    private func isInNewFrame(_ record: RowRecord, frame start: UInt64, pointer: UnsafeRawPointer, end: UInt64) -> Bool {
        guard let header = FrameHeader(pointer, limit: min(end &- start, room(at: start))),
            header.kind == .rows || header.kind == .commit,
            record.distance &+ record.size <= FrameHeader.Layout.size &+ Int(header.payloadLength)
        else { return false }
        return verify(pointer, header, start)
    }
}

/// The payload of a frame that was verified, for walks.
struct VerifiedFrame {
    var frameStart: UInt64 = 0
    var start: UInt64 = 0
    var end: UInt64 = 0
    var pointer = UnsafeRawPointer(bitPattern: 1)!
}

extension LogFile: FrameSource {
    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer {
        guard let frame = try frame(at: pointer.offset, limit: .max), frame.header.kind == kind,
            frame.header.checksum == pointer.checksum
        else {
            throw StoreError(
                .corrupt, path: path, at: pointer.offset, "an index block is damaged",
                remedy: "No row is lost by it: LogStore.rebuildIndexes() and `heartwood compact` make the indexes anew from the log.")
        }
        return frame.payload
    }
}
