/// What a frame holds. 0 is reserved: zero-filled space is never a frame.
enum FrameKind: UInt8, CaseIterable {
    /// Fills the rest of a segment.
    case pad = 1
    /// Rows of a commit whose footer comes in a later frame.
    case rows = 2
    /// The last or only frame of a commit: rows, author, footer.
    case commit = 3
    /// 4096 row addresses of a table.
    case primaryPage = 4
    /// The pages of a table's primary index.
    case primaryDirectory = 5
    /// Sorted entries of an index run.
    case indexBlock = 6
    /// The blocks of an index run.
    case indexRoot = 7
    /// The manifest of a checkpoint.
    case checkpoint = 8
    /// How many bytes of frames of a checkpoint follow.
    case batch = 9
    /// Bytes of a value, in a commit before the row that it belongs to.
    case valueChunk = 10
    /// The chunks of a value.
    case valueList = 11
    /// The end of a commit that another store decides about, but for its commit frame.
    case prepared = 12
}

/// A frame as another frame names it.
struct FramePointer: Hashable, Sendable {
    var offset: UInt64
    var checksum: UInt64

    static let none = FramePointer(offset: 0, checksum: 0)

    var isNone: Bool { offset == 0 }
}

/// The 32 bytes before each frame's payload. Spec: FORMAT.md, "Frames".
struct FrameHeader: Equatable {
    /// The whole frame, header and padding included; a multiple of `alignment`.
    var length: UInt32
    var checksum: UInt64
    var kind: FrameKind
    /// The payload without padding.
    var payloadLength: UInt32
    /// The commit that a `rows` or `commit` frame belongs to; for others the newest commit when it was written.
    var sequence: UInt64

    enum Layout {
        static let length = 0
        static let complement = 4
        static let checksum = 8
        static let kind = 16
        static let payloadLength = 20
        static let sequence = 24
        static let size = 32
    }

    static let alignment = 64
    /// Frames are at least this long, so that one bit for each 64 bytes names a frame, and a pad fits any rest of a segment.
    static let lengthMin = 64

    /// The length of a frame that holds `payload` bytes.
    static func length(forPayload payload: Int) -> Int {
        max(lengthMin, (Layout.size + payload + alignment - 1) & ~(alignment - 1))
    }

    /// The seed ties a checksum to its file and place, so that a stale or misplaced frame never passes.
    @inline(__always)
    static func seed(fileID: UInt64, offset: UInt64) -> UInt64 {
        (fileID ^ offset) &* 0x9E37_79B9_7F4A_7C15
    }

    /// The kind and length that a frame states, where they can be so. Nothing else of it is looked at, so that damage to the
    /// rest does not hide where the next frame is.
    /// - Parameter limit: the bytes that the frame may take.
    @inline(__always)
    static func stated(_ pointer: UnsafeRawPointer, limit: UInt64) -> (kind: FrameKind, length: UInt32)? {
        guard limit >= UInt64(Self.lengthMin) else { return nil }
        let length = UInt32(littleEndian: pointer.loadUnaligned(as: UInt32.self))
        let complement = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.complement, as: UInt32.self))
        guard length == ~complement, length >= UInt32(Self.lengthMin), length % UInt32(Self.alignment) == 0,
            UInt64(length) <= limit,
            let kind = FrameKind(rawValue: pointer.load(fromByteOffset: Layout.kind, as: UInt8.self))
        else { return nil }
        return (kind, length)
    }

    /// Reads and bounds a header; the checksum is not looked at.
    /// - Parameter limit: the bytes that the frame may take.
    init?(_ pointer: UnsafeRawPointer, limit: UInt64) {
        guard let (kind, length) = Self.stated(pointer, limit: limit) else { return nil }
        let payloadLength = UInt32(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.payloadLength, as: UInt32.self))
        guard UInt64(payloadLength) + UInt64(Layout.size) <= UInt64(length) else { return nil }
        self.length = length
        self.kind = kind
        self.payloadLength = payloadLength
        checksum = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.checksum, as: UInt64.self))
        sequence = UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: Layout.sequence, as: UInt64.self))
    }

    /// Fills in the header of a frame whose payload is in place.
    /// - Parameter pointer: the frame's first byte; everything after the payload is zero.
    /// - Returns: the checksum.
    @discardableResult
    static func seal(
        _ pointer: UnsafeMutableRawPointer, kind: FrameKind, payloadLength: Int, sequence: UInt64, fileID: UInt64, offset: UInt64
    ) -> UInt64 {
        let length = UInt32(Self.length(forPayload: payloadLength))
        pointer.storeBytes(of: length.littleEndian, toByteOffset: Layout.length, as: UInt32.self)
        pointer.storeBytes(of: (~length).littleEndian, toByteOffset: Layout.complement, as: UInt32.self)
        pointer.storeBytes(of: UInt32(kind.rawValue).littleEndian, toByteOffset: Layout.kind, as: UInt32.self)
        pointer.storeBytes(of: UInt32(payloadLength).littleEndian, toByteOffset: Layout.payloadLength, as: UInt32.self)
        pointer.storeBytes(of: sequence.littleEndian, toByteOffset: Layout.sequence, as: UInt64.self)
        let checksum = checksum(of: pointer, length: length, fileID: fileID, offset: offset)
        pointer.storeBytes(of: checksum.littleEndian, toByteOffset: Layout.checksum, as: UInt64.self)
        return checksum
    }

    static func checksum(of pointer: UnsafeRawPointer, length: UInt32, fileID: UInt64, offset: UInt64) -> UInt64 {
        XXH64.hash(
            UnsafeRawBufferPointer(start: pointer + Layout.kind, count: Int(length) - Layout.kind),
            seed: seed(fileID: fileID, offset: offset))
    }
}
