/// The format's version, and the offsets of the header's parts. Spec: FORMAT.md, "Identity" and "Superblock".
///
/// History: 1, November 2026, the first. Rule: raise the version with every change that makes an older reader read wrongly. A change
/// that an older reader may ignore goes into reserved space.
enum FileFormat {
    static let version: UInt32 = 1
    static let magic: [UInt8] = Array("HEARTWD\n".utf8)
    /// The offset of the first frame.
    static let dataStart: UInt64 = 8192
    /// The two superblocks are in different 4 KiB sectors, so that a torn sector damages one at most.
    static let superblockOffsets: [UInt64] = [0, 4096]
    /// The two copies of the identity, one beside each superblock; written once.
    static let identityOffsets: [UInt64] = [1024, 5120]
    static let segmentShiftRange: ClosedRange<UInt8> = 16...30
    static let defaultSegmentShift: UInt8 = 26
}

/// The constant properties of a file, written twice at its creation.
struct FileIdentity: Equatable {
    var version: UInt32
    var segmentShift: UInt8
    /// Identifies the store; compaction keeps it.
    var storeID: StoredUUID
    /// Identifies this physical file. It seeds the file's checksums, so that a frame of another file never passes.
    var fileID: UInt64

    enum Layout {
        static let magic = 0
        static let version = magic + 8
        static let segmentShift = version + 4
        static let storeID = 16
        static let fileID = storeID + 16
        static let checksum = 64 - 8
        static let size = 64
    }

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Layout.size)
        bytes.withUnsafeMutableBytes { bytes in
            bytes.copyBytes(from: FileFormat.magic)
            bytes.storeBytes(of: version.littleEndian, toByteOffset: Layout.version, as: UInt32.self)
            bytes.storeBytes(of: segmentShift, toByteOffset: Layout.segmentShift, as: UInt8.self)
            bytes.storeBytes(of: storeID, toByteOffset: Layout.storeID, as: StoredUUID.self)
            bytes.storeBytes(of: fileID.littleEndian, toByteOffset: Layout.fileID, as: UInt64.self)
            let checksum = XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<Layout.checksum]), seed: 0)
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: Layout.checksum, as: UInt64.self)
        }
        return bytes
    }

    /// - Returns: nil if the bytes are not an identity.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Layout.size, bytes[..<8].elementsEqual(FileFormat.magic) else { return nil }
        let stated = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.checksum, as: UInt64.self))
        guard XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<Layout.checksum]), seed: 0) == stated else { return nil }
        version = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.version, as: UInt32.self))
        segmentShift = bytes[Layout.segmentShift]
        storeID = bytes.loadUnaligned(fromByteOffset: Layout.storeID, as: StoredUUID.self)
        fileID = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.fileID, as: UInt64.self))
    }

    init(segmentShift: UInt8, storeID: StoredUUID, fileID: UInt64) {
        version = FileFormat.version
        self.segmentShift = segmentShift
        self.storeID = storeID
        self.fileID = fileID
    }
}

/// The newest published commit and checkpoint. Two superblocks alternate; the one with the higher generation is valid.
struct Superblock: Equatable {
    var generation: UInt64 = 0
    /// The sequence of the newest published commit, and the offset of the next frame.
    var sequence: UInt64 = 0
    var end: UInt64 = FileFormat.dataStart
    /// The sequence and end of the newest commit that was known to be on the disk when the superblock was written.
    var durableSequence: UInt64 = 0
    var durableEnd: UInt64 = FileFormat.dataStart
    /// The newest checkpoint's manifest; an offset of 0 means none.
    var checkpoint = FramePointer.none
    /// The checksum of the newest commit's frame. The next footer repeats it.
    var commitChecksum: UInt64 = 0
    /// Another file has replaced this one.
    var isSuperseded = false
    /// The file's name may not be durable yet. The next writer syncs the directory first.
    var isUnsettled = false
    /// An unpublished commit may follow the end: a part of a save over several stores, or its decision.
    var isUnresolved = false
    /// The file is a replica: only its follower writes to it.
    var isReplica = false

    enum Layout {
        static let generation = 8
        static let sequence = 16
        static let end = 24
        static let durableSequence = 32
        static let durableEnd = 40
        static let checkpointOffset = 48
        static let checkpointChecksum = 56
        static let commitChecksum = 64
        static let flags = 72
        static let superseded: UInt8 = 1
        static let unsettled: UInt8 = 2
        static let unresolved: UInt8 = 4
        static let replica: UInt8 = 8
        static let checksum = size - 8
        static let size = 512
    }

    static let magic: [UInt8] = Array("HWSLOT01".utf8)

    init() {}

    /// The offset of a superblock of this generation.
    var offset: UInt64 { FileFormat.superblockOffsets[Int(generation % 2)] }

    func encoded(fileID: UInt64) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Layout.size)
        bytes.withUnsafeMutableBytes { bytes in
            bytes.copyBytes(from: Self.magic)
            func store(_ value: UInt64, _ offset: Int) {
                bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
            }
            store(generation, Layout.generation)
            store(sequence, Layout.sequence)
            store(end, Layout.end)
            store(durableSequence, Layout.durableSequence)
            store(durableEnd, Layout.durableEnd)
            store(checkpoint.offset, Layout.checkpointOffset)
            store(checkpoint.checksum, Layout.checkpointChecksum)
            store(commitChecksum, Layout.commitChecksum)
            bytes[Layout.flags] = (isSuperseded ? Layout.superseded : 0) | (isUnsettled ? Layout.unsettled : 0)
                | (isUnresolved ? Layout.unresolved : 0) | (isReplica ? Layout.replica : 0)
            store(XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<Layout.checksum]), seed: fileID), Layout.checksum)
        }
        return bytes
    }

    /// - Returns: nil if the bytes are not a superblock of this file.
    init?(_ bytes: UnsafeRawBufferPointer, fileID: UInt64) {
        guard bytes.count >= Layout.size, bytes[..<8].elementsEqual(Self.magic) else { return nil }
        func load(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let checksum = XXH64.hash(UnsafeRawBufferPointer(rebasing: bytes[..<Layout.checksum]), seed: fileID)
        guard checksum == load(Layout.checksum) else { return nil }
        generation = load(Layout.generation)
        sequence = load(Layout.sequence)
        end = load(Layout.end)
        durableSequence = load(Layout.durableSequence)
        durableEnd = load(Layout.durableEnd)
        checkpoint = FramePointer(offset: load(Layout.checkpointOffset), checksum: load(Layout.checkpointChecksum))
        commitChecksum = load(Layout.commitChecksum)
        isSuperseded = bytes[Layout.flags] & Layout.superseded != 0
        isUnsettled = bytes[Layout.flags] & Layout.unsettled != 0
        isUnresolved = bytes[Layout.flags] & Layout.unresolved != 0
        isReplica = bytes[Layout.flags] & Layout.replica != 0
        guard end >= FileFormat.dataStart, durableEnd <= end, durableSequence <= sequence else { return nil }
    }
}

/// Shows whether a header has the superblocks that the handle last read or wrote. It compares their checksums: these are seeded with the
/// file's identity and depend on all bytes.
struct HeaderMark: Equatable {
    private var first: UInt64
    private var second: UInt64

    /// - Parameter header: `FileFormat.dataStart` bytes.
    init(_ header: UnsafeRawBufferPointer) {
        func checksum(_ index: Int) -> UInt64 {
            header.loadUnaligned(fromByteOffset: Int(FileFormat.superblockOffsets[index]) + Superblock.Layout.checksum, as: UInt64.self)
        }
        first = checksum(0)
        second = checksum(1)
    }

    /// Both checksums in one word, never 0.
    var digest: UInt64 { max(1, first ^ (second &* 0x9E37_79B9_7F4A_7C15)) }

    /// Notes that this process wrote a superblock at its offset.
    mutating func wrote(_ superblock: [UInt8], generation: UInt64) {
        let checksum = superblock.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Superblock.Layout.checksum, as: UInt64.self) }
        if generation % 2 == 0 { first = checksum } else { second = checksum }
    }
}
