import Synchronization

/// Brings bytes of a mapped file into memory, and into the processor's cache, before they are needed.
extension LogFile {
    /// Requests bytes that are read soon, unless they are in memory. A file that is not mapped reads ahead in its buffer.
    func willRead(_ range: Range<UInt64>) {
        let end = min(range.upperBound, readableEnd)
        guard maps, range.lowerBound < end, !seemsInMemory(range.lowerBound..<end) else { return }
        storage.willRead(range.lowerBound..<end)
    }

    /// Whether a few pages, spread over a long range, are all in memory. The system examines each page of a request, which takes a tenth of a
    /// scan if all are in memory.
    private func seemsInMemory(_ range: Range<UInt64>) -> Bool {
        let length = range.upperBound - range.lowerBound
        guard length >= Self.looksFrom else { return false }
        return (0...Self.looks).allSatisfy { look in
            let offset = range.lowerBound + (length - 1) / Self.looks * look
            return alreadyMapped(offset).map(storage.isInMemory) ?? false
        }
    }

    /// For a shorter range the request costs less than the test.
    private static let looksFrom: UInt64 = 256 << 10
    private static let looks: UInt64 = 7

    /// Reads a byte at the offset of each row. The loads do not wait for each other, so their cache misses overlap. It first requests the frames
    /// in pieces of the file that are new, so that the waits for the disk overlap too.
    /// - Returns: a value made of the bytes, so that the compiler keeps the loads.
    @inline(never)
    func touch(_ offsets: UnsafeBufferPointer<UInt64>) -> UInt8 {
        let end = readableEnd
        askOnce(offsets, end)
        var sum: UInt8 = 0
        for offset in offsets where offset < end {
            guard let start = alreadyMapped(offset) else { continue }
            sum ^= start.load(as: UInt8.self)
            // Half of all rows begin in one cache line and have the bytes that are read in the next.
            if offset &+ Self.cacheLine < end, room(at: offset) > Self.cacheLine {
                sum ^= start.load(fromByteOffset: CacheLine.size, as: UInt8.self)
            }
        }
        return sum
    }

    private static let cacheLine = UInt64(CacheLine.size)

    /// Prefetches two cache lines that a read of one row needs: the row's second line, and the word with its frame's verified bit, which is
    /// otherwise found through the first line. The frame begins so little before the row that its bit is in the same line as the row's.
    @inline(__always)
    func touchRow(_ offset: UInt64) {
        guard let start = alreadyMapped(offset) else { return }
        if let bit = bit(offset) { CacheLine.touch(bit.word) }
        if offset &+ Self.cacheLine < readableEnd, room(at: offset) > Self.cacheLine {
            CacheLine.touch(start + CacheLine.size)
        }
    }

    /// The size, as a shift, of the piece that a bit of `askOnce` covers. A new piece costs a system call, and a disk delivers 16 KiB as fast
    /// as four.
    static let pieceShift: UInt64 = 14
    /// The most bytes that a frame is assumed to extend outside a piece.
    private static let margin: UInt64 = 4096

    /// Requests the frames of rows in new pieces of the file. If the first few rows are in known pieces, it assumes the same of the others, since
    /// testing each row takes a tenth of the time of a range read.
    @inline(__always)
    private func askOnce(_ offsets: UnsafeBufferPointer<UInt64>, _ end: UInt64) {
        let sample = min(Self.sampleSize, offsets.count)
        var isNew = false
        for index in 0..<sample where offsets[index] < end { isNew = askOnce(offsets[index]) || isNew }
        guard isNew else { return }
        for index in sample..<offsets.count where offsets[index] < end { askOnce(offsets[index]) }
    }

    /// The number of rows of a group that are tested.
    static let sampleSize = 4

    /// Requests the frame of the row or frame at `offset`, if its piece of the file is new. Frames begin and end anywhere; without this the
    /// caller would wait for one page after another.
    /// - Returns: whether the piece is new.
    @inline(__always)
    @discardableResult
    func askOnce(_ offset: UInt64) -> Bool {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        guard index < Self.segmentsMax, alreadyMapped(offset) != nil || isNowMapped(offset),
            let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .acquiring))
        else { return false }
        let piece = Int((offset & segmentMask) >> Self.pieceShift)
        let words = (bits + Self.bitmapSize(segmentSize: Int(segmentSize))).assumingMemoryBound(to: Atomic<UInt64>.self)
        guard words[piece / 64].load(ordering: .relaxed) >> UInt64(piece % 64) & 1 == 0 else { return false }
        ask(offset, words + piece / 64, piece % 64)
        return true
    }

    /// Maps the segment of an offset. A damaged index may contain any offset.
    @inline(never)
    private func isNowMapped(_ offset: UInt64) -> Bool {
        guard maps, offset < readableEnd else { return false }
        return (try? mapped(offset)) != nil
    }

    /// Requests a piece and its margins. If the pieces before it are known, also requests the following ones, since frames are read in order.
    /// - Parameters:
    ///   - word: the bits of the piece and of its neighbours.
    ///   - index: the number of the piece's bit in the word.
    @inline(never)
    private func ask(_ offset: UInt64, _ word: UnsafeMutablePointer<Atomic<UInt64>>, _ index: Int) {
        let known = word.pointee.load(ordering: .relaxed)
        let run = index == 0 ? 0 : min((~(known << UInt64(64 - index))).leadingZeroBitCount, index)
        let count = min(run == 0 ? 1 : run < 8 ? 8 : 64, 64 - index)
        word.pointee.bitwiseOr((UInt64.max >> UInt64(64 - count)) << UInt64(index), ordering: .relaxed)
        let start = offset & ~(1 << Self.pieceShift - 1)
        willRead((run > 0 || start == 0 ? start : start - Self.margin)..<start + UInt64(count) << Self.pieceShift + Self.margin)
    }
}
