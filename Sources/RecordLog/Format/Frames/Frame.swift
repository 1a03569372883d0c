/// The kind of a frame's payload. 0 is reserved: zero-filled space is never a frame.
enum FrameKind: UInt8, CaseIterable {
    /// Fills the rest of a segment.
    case pad = 1
    /// Rows of a commit whose footer is in a later frame.
    case rows = 2
    /// The last or only frame of a commit: rows, author, footer.
    case commit = 3
    /// 4096 row addresses of a table.
    case primaryPage = 4
    /// The page pointers of a table's primary index.
    case primaryDirectory = 5
    /// Sorted entries of an index run.
    case indexBlock = 6
    /// The block pointers of an index run.
    case indexRoot = 7
    /// The manifest of a checkpoint.
    case checkpoint = 8
    /// The number of bytes of a checkpoint's frames that follow.
    case batch = 9
    /// A piece of a value, in a commit before the row that it belongs to.
    case valueChunk = 10
    /// Pointers to the chunks of a value.
    case valueList = 11
    /// The end of a commit that another store decides about; only the commit frame is missing.
    case prepared = 12
}

/// Identifies a frame, in another frame.
struct FramePointer: Hashable, Sendable {
    var offset: UInt64
    var checksum: UInt64

    static let none = FramePointer(offset: 0, checksum: 0)

    var isNone: Bool { offset == 0 }
}

/// The 32 bytes before each frame's payload. Spec: FORMAT.md, "Frames".
struct FrameHeader: Equatable {
    /// The length of the frame with header and padding; a multiple of `alignment`.
    var length: UInt32
    var checksum: UInt64
    var kind: FrameKind
    /// The length of the payload without padding.
    var payloadLength: UInt32
    /// For `rows` and `commit`, the commit that the frame belongs to. For other kinds, the newest commit when it was written.
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
    /// The least length of a frame: so one bit for each 64 bytes identifies a frame, and a pad fits any rest of a segment.
    static let lengthMin = 64

    /// The length of a frame with a payload of `payload` bytes.
    static func length(forPayload payload: Int) -> Int {
        max(lengthMin, (Layout.size + payload + alignment - 1) & ~(alignment - 1))
    }

    /// The seed binds a checksum to its file and offset, so that a stale or misplaced frame never passes.
    @inline(__always)
    static func seed(fileID: UInt64, offset: UInt64) -> UInt64 {
        (fileID ^ offset) &* 0x9E37_79B9_7F4A_7C15
    }

    /// The kind and length that a frame states, or nil if they are impossible. Reads nothing else, so that damage to the rest of the
    /// frame does not hide the next one.
    /// - Parameter limit: the most bytes that the frame may take.
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

    /// Reads a header and checks its bounds, but not the checksum.
    /// - Parameter limit: the most bytes that the frame may take.
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

    /// Writes the header of a frame that has its payload already.
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
