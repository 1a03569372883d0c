import Synchronization

/// What a mapped file brings into memory, and close to the processor, before somebody waits for it.
extension LogFile {
    /// Asks for bytes that will be read soon, where they are not in memory already. A file that is not mapped reads ahead by itself.
    func willRead(_ range: Range<UInt64>) {
        let end = min(range.upperBound, readableEnd)
        guard maps, range.lowerBound < end, !seemsInMemory(range.lowerBound..<end) else { return }
        storage.willRead(range.lowerBound..<end)
    }

    /// Whether a few pages, spread over a long range, are all in memory: the system looks at each page that it is asked for, which takes a tenth of
    /// a scan where they all are.
    private func seemsInMemory(_ range: Range<UInt64>) -> Bool {
        let length = range.upperBound - range.lowerBound
        guard length >= Self.looksFrom else { return false }
        return (0...Self.looks).allSatisfy { look in
            let offset = range.lowerBound + (length - 1) / Self.looks * look
            let index = Int(truncatingIfNeeded: offset >> segmentShift)
            guard index < Self.segmentsMax, let base = UnsafeRawPointer(bitPattern: segments[index].load(ordering: .acquiring)) else { return false }
            return storage.isInMemory(base + Int(offset & segmentMask))
        }
    }

    /// A shorter range is asked for at less than what it costs to look.
    private static let looksFrom: UInt64 = 256 << 10
    private static let looks: UInt64 = 7

    /// Reads a byte at each offset of a row: loads that do not wait for each other, so that the misses of memory overlap. Of rows in pieces of the file
    /// that it meets for the first time the frames are asked for before that, so that the waits for the disk overlap too.
    /// - Returns: something made of them, so that they are not optimised away.
    @inline(never)
    func touch(_ offsets: UnsafeBufferPointer<UInt64>) -> UInt8 {
        let end = readableEnd
        askOnce(offsets, end)
        var sum: UInt8 = 0
        for offset in offsets where offset < end {
            let index = Int(truncatingIfNeeded: offset >> segmentShift)
            guard index < Self.segmentsMax, let base = UnsafeRawPointer(bitPattern: segments[index].load(ordering: .acquiring))
            else { continue }
            let start = base + Int(offset & segmentMask)
            sum ^= start.load(as: UInt8.self)
            // Half of all rows begin in one line of the cache and have what is read of them in the next.
            if offset &+ Self.cacheLine < end, room(at: offset) > Self.cacheLine { sum ^= start.load(fromByteOffset: CacheLine.size, as: UInt8.self) }
        }
        return sum
    }

    private static let cacheLine = UInt64(CacheLine.size)

    /// Has what a look at one row needs come at once: the row's second line, and whether its frame is verified, which is found out by way of the first.
    /// The frame begins so little before the row that its bit is in the same line as one for the row's own place.
    @inline(__always)
    func touchRow(_ offset: UInt64) {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        guard index < Self.segmentsMax, let base = UnsafeRawPointer(bitPattern: segments[index].load(ordering: .acquiring)) else { return }
        if let bit = bit(offset) { CacheLine.touch(bit.word) }
        if offset &+ Self.cacheLine < readableEnd, room(at: offset) > Self.cacheLine {
            CacheLine.touch(base + Int(offset & segmentMask) + CacheLine.size)
        }
    }

    /// A bit of those that `askOnce` sets stands for so many bytes, as a shift: what is new costs a call of the system, and 16 KiB come from a disk
    /// as fast as four.
    static let pieceShift: UInt64 = 14
    /// A frame may begin or end so far outside of the piece that a part of it lies in.
    private static let margin: UInt64 = 4096

    /// Asks for the frames of rows in pieces of the file that are met for the first time. Where the first few rows lie in known ones the others are
    /// believed to, since to look at each takes as long as a tenth of a range.
    @inline(__always)
    private func askOnce(_ offsets: UnsafeBufferPointer<UInt64>, _ end: UInt64) {
        let sample = min(Self.sampleSize, offsets.count)
        var isNew = false
        for index in 0..<sample where offsets[index] < end { isNew = askOnce(offsets[index]) || isNew }
        guard isNew else { return }
        for index in sample..<offsets.count where offsets[index] < end { askOnce(offsets[index]) }
    }

    /// So many of a group tell whether the others are new.
    static let sampleSize = 4

    /// Asks for the frame of a row, or one that begins here, where the piece of the file is met for the first time: frames begin and end anywhere, and
    /// a page after the other would be waited for.
    /// - Returns: whether it is.
    @inline(__always)
    @discardableResult
    func askOnce(_ offset: UInt64) -> Bool {
        let index = Int(truncatingIfNeeded: offset >> segmentShift)
        guard index < Self.segmentsMax, segments[index].load(ordering: .acquiring) != 0 || isNowMapped(offset),
            let bits = UnsafeMutableRawPointer(bitPattern: verified[index].load(ordering: .acquiring))
        else { return false }
        let piece = Int((offset & segmentMask) >> Self.pieceShift)
        let words = (bits + Self.bitmapSize(segmentSize: Int(segmentSize))).assumingMemoryBound(to: Atomic<UInt64>.self)
        guard words[piece / 64].load(ordering: .relaxed) >> UInt64(piece % 64) & 1 == 0 else { return false }
        ask(offset, words + piece / 64, piece % 64)
        return true
    }

    /// Maps the segment of an offset. One that a damaged index names may lie anywhere.
    @inline(never)
    private func isNowMapped(_ offset: UInt64) -> Bool {
        guard maps, offset < readableEnd else { return false }
        return (try? mapped(offset)) != nil
    }

    /// Asks for a piece and what reaches into it; and for what follows, where the pieces before it were met already: frames are read in order.
    /// - Parameters:
    ///   - word: the bits of the piece and of its neighbours.
    ///   - place: the piece's bit.
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
