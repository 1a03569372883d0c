/// The frames of a write-ahead log that are committed. Source: SQLite, "Database File Format", 4.1 to 4.4.
///
/// (1) A frame counts if its salts are the header's and its checksum continues that of the frame before it.
/// (2) A transaction counts if its last frame, which has the database's page count, counts. The frames behind the last such frame do not.
/// (3) Frames that count stay as they are until the header's salts change.
struct WriteAheadLog {
    /// The header's bytes: two logs with the same one are the same log.
    let header: [UInt8]
    let pageSize: Int
    private(set) var commits = 0
    /// Of committed transactions.
    private(set) var frames = 0
    /// Frames behind the last commit that count otherwise.
    private(set) var openFrames = 0
    /// The pages' offsets in the log.
    private(set) var offsets: [UInt32: UInt64] = [:]
    /// As the last commit says.
    private(set) var pageCount: UInt32 = 0
    private(set) var lastFrameChecksum: Checksum

    private let isBigEndian: Bool

    enum Layout {
        static let version = 4
        static let pageSize = 8
        static let salts = 16..<24
        static let checksum = 24
        static let header = 32
        static let frameHeader = 24
        static let frameSalts = 8
        static let frameChecksum = 16
    }

    struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        /// - Parameter count: a multiple of 8.
        mutating func add(_ bytes: UnsafeRawPointer, _ count: Int, isBigEndian: Bool) {
            var s0 = first, s1 = second, offset = 0
            while offset < count {
                let x0 = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let x1 = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                s0 = s0 &+ (isBigEndian ? UInt32(bigEndian: x0) : UInt32(littleEndian: x0)) &+ s1
                s1 = s1 &+ (isBigEndian ? UInt32(bigEndian: x1) : UInt32(littleEndian: x1)) &+ s0
                offset += 8
            }
            (first, second) = (s0, s1)
        }
    }

    /// - Returns: nil if the header is not that of a log, as SQLite ignores such a file.
    init?(reading source: any ByteSource, path: String) throws(SQLiteFileError) {
        let header = try source.prefix(Layout.header)
        guard let isBigEndian = Self.order(of: header) else { return nil }
        self.header = header
        self.isBigEndian = isBigEndian
        pageSize = header.withUnsafeBytes { Int($0.baseAddress!.word(Layout.pageSize)) }
        guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        lastFrameChecksum = Checksum()
        header.withUnsafeBytes { lastFrameChecksum.add($0.baseAddress!, Layout.checksum, isBigEndian: isBigEndian) }
        let stored = header.withUnsafeBytes { Checksum(first: $0.baseAddress!.word(Layout.checksum), second: $0.baseAddress!.word(28)) }
        guard stored == lastFrameChecksum else { return nil }
        let version = header.withUnsafeBytes { $0.baseAddress!.word(Layout.version) }
        guard version == 3_007_000 else {
            throw SQLiteFileError(
                .unsupportedVersion, path: path, offset: UInt64(Layout.version), "the write-ahead log has the unknown version \(version)",
                remedy: "Open the database with its own program first, and close it there.")
        }
        try scan(source, until: nil)
    }

    /// - Returns: nil if it is no log; else whether its checksums are over big-endian words.
    private static func order(of header: [UInt8]) -> Bool? {
        guard header.count == Layout.header else { return nil }
        return switch header.withUnsafeBytes({ $0.baseAddress!.word(0) }) {
        case 0x377f_0682: false
        case 0x377f_0683: true
        default: nil
        }
    }

    /// Whether the log has a commit behind those that are known.
    func isContinued(in source: any ByteSource) throws(SQLiteFileError) -> Bool {
        var later = self
        later.offsets = [:]
        try later.scan(source, until: commits + 1)
        return later.commits > commits
    }

    /// Whether the frame behind those that count is whole and of this cycle of the log, so that only its checksum can be wrong.
    func endsAtWrongChecksum(in source: any ByteSource) throws(SQLiteFileError) -> Bool {
        let frame = frames + openFrames
        guard try source.status().size >= offset(of: frame + 1) else { return false }
        let bytes = try source.bytes(at: offset(of: frame), count: Layout.frameHeader)
        guard bytes.count == Layout.frameHeader else { return false }
        return bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { $0.word(0) != 0 && hasSalts($0) } ?? false }
    }

    /// The frames that a log of this size can have.
    func frameCount(inBytes size: UInt64) -> Int {
        Int(clamping: (size - min(size, UInt64(Layout.header))) / UInt64(Layout.frameHeader + pageSize))
    }

    var salts: (UInt32, UInt32) {
        let start = Layout.salts.lowerBound
        return header.withUnsafeBytes { bytes in bytes.baseAddress.map { ($0.word(start), $0.word(start + 4)) } ?? (0, 0) }
    }

    func byteOffset(ofFrame number: Int) -> UInt64 { offset(of: number - 1) }

    /// Reads the frames behind the last commit. Stops at the first that does not count, or once there are `until` commits.
    private mutating func scan(_ source: any ByteSource, until limit: Int?) throws(SQLiteFileError) {
        let size = Layout.frameHeader + pageSize
        let perRead = max(1, (1 << 18) / size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: perRead * size, alignment: 8)
        defer { buffer.deallocate() }
        var frame = frames
        var checksum = lastFrameChecksum
        var pending: [UInt32] = []
        while true {
            // A log that has ended costs a read of one frame's header.
            guard try source.read(into: Self.part(buffer, Layout.frameHeader), at: offset(of: frame)) == Layout.frameHeader,
                hasSalts(UnsafeRawPointer(buffer.baseAddress!))
            else { break }
            let count = try source.read(into: buffer, at: offset(of: frame)) / size
            for index in 0..<count {
                guard let page = check(UnsafeRawPointer(buffer.baseAddress! + index * size), &checksum) else {
                    return openFrames = pending.count
                }
                pending.append(page.number)
                frame += 1
                guard page.count != 0 else { continue }
                commit(&pending, end: frame, pageCount: page.count, checksum)
                if commits == limit { return }
            }
            if count < perRead { break }
        }
        openFrames = pending.count
    }

    private static func part(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    }

    private func hasSalts(_ frame: UnsafeRawPointer) -> Bool {
        header.withUnsafeBytes { header in
            (0..<8).allSatisfy { header[Layout.salts.lowerBound + $0] == frame.byte(Layout.frameSalts + $0) }
        }
    }

    /// - Returns: nil if the frame does not count (1); else its page, and the page count that a commit has.
    private func check(_ frame: UnsafeRawPointer, _ checksum: inout Checksum) -> (number: UInt32, count: UInt32)? {
        let page = frame.word(0)
        guard page != 0, hasSalts(frame) else { return nil }
        checksum.add(frame, 8, isBigEndian: isBigEndian)
        checksum.add(frame + Layout.frameHeader, pageSize, isBigEndian: isBigEndian)
        guard checksum == Checksum(first: frame.word(Layout.frameChecksum), second: frame.word(Layout.frameChecksum + 4)) else { return nil }
        return (page, frame.word(4))
    }

    private mutating func commit(_ pending: inout [UInt32], end: Int, pageCount: UInt32, _ checksum: Checksum) {
        for (index, page) in pending.enumerated() { offsets[page] = offset(of: end - pending.count + index) + UInt64(Layout.frameHeader) }
        pending.removeAll(keepingCapacity: true)
        frames = end
        commits += 1
        self.pageCount = pageCount
        lastFrameChecksum = checksum
    }

    private func offset(of frame: Int) -> UInt64 { UInt64(Layout.header) + UInt64(frame) * UInt64(Layout.frameHeader + pageSize) }
}
