/// The end of a commit frame's payload. Spec: FORMAT.md, "Commits".
struct CommitFooter: Equatable {
    var sequence: UInt64
    /// The checksum of the previous commit's frame: commits form a chain.
    var previousChecksum: UInt64
    /// The offset of the commit's first frame, set by the appender.
    var start: UInt64
    /// Microseconds since 1970-01-01 UTC.
    var timestamp: Int64
    /// The newest commit known to be on the disk when this one was written.
    var durableSequence: UInt64
    /// The checksums of the commit's frames of rows and values, folded in order (`folding`); 0 if it has none. Without it, a frame
    /// that an abandoned attempt left at the same offset, with the same sequence, could pass for one of this commit's.
    var partsChecksum: UInt64 = 0
    /// The count of rows in all of the commit's frames.
    var rowCount: UInt32
    /// The byte count of the author's name, UTF-8, which is stored right before the footer.
    var authorLength: UInt16

    enum Layout {
        static let sequence = 0
        static let previousChecksum = 8
        static let start = 16
        static let timestamp = 24
        static let durableSequence = 32
        static let partsChecksum = 40
        static let rowCount = 48
        static let authorLength = 52
        static let size = 56
    }

    /// A limit, so that a footer fits the smallest segment beside any rows.
    static let authorLengthMax = 1000

    /// The parts' checksum after one more frame: XXH64 of both words, little endian.
    static func folding(_ parts: UInt64, _ checksum: UInt64) -> UInt64 {
        withUnsafeBytes(of: (parts.littleEndian, checksum.littleEndian)) { XXH64.hash($0, seed: 0) }
    }

    /// Reads the footer of a verified commit frame.
    init?(payload: UnsafeRawBufferPointer) {
        guard payload.count >= Layout.size, let base = payload.baseAddress else { return nil }
        let pointer = base + (payload.count - Layout.size)
        func load(_ offset: Int) -> UInt64 { UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        sequence = load(Layout.sequence)
        previousChecksum = load(Layout.previousChecksum)
        start = load(Layout.start)
        timestamp = Int64(bitPattern: load(Layout.timestamp))
        durableSequence = load(Layout.durableSequence)
        partsChecksum = load(Layout.partsChecksum)
        rowCount = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.rowCount, as: UInt32.self))
        authorLength = UInt16(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.authorLength, as: UInt16.self))
        guard Int(authorLength) + Layout.size <= payload.count else { return nil }
    }

    init(
        sequence: UInt64, previousChecksum: UInt64, start: UInt64 = 0, timestamp: Int64, durableSequence: UInt64, rowCount: UInt32,
        authorLength: UInt16
    ) {
        self.sequence = sequence
        self.previousChecksum = previousChecksum
        self.start = start
        self.timestamp = timestamp
        self.durableSequence = durableSequence
        self.rowCount = rowCount
        self.authorLength = authorLength
    }

    func write(to pointer: UnsafeMutableRawPointer) {
        func store(_ value: UInt64, _ offset: Int) { pointer.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self) }
        store(sequence, Layout.sequence)
        store(previousChecksum, Layout.previousChecksum)
        store(start, Layout.start)
        store(UInt64(bitPattern: timestamp), Layout.timestamp)
        store(durableSequence, Layout.durableSequence)
        store(partsChecksum, Layout.partsChecksum)
        pointer.storeBytes(of: rowCount.littleEndian, toByteOffset: Layout.rowCount, as: UInt32.self)
        pointer.storeBytes(of: UInt32(authorLength).littleEndian, toByteOffset: Layout.authorLength, as: UInt32.self)
    }

    /// The row records in a commit's payload.
    func rows(in payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: payload[..<(payload.count - Layout.size - Int(authorLength))])
    }

    func author(in payload: UnsafeRawBufferPointer) -> String? {
        authorLength > 0 ? String(decoding: author(bytesIn: payload), as: UTF8.self) : nil
    }

    func author(bytesIn payload: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        let end = payload.count - Layout.size
        return payload[(end - Int(authorLength))..<end]
    }
}
