import Synchronization

/// Copies of a file's frames in memory, read one by one, for a file that is not mapped: if a medium goes away, a mapped read is a fault
/// that ends the process.
///
/// Invariants:
/// 1. Bytes whose bits in `filled` are set belong to frames whose checksums are right. They do not change until `forget`.
/// 2. Other bytes are accessed only under `inserting`.
/// 3. Filled bytes take memory as long as this object lives; the rest takes only address space.
final class FrameMemory: @unchecked Sendable {
    // Unchecked: the table is accessed only through atomics, the memory by (1) and (2).
    private let storage: any StorageFile
    private let path: String
    private let fileID: UInt64
    private let segmentShift: UInt64
    private let counters: Counters
    /// By segment: the address of its memory, 0 until used. Two bitmaps follow the segment's bytes, with one bit for each 64 of them:
    /// the first has the filled bytes, the second the starts of filled frames.
    private let segments: UnsafeMutablePointer<Atomic<UInt>>
    private let inserting = Mutex(())
    /// One more than the highest segment that was used.
    private let segmentsEnd = Atomic<Int>(0)

    private struct Ahead: ~Copyable {
        var bytes: ReadBuffer?
        /// Increases when bytes of the file may have changed: a buffer that was read at a lower age must not be used.
        var age: UInt64 = 0
    }

    private let ahead = Mutex(Ahead())

    init(storage: any StorageFile, path: String, identity: FileIdentity, counters: Counters) {
        self.storage = storage
        self.path = path
        fileID = identity.fileID
        segmentShift = UInt64(identity.segmentShift)
        self.counters = counters
        // Zeroed memory is a valid, empty table.
        segments = LazyMemory.sparse(LogFile.segmentsMax * MemoryLayout<Atomic<UInt>>.stride)
            .bindMemory(to: Atomic<UInt>.self, capacity: LogFile.segmentsMax)
    }

    deinit {
        for index in 0..<segmentsEnd.load(ordering: .acquiring) {
            guard let memory = UnsafeMutableRawPointer(bitPattern: segments[index].load(ordering: .relaxed)) else { continue }
            LazyMemory.release(memory, segmentSize + 2 * bitmapSize)
        }
        LazyMemory.releaseSparse(UnsafeMutableRawPointer(segments), LogFile.segmentsMax * MemoryLayout<Atomic<UInt>>.stride)
    }

    private var segmentSize: Int { 1 << Int(segmentShift) }
    private var bitmapSize: Int { LogFile.bitmapSize(segmentSize: segmentSize) }

    // MARK: Segments

    /// Makes room for a segment. Not to be called from two threads at once.
    /// - Returns: the bitmap of frame starts, in the form of `LogFile.verified`.
    func prepare(_ index: Int) throws(StoreError) -> UnsafeMutableRawPointer {
        guard let memory = LazyMemory.tryZeroed(segmentSize + 2 * bitmapSize) else {
            throw StoreError(
                .io, path: path, at: UInt64(index) << segmentShift, "there is no room in memory for a segment of \(segmentSize >> 10) KiB",
                remedy: "Close other stores, or open this one in a process with more address space.")
        }
        segmentsEnd.max(index + 1, ordering: .releasing)
        segments[index].store(UInt(bitPattern: memory), ordering: .releasing)
        return memory + segmentSize + bitmapSize
    }

    @inline(__always)
    private func segment(_ offset: UInt64) -> UnsafeMutableRawPointer? {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        guard index < LogFile.segmentsMax else { return nil }
        return UnsafeMutableRawPointer(bitPattern: segments[index].load(ordering: .acquiring))
    }

    @inline(__always)
    private func within(_ offset: UInt64) -> Int { Int(offset & (1 << segmentShift - 1)) }

    // MARK: Frames

    /// The address in memory of a byte of a frame; nil if no frame in memory has it.
    func pointer(at offset: UInt64) -> UnsafeRawPointer? {
        guard let memory = segment(offset) else { return nil }
        let at = within(offset), granule = at / FrameHeader.alignment
        // With the releasing store in `insert`: a thread that sees the bit sees the frame.
        let word = filled(memory)[granule / 64].load(ordering: .acquiring)
        return word >> UInt64(granule % 64) & 1 == 0 ? nil : UnsafeRawPointer(memory + at)
    }

    /// The frame at `offset`. The first call reads it from the file.
    /// - Parameter limit: the end of the readable bytes, in this segment.
    /// - Returns: nil if there is no whole, valid frame.
    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? {
        if isStart(offset), let pointer = pointer(at: offset) {
            return FrameHeader(pointer, limit: limit - offset).map { LogFile.Frame(offset: offset, pointer: pointer, header: $0) }
        }
        return try withAhead { bytes throws(StoreError) in
            guard let frame = try self.frame(at: offset, limit: limit, passing: &bytes), let copy = insert(frame.pointer, frame.header, at: offset)
            else { return nil }
            return LogFile.Frame(offset: offset, pointer: copy, header: frame.header)
        }
    }

    /// Like `frame(at:limit:)`, but reads only into `bytes`; the frame is valid until the next read into them.
    func frame(at offset: UInt64, limit: UInt64, passing bytes: inout ReadBuffer) throws(StoreError) -> LogFile.Frame? {
        guard limit - offset >= UInt64(FrameHeader.lengthMin) else { return nil }
        let head = try self.bytes(&bytes, at: offset, count: FrameHeader.lengthMin, limit: limit)
        guard let header = FrameHeader(head, limit: limit - offset) else { return nil }
        let frame = try self.bytes(&bytes, at: offset, count: Int(header.length), limit: limit)
        guard FrameHeader.checksum(of: frame, length: header.length, fileID: fileID, offset: offset) == header.checksum else { return nil }
        return LogFile.Frame(offset: offset, pointer: frame, header: header)
    }

    /// The distance from a frame's start to the row record at `address`; nil if there is no record.
    /// - Parameter limit: the end of the readable bytes, in this segment.
    func distance(at address: UInt64, limit: UInt64) throws(StoreError) -> UInt64? {
        let count = min(limit - address, UInt64(RowRecord.size(ofBody: 0, version: 0, previous: 1)))
        return try withAhead { bytes throws(StoreError) in
            let record = try self.bytes(&bytes, at: address, count: Int(count), limit: limit)
            return RowRecord(record, limit: Int(limit - address)).map { UInt64($0.distance) }
        }
    }

    /// Reads the file's current bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) {
        let count = try transfer(buffer, offset)
        guard count == buffer.count else { throw cut(offset + UInt64(count)) }
    }

    /// Forgets the frames in bytes that are about to be overwritten or cut off.
    func forget(from offset: UInt64, to end: UInt64) {
        var at = offset
        let end = min(end, UInt64(segmentsEnd.load(ordering: .acquiring)) << segmentShift)
        while at < end {
            let stop = min(end, (at >> segmentShift + 1) << segmentShift)
            if let memory = segment(at) {
                let granules = within(at) / FrameHeader.alignment..<(within(stop - 1) / FrameHeader.alignment + 1)
                Self.forEachWord(granules) { word, mask in
                    filled(memory)[word].bitwiseAnd(~mask, ordering: .relaxed)
                    starts(memory)[word].bitwiseAnd(~mask, ordering: .relaxed)
                }
            }
            at = stop
        }
        fileHasChanged()
    }

    /// Drops the read-ahead bytes: bytes of the file outside the frames in memory may have changed.
    func fileHasChanged() {
        ahead.withLock { ahead in
            ahead.bytes = nil
            ahead.age += 1
        }
    }

    // MARK: Bits

    private func filled(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        (memory + segmentSize).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    private func starts(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        (memory + segmentSize + bitmapSize).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    private func isStart(_ offset: UInt64) -> Bool {
        guard let memory = segment(offset) else { return false }
        let granule = within(offset) / FrameHeader.alignment
        return starts(memory)[granule / 64].load(ordering: .relaxed) >> UInt64(granule % 64) & 1 != 0
    }

    private static func forEachWord(_ granules: Range<Int>, _ body: (Int, UInt64) -> Void) {
        var at = granules.lowerBound
        while at < granules.upperBound {
            let count = min(64 - at % 64, granules.upperBound - at)
            body(at / 64, (count == 64 ? ~0 : 1 << UInt64(count) - 1) << UInt64(at % 64))
            at += count
        }
    }

    /// Copies a frame with a right checksum to its location in memory.
    private func insert(_ frame: UnsafeRawPointer, _ header: FrameHeader, at offset: UInt64) -> UnsafeRawPointer? {
        guard let memory = segment(offset) else { return nil }
        let at = within(offset), granule = at / FrameHeader.alignment
        let stored = memory + at
        nonisolated(unsafe) let (source, target) = (frame, stored)
        inserting.withLock { _ in
            // (1) If another thread was first, its bytes may be in use.
            guard !isStart(offset) else { return }
            target.copyMemory(from: source, byteCount: Int(header.length))
            starts(memory)[granule / 64].bitwiseOr(1 << UInt64(granule % 64), ordering: .relaxed)
            Self.forEachWord(granule..<granule + Int(header.length) / FrameHeader.alignment) { word, mask in
                filled(memory)[word].bitwiseOr(mask, ordering: .releasing)
            }
        }
        return UnsafeRawPointer(stored)
    }

    // MARK: Reading

    /// Lends the read-ahead buffer to one thread at a time; a second thread reads for itself.
    private func withAhead<Result>(
        _ body: (inout ReadBuffer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var age: UInt64 = 0
        var bytes = ahead.withLock { ahead in
            age = ahead.age
            return ahead.bytes.take()
        } ?? ReadBuffer()
        let result = try body(&bytes)
        if !bytes.isLarge { giveBack(bytes, age) }
        return result
    }

    private func giveBack(_ bytes: consuming ReadBuffer, _ age: UInt64) {
        var bytes: ReadBuffer? = bytes
        ahead.withLock { if $0.age == age { $0.bytes = bytes.take() } }
    }

    private func bytes(
        _ ahead: inout ReadBuffer, at offset: UInt64, count: Int, limit: UInt64
    ) throws(StoreError) -> UnsafeRawPointer {
        let (pointer, end) = try ahead.bytes(at: offset, count: count, limit: limit) { buffer, offset throws(StoreError) in
            try transfer(buffer, offset)
        }
        guard let pointer else { throw cut(end) }
        return pointer
    }

    private func transfer(_ buffer: UnsafeMutableRawBufferPointer, _ offset: UInt64) throws(StoreError) -> Int {
        let count = try storage.read(into: buffer, at: offset)
        counters.read(bytes: count)
        return count
    }

    /// The error for a file that has become shorter: callers ask only for bytes that existed.
    /// - Parameter end: the end of the read.
    private func cut(_ end: UInt64) -> StoreError { LogFile.cut(path, to: (try? storage.size()) ?? end) }
}
