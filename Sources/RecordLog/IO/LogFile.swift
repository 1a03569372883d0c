import Platform
import Synchronization

/// One physical file of a store: its identity, its bytes, and which of its frames have been verified.
///
/// Its segments are mapped. Those of a file that is not to be mapped, or cannot be, are memory into which frames are read
/// (`FrameMemory`); rows of a walk are then met as fast as in a mapping, single ones after a look at one more bit.
///
/// Invariants:
/// 1. A frame lies within one segment, so a verified frame is contiguous in memory.
/// 2. Callers read only frames that `verify` has passed, and only below the end of the file as it was when they learned
///    of the frame; committed bytes never change, so a frame once verified stays so.
/// 3. Segments stay where they are as long as this object lives.
/// 4. Nothing is touched at or past `readableEnd`: mapped memory past the file's end faults, and offsets in the file may be
///    anything. What others may cut off by the rules is not below it, unless the lock is held (`TailReader`). Should somebody cut the
///    file shorter all the same, a mapped read faults, and one by `FrameMemory` throws.
public final class LogFile: @unchecked Sendable {
    // Unchecked: the two tables are read and written through atomics alone.
    let storage: any StorageFile
    let path: String
    let identity: FileIdentity
    let segmentShift: UInt64
    let segmentMask: UInt64
    /// Whether segments are mapped, where the system can.
    let maps: Bool
    /// By segment: its address, 0 until mapped, and in any case where its frames are read into `frames`.
    let segments: UnsafeMutablePointer<Atomic<UInt>>
    /// By segment: the address of its bits, one for each 64 bytes; 0 until needed. Behind those of a mapped segment there is one for each
    /// piece that `askOnce` has asked for.
    let verified: UnsafeMutablePointer<Atomic<UInt>>
    let frames: FrameMemory
    private let prepared = Mutex(())
    /// Behind the last segment that was ever used.
    private let segmentsEnd = Atomic<Int>(0)
    private let readable = Atomic<UInt64>(0)
    private let replaced = Atomic<Bool>(false)

    /// So that the tables stay small; 1 TiB with segments of 64 MiB.
    static let segmentsMax = 1 << 14

    /// - Parameter counters: what is read of a file that is not mapped is counted there.
    init(storage: any StorageFile, path: String, identity: FileIdentity, maps: Bool, counters: Counters) {
        self.storage = storage
        self.path = path
        self.identity = identity
        self.maps = maps
        frames = FrameMemory(storage: storage, path: path, identity: identity, counters: counters)
        segmentShift = UInt64(identity.segmentShift)
        segmentMask = (1 << segmentShift) - 1
        let size = Self.segmentsMax * MemoryLayout<Atomic<UInt>>.stride
        // Zero is a valid, empty state of both tables.
        segments = LazyMemory.zeroed(size).bindMemory(to: Atomic<UInt>.self, capacity: Self.segmentsMax)
        verified = LazyMemory.zeroed(size).bindMemory(to: Atomic<UInt>.self, capacity: Self.segmentsMax)
    }

    deinit {
        for index in 0..<segmentsEnd.load(ordering: .acquiring) where segments[index].load(ordering: .relaxed) != 0 {
            if let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .relaxed)) {
                LazyMemory.release(bits, mappedBitsSize)
            }
        }
        let size = Self.segmentsMax * MemoryLayout<Atomic<UInt>>.stride
        LazyMemory.release(UnsafeMutableRawPointer(segments), size)
        LazyMemory.release(UnsafeMutableRawPointer(verified), size)
    }

    /// Whether the store has gone over to another file. The disk keeps this one's space as long as somebody holds this object.
    public var isReplaced: Bool { replaced.load(ordering: .relaxed) }

    func noteReplacement() { replaced.store(true, ordering: .relaxed) }

    /// The file's size as it was last seen (4).
    var readableEnd: UInt64 { readable.load(ordering: .relaxed) }

    /// The file was seen to be at least this long. Where the log ended there may be something now.
    func extendReadable(to size: UInt64) {
        readable.max(size, ordering: .relaxed)
        frames.fileHasChanged()
    }

    /// The file was cut to this length.
    func cutReadable(to size: UInt64) { readable.store(size, ordering: .relaxed) }

    /// The file is shorter than it was, though nobody who works with the store makes it so.
    static func cut(_ path: String, to size: UInt64) -> StoreError {
        StoreError(
            .corrupt, path: path, at: size, "the file was cut to \(size) bytes while it was open; commits that ended behind that are lost",
            remedy: "Find out what cuts it, and run `heartwood verify` to see which commits are lost; then restore a backup, or bring out what is left with `heartwood salvage`.")
    }

    static func bitmapSize(segmentSize: Int) -> Int { max(8, segmentSize / FrameHeader.alignment / 8) }

    var segmentSize: UInt64 { 1 << segmentShift }

    /// Nothing is written or read behind this.
    var sizeMax: UInt64 { UInt64(Self.segmentsMax) << segmentShift }

    /// What ends there.
    func full() -> StoreError {
        StoreError(
            .tooLarge, path: path, "the store has reached \(Self.segmentsMax) segments", remedy: "Compact it, or split the data over several stores.")
    }

    /// What a frame can hold, wherever it lies; the first segment has the header.
    var payloadMax: Int {
        min(Int(segmentSize - FileFormat.dataStart), RowRecord.bodyLengthMax) - FrameHeader.length(forPayload: 0)
    }

    private var mappedBitsSize: Int { Self.bitmapSize(segmentSize: Int(segmentSize)) + max(8, Int(segmentSize >> Self.pieceShift) / 8) }

    /// The bytes from `offset` to the end of its segment.
    @inline(__always)
    func room(at offset: UInt64) -> UInt64 { segmentSize &- (offset & segmentMask) }

    /// Where the file's byte `offset` lies in its mapping; nil where its segment is not mapped.
    @inline(__always)
    func mapped(_ offset: UInt64) throws(StoreError) -> UnsafeRawPointer? {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        if index < Self.segmentsMax {
            let base = segments[index].load(ordering: .acquiring)
            if let base = UnsafeRawPointer(bitPattern: base) { return base + Int(offset & segmentMask) }
        }
        return try prepareSegment(index).map { $0 + Int(offset & segmentMask) }
    }

    /// Maps a segment, or makes room for what is read of it.
    /// - Returns: the mapping; nil where there is none.
    @inline(never)
    private func prepareSegment(_ index: Int) throws(StoreError) -> UnsafeRawPointer? {
        guard index < Self.segmentsMax else { throw full() }
        if verified[index].load(ordering: .acquiring) != 0 {
            return UnsafeRawPointer(bitPattern: segments[index].load(ordering: .acquiring))
        }
        let result: Result<UInt, StoreError> = prepared.withLock { _ in
            if verified[index].load(ordering: .acquiring) != 0 { return .success(segments[index].load(ordering: .acquiring)) }
            do throws(StoreError) {
                let base = try maps ? map(index) : 0
                let bits = base == 0 ? try frames.prepare(index) : LazyMemory.zeroed(mappedBitsSize)
                segmentsEnd.max(index + 1, ordering: .releasing)
                segments[index].store(base, ordering: .releasing)
                verified[index].store(UInt(bitPattern: bits), ordering: .releasing)
                return .success(base)
            } catch {
                return .failure(error)
            }
        }
        return UnsafeRawPointer(bitPattern: try result.get())
    }

    /// - Returns: 0 where the file system cannot map, or the address space has no room: what else is wrong would be so for a read.
    private func map(_ index: Int) throws(StoreError) -> UInt {
        do throws(StoreError) {
            return UInt(bitPattern: try storage.map(offset: UInt64(index) << segmentShift, length: 1 << Int(segmentShift)))
        } catch {
            guard let code = error.systemErrno, [ENODEV, ENOMEM, ENOSYS, EOPNOTSUPP].contains(code) else { throw error }
            return 0
        }
    }

    /// Shows bytes as they are at this moment: superblocks, what is behind the log, what is damaged. Nothing of a file that is not
    /// mapped is remembered.
    /// - Precondition: they lie in one segment and before `readableEnd`.
    func withBytes<Result>(
        at offset: UInt64, count: Int, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if let pointer = try mapped(offset) { return try body(UnsafeRawBufferPointer(start: pointer, count: count)) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
        defer { buffer.deallocate() }
        try frames.read(into: buffer, at: offset)
        return try body(UnsafeRawBufferPointer(buffer))
    }

    /// Of the header as it is now.
    func headerMark() throws(StoreError) -> HeaderMark {
        try withBytes(at: 0, count: Int(FileFormat.dataStart)) { HeaderMark($0) }
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
        guard let pointer = try mapped(offset) else { return try frames.frame(at: offset, limit: min(limit, offset + room(at: offset))) }
        guard let header = FrameHeader(pointer, limit: min(limit - offset, room(at: offset))) else { return nil }
        guard verify(pointer, header, offset) else { return nil }
        return Frame(offset: offset, pointer: pointer, header: header)
    }

    /// What the bytes at `offset` say of themselves as a frame. Nothing is verified.
    /// - Parameter limit: the end of what may be read.
    func header(at offset: UInt64, limit: UInt64) throws(StoreError) -> FrameHeader? {
        try withHead(at: offset, limit: limit) { FrameHeader($0, limit: $1) }
    }

    /// The same, of their kind and length alone.
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
        // One that fills pages is asked for as a whole; of others the disk gives all, or nearly, with the header.
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

    /// Frames were written by this handle, which has computed their checksums: in a mapping they are verified. What is not mapped
    /// is read back when it is needed, so that writing takes no memory.
    /// - Parameter starts: where the frames start, in all of the bytes from `offset` to `end`.
    func wrote(_ starts: [UInt64], from offset: UInt64, to end: UInt64) {
        // Behind the log there may be what an abandoned write left.
        frames.forget(from: offset, to: max(end, readableEnd))
        extendReadable(to: end)
        for start in starts where isMapped(start) { markVerified(start) }
    }

    private func isMapped(_ offset: UInt64) -> Bool {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        return index < Self.segmentsMax && segments[index].load(ordering: .acquiring) != 0
    }

    /// Forgets what was known of frames from `offset` on: their bytes are about to be cut off.
    func forgetVerified(from offset: UInt64, to end: UInt64) {
        frames.forget(from: offset, to: end)
        var at = offset & ~63
        while at < end {
            if let word = bit(at) { word.word.pointee.bitwiseAnd(~word.mask, ordering: .relaxed) }
            at += 64
        }
    }

    /// The word and bit that stand for the frame at `offset`; nil in a segment that was never used.
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

    /// The same; what is not mapped is read into `bytes`, and valid until they are read into again.
    func passedPayload(_ pointer: FramePointer, _ kind: FrameKind, _ bytes: inout ReadBuffer) throws(StoreError) -> UnsafeRawBufferPointer {
        let offset = pointer.offset, limit = min(readableEnd, offset &+ room(at: offset))
        guard offset < limit, try mapped(offset) == nil else { return try payload(at: pointer, kind: kind) }
        return try payload(of: try frames.frame(at: offset, limit: limit, passing: &bytes), pointer, kind)
    }

    /// The file's size where it ends before the end of the frame at `offset`; nil elsewhere.
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
            // Of a file that was cut more is lost than an index.
            if let size = sizeWithin(pointer.offset) { throw Self.cut(path, to: size) }
            throw StoreError(
                .corrupt, path: path, at: pointer.offset, "an index block is damaged",
                remedy: "No row is lost by it: LogStore.rebuildIndexes() and `heartwood compact` make the indexes anew from the log.")
        }
        return frame.payload
    }
}
