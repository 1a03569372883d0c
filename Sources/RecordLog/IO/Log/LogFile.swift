import HeartwoodPlatform
import Synchronization

/// One physical file of a store: its identity, its bytes, and the set of its verified frames.
///
/// Its segments are mapped. If a file must not or cannot be mapped, its frames are read into memory (`FrameMemory`). A scan then reads
/// rows as fast as in a mapping; a single read tests one more bit.
///
/// Invariants:
/// 1. A frame is within one segment, so a verified frame is contiguous in memory.
/// 2. Callers read only frames that `verify` has passed, and only below the end that the file had when they learned of the frame;
///    committed bytes never change, so a verified frame stays verified.
/// 3. Segments do not move as long as this object lives.
/// 4. Nothing at or past `readableEnd` is touched: mapped memory past the file's end faults, and offsets in the file may have any
///    value. Bytes that another process may rightfully cut off are not below it, unless the lock is held (`TailReader`). If the file is
///    cut shorter against the rules, a mapped read faults and a read by `FrameMemory` throws.
/// 5. `verified` is stored before `segments`, and read after it: a thread that sees a segment sees its bits.
package final class LogFile: @unchecked Sendable {
    // Unchecked: the two tables are accessed only through atomics.
    let storage: any StorageFile
    package let path: String
    let identity: FileIdentity
    let segmentShift: UInt64
    let segmentMask: UInt64
    /// Whether segments are mapped, if the system can.
    let maps: Bool
    /// By segment: its address; 0 until it is needed, `unmapped` if its frames are read into `frames`.
    private let segments: UnsafeMutablePointer<Atomic<UInt>>
    /// By segment: the address of its bits, one for each 64 bytes; 0 until needed. The bits of a mapped segment are followed by one
    /// for each piece that `askOnce` has requested.
    let verified: UnsafeMutablePointer<Atomic<UInt>>
    let frames: FrameMemory
    /// No address of a mapping.
    private static let unmapped: UInt = 1
    private let prepared = Mutex(())
    /// One more than the highest segment that was used.
    private let segmentsEnd = Atomic<Int>(0)
    private let readable = Atomic<UInt64>(0)
    private let replaced = Atomic<Bool>(false)

    /// A limit that keeps the tables small; 1 TiB with segments of 64 MiB.
    static let segmentsMax = 1 << 14
    /// The bytes of both tables, which lie one behind the other.
    private static let tablesSize = 2 * segmentsMax * MemoryLayout<Atomic<UInt>>.stride

    /// - Parameter counters: count the reads of a file that is not mapped.
    init(storage: any StorageFile, path: String, identity: FileIdentity, maps: Bool, counters: Counters) {
        self.storage = storage
        self.path = path
        self.identity = identity
        self.maps = maps
        frames = FrameMemory(storage: storage, path: path, identity: identity, counters: counters)
        segmentShift = UInt64(identity.segmentShift)
        segmentMask = (1 << segmentShift) - 1
        // Zeroed memory is a valid, empty table.
        let tables = LazyMemory.sparse(Self.tablesSize).bindMemory(to: Atomic<UInt>.self, capacity: 2 * Self.segmentsMax)
        segments = tables
        verified = tables + Self.segmentsMax
    }

    deinit {
        for index in 0..<segmentsEnd.load(ordering: .acquiring) where mapping(index) != nil {
            if let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .relaxed)) {
                LazyMemory.releaseSparse(bits, mappedBitsSize)
            }
        }
        LazyMemory.releaseSparse(UnsafeMutableRawPointer(segments), Self.tablesSize)
    }

    /// Whether another file has replaced this one in the store. The disk keeps this one's space as long as this object lives.
    package var isReplaced: Bool { replaced.load(ordering: .relaxed) }

    func noteReplacement() { replaced.store(true, ordering: .relaxed) }

    /// The file's size when it was last checked (4).
    var readableEnd: UInt64 { readable.load(ordering: .relaxed) }

    /// Notes that the file is at least this long. Bytes behind the log's former end may have changed.
    func extendReadable(to size: UInt64) {
        readable.max(size, ordering: .relaxed)
        frames.fileHasChanged()
    }

    /// Notes that the file was cut to this length.
    func cutReadable(to size: UInt64) { readable.store(size, ordering: .relaxed) }

    /// The error for a file that became shorter, although no user of the store makes it so.
    static func cut(_ path: String, to size: UInt64) -> StoreError {
        StoreError(
            .corrupt, path: path, at: size, "the file was cut to \(size) bytes while it was open; commits behind that size are lost",
            remedy: "Find out what cuts it, and run `heartwood verify` to see which commits are lost; then restore a backup, or bring out "
                + "the commits that are left with `heartwood salvage`.")
    }

    static func bitmapSize(segmentSize: Int) -> Int { max(8, segmentSize / FrameHeader.alignment / 8) }

    var segmentSize: UInt64 { 1 << segmentShift }

    /// The end of the largest possible file.
    var sizeMax: UInt64 { UInt64(Self.segmentsMax) << segmentShift }

    /// The error for a write past `sizeMax`.
    func full() -> StoreError {
        StoreError(
            .tooLarge, path: path, "the store has reached \(Self.segmentsMax) segments",
            remedy: "Compact it, or split the data over several stores.")
    }

    /// The largest payload that fits a frame in any segment; the first segment contains the header too.
    var payloadMax: Int {
        min(Int(segmentSize - FileFormat.dataStart), RowRecord.bodyLengthMax) - FrameHeader.length(forPayload: 0)
    }

    private var mappedBitsSize: Int { Self.bitmapSize(segmentSize: Int(segmentSize)) + max(8, Int(segmentSize >> Self.pieceShift) / 8) }

    /// The number of bytes from `offset` to the end of its segment.
    @inline(__always)
    func room(at offset: UInt64) -> UInt64 { segmentSize &- (offset & segmentMask) }

    /// The address of a segment; nil if it is not mapped, or was never needed.
    @inline(__always)
    private func mapping(_ index: Int) -> UnsafeRawPointer? {
        guard index < Self.segmentsMax else { return nil }
        let address = segments[index].load(ordering: .acquiring)
        return address > Self.unmapped ? UnsafeRawPointer(bitPattern: address) : nil
    }

    /// The address in memory of the file's byte `offset`, if its segment is mapped by now. Maps nothing, so any offset will do.
    @inline(__always)
    func alreadyMapped(_ offset: UInt64) -> UnsafeRawPointer? {
        guard let base = mapping(Int(truncatingIfNeeded: offset >> segmentShift)) else { return nil }
        return base + Int(offset & segmentMask)
    }

    /// The address in memory of the file's byte `offset`; nil if its segment is not mapped.
    @inline(__always)
    func mapped(_ offset: UInt64) throws(StoreError) -> UnsafeRawPointer? {
        if let known = alreadyMapped(offset) { return known }
        return try prepareSegment(Int(truncatingIfNeeded: offset >> segmentShift)).map { $0 + Int(offset & segmentMask) }
    }

    /// Maps a segment, or makes room for its frames.
    /// - Returns: the mapping; nil if there is none.
    @inline(never)
    private func prepareSegment(_ index: Int) throws(StoreError) -> UnsafeRawPointer? {
        guard index < Self.segmentsMax else { throw full() }
        if segments[index].load(ordering: .acquiring) != 0 { return mapping(index) }
        let result: Result<Void, StoreError> = prepared.withLock { _ in
            if segments[index].load(ordering: .acquiring) != 0 { return .success(()) }
            do throws(StoreError) {
                let base = try maps ? map(index) : Self.unmapped
                let bits = base == Self.unmapped ? try frames.prepare(index) : LazyMemory.sparse(mappedBitsSize)
                segmentsEnd.max(index + 1, ordering: .releasing)
                verified[index].store(UInt(bitPattern: bits), ordering: .releasing)
                segments[index].store(base, ordering: .releasing)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return mapping(index)
    }

    /// - Returns: `unmapped` if the file system cannot map, or the address space has no room. Other errors would affect reads too, and are thrown.
    private func map(_ index: Int) throws(StoreError) -> UInt {
        do throws(StoreError) {
            return UInt(bitPattern: try storage.map(offset: UInt64(index) << segmentShift, length: 1 << Int(segmentShift)))
        } catch {
            guard let code = error.systemErrno, [ENODEV, ENOMEM, ENOSYS, EOPNOTSUPP].contains(code) else { throw error }
            return Self.unmapped
        }
    }

    /// Gives access to the current bytes: of superblocks, behind the log, or of damaged parts. For a file that is not mapped, keeps nothing.
    /// - Precondition: the bytes are in one segment and before `readableEnd`.
    func withBytes<Result>(
        at offset: UInt64, count: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if let pointer = try mapped(offset) { return try body(UnsafeRawBufferPointer(start: pointer, count: count)) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
        defer { buffer.deallocate() }
        try frames.read(into: buffer, at: offset)
        return try body(UnsafeRawBufferPointer(buffer))
    }

    /// The mark of the current header.
    func headerMark() throws(StoreError) -> HeaderMark {
        try withBytes(at: 0, count: Int(FileFormat.dataStart)) { HeaderMark($0) }
    }

    /// Rewrites bytes with the same content, before a sync that must include them: after a failed sync, perhaps of another handle, the
    /// system may treat pages as clean that are not on the disk. A torn write changes nothing.
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

    /// A frame with a right checksum.
    package struct Frame {
        let offset: UInt64
        let pointer: UnsafeRawPointer
        let header: FrameHeader

        var payload: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: pointer + FrameHeader.Layout.size, count: Int(header.payloadLength))
        }

        var end: UInt64 { offset + UInt64(header.length) }
    }

    /// The frame at `offset`, verified.
    /// - Parameter limit: the end of the readable bytes.
    /// - Returns: nil if there is no whole, valid frame.
    package func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> Frame? {
        let limit = min(limit, readableEnd)
        guard offset >= FileFormat.dataStart, offset % UInt64(FrameHeader.alignment) == 0, offset < limit else { return nil }
        guard let pointer = try mapped(offset) else { return try frames.frame(at: offset, limit: min(limit, offset + room(at: offset))) }
        guard let header = FrameHeader(pointer, limit: min(limit - offset, room(at: offset))) else { return nil }
        guard verify(pointer, header, offset) else { return nil }
        return Frame(offset: offset, pointer: pointer, header: header)
    }

    /// The frame header at `offset`, not verified.
    /// - Parameter limit: the end of the readable bytes.
    func header(at offset: UInt64, limit: UInt64) throws(StoreError) -> FrameHeader? {
        try withHead(at: offset, limit: limit) { FrameHeader($0, limit: $1) }
    }

    /// The kind and length that the bytes at `offset` state, not verified.
    func stated(at offset: UInt64, limit: UInt64) throws(StoreError) -> (kind: FrameKind, length: UInt32)? {
        try withHead(at: offset, limit: limit) { FrameHeader.stated($0, limit: $1) }
    }

    private func withHead<Result>(
        at offset: UInt64, limit: UInt64, _ body: (UnsafeRawPointer, UInt64) -> Result?
    ) throws(StoreError) -> Result? {
        let limit = min(limit, readableEnd)
        guard offset < limit, limit - offset >= UInt64(FrameHeader.lengthMin) else { return nil }
        return try withBytes(at: offset, count: FrameHeader.lengthMin) { bytes throws(StoreError) in
            bytes.baseAddress.flatMap { body($0, min(limit - offset, room(at: offset))) }
        }
    }

    /// Compares a frame's checksum with its bytes, once.
    @inline(__always)
    private func verify(_ pointer: UnsafeRawPointer, _ header: FrameHeader, _ offset: UInt64) -> Bool {
        guard let word = bit(offset) else { return false }
        if word.word.pointee.load(ordering: .relaxed) & word.mask != 0 { return true }
        return verifySlowly(pointer, header, offset)
    }

    @inline(__always)
    private func isVerified(_ offset: UInt64) -> Bool { bit(offset).map { $0.word.pointee.load(ordering: .relaxed) & $0.mask != 0 } ?? false }

    @inline(never)
    private func verifySlowly(_ pointer: UnsafeRawPointer, _ header: FrameHeader, _ offset: UInt64) -> Bool {
        // Requests a large frame as a whole; the disk delivers nearly all of a smaller one with its header.
        if header.length > Self.askedForMin { willRead(offset..<offset + UInt64(header.length)) }
        let checksum = FrameHeader.checksum(of: pointer, length: header.length, fileID: identity.fileID, offset: offset)
        guard checksum == header.checksum else { return false }
        markVerified(offset)
        return true
    }

    private static let askedForMin: UInt32 = 8192

    private func markVerified(_ offset: UInt64) {
        guard let word = bit(offset) else { return }
        word.word.pointee.bitwiseOr(word.mask, ordering: .relaxed)
    }

    /// Notes frames that this handle has written. Mapped ones are marked as verified, since the handle computed their checksums. Others
    /// are read back when they are needed, so that writing takes no memory.
    /// - Parameter starts: the offsets of all frames from `offset` to `end`.
    func wrote(_ starts: [UInt64], from offset: UInt64, to end: UInt64) {
        // Bytes of an abandoned write may be behind the log.
        frames.forget(from: offset, to: max(end, readableEnd))
        extendReadable(to: end)
        for start in starts where alreadyMapped(start) != nil { markVerified(start) }
    }

    /// Forgets which frames from `offset` on are verified, since their bytes are about to be cut off.
    func forgetVerified(from offset: UInt64, to end: UInt64) {
        frames.forget(from: offset, to: end)
        var at = offset & ~63
        while at < end {
            if let word = bit(at) { word.word.pointee.bitwiseAnd(~word.mask, ordering: .relaxed) }
            at += 64
        }
    }

    /// The word and bit of the frame at `offset`; nil in a segment that was never used.
    @inline(__always)
    func bit(_ offset: UInt64) -> (word: UnsafeMutablePointer<Atomic<UInt64>>, mask: UInt64)? {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        guard index < Self.segmentsMax,
            let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .acquiring))
        else { return nil }
        let granule = Int((offset & segmentMask) >> 6)
        let words = bits.assumingMemoryBound(to: Atomic<UInt64>.self)
        return (words + granule / 64, 1 << UInt64(granule % 64))
    }
}

extension LogFile: FrameSource {
    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer {
        if !isVerified(pointer.offset) { askOnce(pointer.offset) }
        return try payload(of: try frame(at: pointer.offset, limit: .max), pointer, kind)
    }

    /// Like `payload(at:kind:)`; if the file is not mapped, reads into `bytes`, and the payload is valid until the next read into them.
    func passedPayload(_ pointer: FramePointer, _ kind: FrameKind, _ bytes: inout ReadBuffer) throws(StoreError) -> UnsafeRawBufferPointer {
        let offset = pointer.offset, limit = min(readableEnd, offset &+ room(at: offset))
        guard offset < limit, try mapped(offset) == nil else { return try payload(at: pointer, kind: kind) }
        return try payload(of: try frames.frame(at: offset, limit: limit, passing: &bytes), pointer, kind)
    }

    /// The file's size if it ends before the end of the frame at `offset`; nil otherwise.
    private func sizeWithin(_ offset: UInt64) -> UInt64? {
        guard let size = try? storage.size(), size < offset &+ room(at: offset) else { return nil }
        guard offset < size, size - offset >= UInt64(FrameHeader.lengthMin) else { return size }
        let stated = try? withBytes(at: offset, count: FrameHeader.lengthMin) { bytes in
            bytes.baseAddress.flatMap { FrameHeader.stated($0, limit: room(at: offset)) }
        }
        return stated.flatMap { UInt64($0.length) > size - offset ? size : nil }
    }

    private func payload(of frame: Frame?, _ pointer: FramePointer, _ kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer {
        guard let frame, frame.header.kind == kind, frame.header.checksum == pointer.checksum else {
            // A file that was cut has lost more than an index.
            if let size = sizeWithin(pointer.offset) { throw Self.cut(path, to: size) }
            throw StoreError(
                .corrupt, path: path, at: pointer.offset, "an index block is damaged",
                remedy: "No row is lost by it: `heartwood compact` makes the indexes anew from the log.")
        }
        return frame.payload
    }
}
