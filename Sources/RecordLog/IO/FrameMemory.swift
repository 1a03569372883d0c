import Synchronization

/// Frames of a file in memory of their own, read one by one: for a file that is not mapped, since a mapped read of a medium that
/// goes away is a fault that ends the process.
///
/// Invariants:
/// 1. Bytes whose bits in `filled` are set are those of frames whose checksums held. Until `forget` they stay as they are.
/// 2. Other bytes are touched under `placing` alone.
/// 3. What was filled takes memory as long as this object lives; the rest takes address space.
final class FrameMemory: @unchecked Sendable {
    // Unchecked: the table through atomics alone, the memory by (1) and (2).
    private let storage: any StorageFile
    private let path: String
    private let fileID: UInt64
    private let segmentShift: UInt64
    private let counters: Counters
    /// By segment: the address of its memory, 0 until used. Behind the segment's bytes there are a bit for each 64 of them that
    /// says whether they are filled, and one that says whether a filled frame starts there.
    private let segments: UnsafeMutablePointer<Atomic<UInt>>
    private let placing = Mutex(())
    /// Behind the last segment that was ever used.
    private let segmentsEnd = Atomic<Int>(0)

    private struct Ahead: ~Copyable {
        var bytes: ReadBuffer?
        /// Goes up where bytes of the file may have changed: what was read before that is not to be used after it.
        var age: UInt64 = 0
    }

    private let ahead = Mutex(Ahead())

    init(storage: any StorageFile, path: String, identity: FileIdentity, counters: Counters) {
        self.storage = storage
        self.path = path
        fileID = identity.fileID
        segmentShift = UInt64(identity.segmentShift)
        self.counters = counters
        // Zero is a valid, empty state.
        segments = LazyMemory.zeroed(LogFile.segmentsMax * MemoryLayout<Atomic<UInt>>.stride)
            .bindMemory(to: Atomic<UInt>.self, capacity: LogFile.segmentsMax)
    }

    deinit {
        for index in 0..<segmentsEnd.load(ordering: .acquiring) {
            guard let memory = UnsafeMutableRawPointer(bitPattern: segments[index].load(ordering: .relaxed)) else { continue }
            LazyMemory.release(memory, segmentSize + 2 * bitmapSize)
        }
        LazyMemory.release(UnsafeMutableRawPointer(segments), LogFile.segmentsMax * MemoryLayout<Atomic<UInt>>.stride)
    }

    private var segmentSize: Int { 1 << Int(segmentShift) }
    private var bitmapSize: Int { LogFile.bitmapSize(segmentSize: segmentSize) }

    // MARK: Segments

    /// Makes room for a segment; not from two threads at once.
    /// - Returns: the bits that say where its frames start, as `LogFile.verified` has them.
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

    /// Where a byte of a frame that is there lies in memory; nil where none has it.
    func pointer(at offset: UInt64) -> UnsafeRawPointer? {
        guard let memory = segment(offset) else { return nil }
        let at = within(offset), granule = at / FrameHeader.alignment
        // With the releasing store in `place`: whoever sees the bit sees the frame.
        let word = filled(memory)[granule / 64].load(ordering: .acquiring)
        return word >> UInt64(granule % 64) & 1 == 0 ? nil : UnsafeRawPointer(memory + at)
    }

    /// The frame at `offset`, read from the file at the first time.
    /// - Parameter limit: the end of what may be read, in this segment.
    /// - Returns: nil where no whole, valid frame lies there.
    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? {
        if isStart(offset), let pointer = pointer(at: offset) {
            return FrameHeader(pointer, limit: limit - offset).map { LogFile.Frame(offset: offset, pointer: pointer, header: $0) }
        }
        return try withAhead { bytes throws(StoreError) in
            guard let frame = try self.frame(at: offset, limit: limit, passing: &bytes), let placed = place(frame.pointer, frame.header, at: offset)
            else { return nil }
            return LogFile.Frame(offset: offset, pointer: placed, header: frame.header)
        }
    }

    /// The same, read into `bytes` alone, and valid until they are read into again.
    func frame(at offset: UInt64, limit: UInt64, passing bytes: inout ReadBuffer) throws(StoreError) -> LogFile.Frame? {
        guard limit - offset >= UInt64(FrameHeader.lengthMin) else { return nil }
        let head = try self.bytes(&bytes, at: offset, count: FrameHeader.lengthMin, limit: limit)
        guard let header = FrameHeader(head, limit: limit - offset) else { return nil }
        let frame = try self.bytes(&bytes, at: offset, count: Int(header.length), limit: limit)
        guard FrameHeader.checksum(of: frame, length: header.length, fileID: fileID, offset: offset) == header.checksum else { return nil }
        return LogFile.Frame(offset: offset, pointer: frame, header: header)
    }

    /// How far before a row's record its frame starts; nil where there is no record.
    /// - Parameter limit: the end of what may be read, in this segment.
    func distance(at address: UInt64, limit: UInt64) throws(StoreError) -> UInt64? {
        let count = min(limit - address, UInt64(RowRecord.size(ofBody: 0, version: 0, previous: 1)))
        return try withAhead { bytes throws(StoreError) in
            let record = try self.bytes(&bytes, at: address, count: Int(count), limit: limit)
            return RowRecord(record, limit: Int(limit - address)).map { UInt64($0.distance) }
        }
    }

    /// Bytes of the file as they are now.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) {
        let count = try transfer(buffer, offset)
        guard count == buffer.count else { throw cut(offset + UInt64(count)) }
    }

    /// Bytes from `offset` on are about to be written over or cut off.
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

    /// Bytes of the file that are in no frame here may be others now.
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

    /// Copies a frame whose checksum holds to its place.
    private func place(_ frame: UnsafeRawPointer, _ header: FrameHeader, at offset: UInt64) -> UnsafeRawPointer? {
        guard let memory = segment(offset) else { return nil }
        let at = within(offset), granule = at / FrameHeader.alignment
        let placed = memory + at
        nonisolated(unsafe) let (source, target) = (frame, placed)
        placing.withLock { _ in
            // (1) Where another thread came first, its bytes may be in use.
            guard !isStart(offset) else { return }
            target.copyMemory(from: source, byteCount: Int(header.length))
            starts(memory)[granule / 64].bitwiseOr(1 << UInt64(granule % 64), ordering: .relaxed)
            Self.forEachWord(granule..<granule + Int(header.length) / FrameHeader.alignment) { word, mask in
                filled(memory)[word].bitwiseOr(mask, ordering: .releasing)
            }
        }
        return UnsafeRawPointer(placed)
    }

    // MARK: Reading

    /// Lends the bytes that were read last to one thread at a time; a second one reads for itself.
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

    /// Nobody asks for bytes that were not seen to be there.
    /// - Parameter end: where a read ended.
    private func cut(_ end: UInt64) -> StoreError { LogFile.cut(path, to: (try? storage.size()) ?? end) }
}
