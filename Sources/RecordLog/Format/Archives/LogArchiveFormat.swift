/// The parts of a log archive: header, blocks of frames, blocks of the table, trailer. Spec: docs/format/log-archive.md.
///
/// History: 1, November 2026, the first. Rule: raise the version with every change that makes an older reader read wrongly.
enum LogArchiveFormat {
    static let version: UInt32 = 1
    /// The most bytes in a block, so that a block and its head have 1 MiB. All blocks of frames but the last are that long.
    static let blockMax = 1 << 20 - Block.size

    enum Block {
        static let length = 0
        static let number = 4
        static let checksum = 8
        static let size = 16
    }

    /// - Parameter number: counts the archive's blocks from 0.
    static func seed(_ headerChecksum: UInt64, block number: UInt64) -> UInt64 { headerChecksum ^ number }

    /// The number of blocks for so many bytes.
    static func blockCount(_ bytes: UInt64) -> UInt64 { bytes / UInt64(blockMax) + (bytes % UInt64(blockMax) > 0 ? 1 : 0) }

    /// The bytes that so many bytes take in blocks.
    static func blocksLength(_ bytes: UInt64) -> UInt64 { bytes + blockCount(bytes) * UInt64(Block.size) }

    /// The length of a whole archive.
    static func length(frames: UInt64, table: UInt64) -> UInt64 {
        UInt64(LogArchiveHeader.Layout.size + LogArchiveTrailer.Layout.size) + blocksLength(frames) + blocksLength(table)
    }

    /// A block with its head.
    static func block(_ bytes: UnsafeRawBufferPointer, number: UInt64, headerChecksum: UInt64) -> (bytes: [UInt8], checksum: UInt64) {
        let checksum = XXH64.hash(bytes, seed: seed(headerChecksum, block: number))
        var writer = ByteWriter()
        writer.bytes.reserveCapacity(Block.size + bytes.count)
        writer.append(UInt32(bytes.count))
        writer.append(UInt32(truncatingIfNeeded: number))
        writer.append(checksum)
        writer.bytes.append(contentsOf: bytes)
        return (writer.bytes, checksum)
    }

    /// The checksum of a block, if its head and bytes are those that a writer made.
    /// - Parameters:
    ///   - bytes: the head and the block.
    ///   - count: how many bytes the block must have.
    static func checksum(of bytes: UnsafeRawBufferPointer, count: Int, number: UInt64, headerChecksum: UInt64) -> UInt64? {
        guard bytes.count == Block.size + count else { return nil }
        var reader = ByteReader(bytes)
        guard reader.integer(UInt32.self) == UInt32(count), reader.integer(UInt32.self) == UInt32(truncatingIfNeeded: number),
            let stated = reader.integer(UInt64.self), let block = reader.take(count),
            XXH64.hash(block, seed: seed(headerChecksum, block: number)) == stated
        else { return nil }
        return stated
    }
}

/// The reason why bytes are not a log archive.
enum LogArchiveFault: Error {
    /// It is no log archive.
    case foreign
    case damaged(String)
    /// A newer Heartwood wrote it.
    case newer(UInt32)
}

/// The first bytes of a log archive.
struct LogArchiveHeader: Equatable, Sendable {
    enum Layout {
        static let checksum = size - 8
        static let size = 192
    }

    static let magic = Array("HEARTLOG".utf8)
    private static let baseFlag: UInt8 = 1

    var segmentShift: UInt8
    /// Whether the archive begins with its file's first frame.
    var isBase: Bool
    var storeID: StoredUUID
    var lineage: Lineage
    var fileID: UInt64
    /// The format version of the store's file.
    var storeVersion: UInt32
    /// The numbers of the first and last commit.
    var first: UInt64
    var last: UInt64
    /// The least and the greatest time of a commit, microseconds since 1970.
    var leastTime: Int64
    var greatestTime: Int64
    /// The checksum of the commit before the first one; 0 in a base.
    var previousChecksum: UInt64
    /// The checksum and the offset of the last commit's frame.
    var lastChecksum: UInt64
    var lastFrame: UInt64
    /// The end of the commit before the first one, in a base the file's first frame; and the end of the last commit.
    var start: UInt64
    var end: UInt64
    /// The bytes of the frames in the archive.
    var frameBytes: UInt64

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.bytes = Self.magic
        writer.append(LogArchiveFormat.version)
        writer.append(segmentShift)
        writer.append(isBase ? Self.baseFlag : 0)
        writer.append(UInt16(0))
        storeID.append(to: &writer)
        lineage.id.append(to: &writer)
        (lineage.fork ?? .none).append(to: &writer)
        writer.append(fileID)
        writer.append(storeVersion)
        writer.append(UInt32(0))
        for value in [first, last, UInt64(bitPattern: leastTime), UInt64(bitPattern: greatestTime)] { writer.append(value) }
        for value in [previousChecksum, lastChecksum, lastFrame, start, end, frameBytes] { writer.append(value) }
        writer.append(writer.bytes.withUnsafeBytes { XXH64.hash($0, seed: 0) })
        return writer.bytes
    }

    /// The checksum at the header's end, with which everything behind it is seeded.
    static func checksum(in header: [UInt8]) -> UInt64 {
        header.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: Layout.checksum, as: UInt64.self)) }
    }

    init(_ bytes: [UInt8]) throws(LogArchiveFault) {
        guard bytes.starts(with: Self.magic) else { throw .foreign }
        guard bytes.count >= Layout.size else { throw .damaged("it ends within its header") }
        let checksum = bytes.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[..<Layout.checksum]), seed: 0) }
        guard checksum == Self.checksum(in: bytes) else { throw .damaged("its header is damaged") }
        let found = bytes.withUnsafeBytes { bytes -> (header: LogArchiveHeader?, version: UInt32) in
            var reader = ByteReader(bytes)
            _ = reader.take(Self.magic.count)
            let version = reader.integer(UInt32.self) ?? 0
            return (version == LogArchiveFormat.version ? Self(&reader) : nil, version)
        }
        guard found.version <= LogArchiveFormat.version else { throw .newer(found.version) }
        guard let header = found.header, header.isPossible else { throw .damaged("its header states what cannot be") }
        self = header
    }

    private init?(_ reader: inout ByteReader) {
        guard let segmentShift = reader.integer(UInt8.self), let flags = reader.integer(UInt8.self), reader.integer(UInt16.self) != nil,
            let storeID = StoredUUID(&reader), let lineage = StoredUUID(&reader), let fork = Lineage.Fork(&reader),
            let fileID = reader.integer(UInt64.self), let storeVersion = reader.integer(UInt32.self), reader.integer(UInt32.self) != nil
        else { return nil }
        func next(_ reader: inout ByteReader) -> UInt64 { reader.integer(UInt64.self) ?? 0 }
        self.init(
            segmentShift: segmentShift, isBase: flags & Self.baseFlag != 0, storeID: storeID,
            lineage: Lineage(id: lineage, fork: fork == .none ? nil : fork), fileID: fileID, storeVersion: storeVersion, first: next(&reader),
            last: next(&reader), leastTime: Int64(bitPattern: next(&reader)), greatestTime: Int64(bitPattern: next(&reader)),
            previousChecksum: next(&reader), lastChecksum: next(&reader), lastFrame: next(&reader), start: next(&reader), end: next(&reader),
            frameBytes: next(&reader))
    }

    init(
        segmentShift: UInt8, isBase: Bool, storeID: StoredUUID, lineage: Lineage, fileID: UInt64, storeVersion: UInt32, first: UInt64,
        last: UInt64, leastTime: Int64, greatestTime: Int64, previousChecksum: UInt64, lastChecksum: UInt64, lastFrame: UInt64, start: UInt64,
        end: UInt64, frameBytes: UInt64
    ) {
        self.segmentShift = segmentShift
        self.isBase = isBase
        self.storeID = storeID
        self.lineage = lineage
        self.fileID = fileID
        self.storeVersion = storeVersion
        self.first = first
        self.last = last
        self.leastTime = leastTime
        self.greatestTime = greatestTime
        self.previousChecksum = previousChecksum
        self.lastChecksum = lastChecksum
        self.lastFrame = lastFrame
        self.start = start
        self.end = end
        self.frameBytes = frameBytes
    }

    /// The end of the largest possible file of these segments.
    var sizeMax: UInt64 { 1 << (UInt64(segmentShift) + 14) }

    /// More than the table of such an archive takes: two counts, an extent and two varints for each commit, and the checkpoints of a base, each
    /// of which has a frame.
    var tableLengthMax: UInt64 {
        8 + (last - first + 1) * 36 + (isBase ? frameBytes / UInt64(FrameHeader.alignment) * 16 : 0)
    }

    private var isPossible: Bool {
        let alignment = UInt64(FrameHeader.alignment)
        guard FileFormat.segmentShiftRange.contains(segmentShift), first > 0, first <= last, leastTime <= greatestTime,
            start >= FileFormat.dataStart, start < end, end <= sizeMax, lastFrame >= start, lastFrame < end, frameBytes > 0, frameBytes <= sizeMax
        else { return false }
        guard start % alignment == 0, end % alignment == 0, lastFrame % alignment == 0, frameBytes % alignment == 0 else { return false }
        // A commit has at least a frame of header and footer.
        guard last - first < min(end - start, frameBytes) / UInt64(FrameHeader.length(forPayload: CommitFooter.Layout.size)) else { return false }
        return isBase ? start == FileFormat.dataStart && previousChecksum == 0 : first > 1
    }
}

extension Lineage.Fork {
    /// Stands in a header for no fork.
    fileprivate static let none = Lineage.Fork(parent: StoredUUID(words: (0, 0)), sequence: 0, checksum: 0, fileID: 0)
}

/// The last bytes of a log archive.
struct LogArchiveTrailer: Equatable, Sendable {
    enum Layout {
        static let checksum = size - 8
        static let size = 64
    }

    static let magic = Array("HWLOGEND".utf8)

    var blocks: UInt64
    var fileLength: UInt64
    /// The bytes of the table, without the heads of its blocks.
    var tableLength: UInt64
    /// The checksums of all blocks, folded in order (`CommitFooter.folding`).
    var fold: UInt64

    func encoded(headerChecksum: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.bytes = Self.magic
        for value in [blocks, fileLength, tableLength, fold, 0, 0] { writer.append(value) }
        writer.append(writer.bytes.withUnsafeBytes { XXH64.hash($0, seed: headerChecksum) })
        return writer.bytes
    }

    init(blocks: UInt64, fileLength: UInt64, tableLength: UInt64, fold: UInt64) {
        self.blocks = blocks
        self.fileLength = fileLength
        self.tableLength = tableLength
        self.fold = fold
    }

    /// - Returns: nil if the bytes are not the trailer of an archive of this length.
    init?(_ bytes: [UInt8], headerChecksum: UInt64, frameBytes: UInt64, fileLength: UInt64) {
        guard bytes.count == Layout.size, bytes.starts(with: Self.magic) else { return nil }
        let words = bytes.withUnsafeBytes { bytes in
            (0..<Layout.size / 8).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        let checksum = bytes.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[..<Layout.checksum]), seed: headerChecksum) }
        guard words[7] == checksum, words[2] == fileLength, words[3] < fileLength, words[3] > 0,
            LogArchiveFormat.length(frames: frameBytes, table: words[3]) == fileLength,
            words[1] == LogArchiveFormat.blockCount(frameBytes) + LogArchiveFormat.blockCount(words[3])
        else { return nil }
        self.init(blocks: words[1], fileLength: words[2], tableLength: words[3], fold: words[4])
    }
}
