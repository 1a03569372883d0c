/// The source of an index run's frames.
protocol FrameSource: AnyObject, Sendable {
    /// The payload of a frame, verified against its parent's checksum and its own.
    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer
    /// Like `payload(at:kind:)`, for a scan that reads each frame once. The payload is valid until the next read with the same bytes.
    func payload(
        at pointer: FramePointer, kind: FrameKind, passing bytes: inout ReadBuffer?
    ) throws(StoreError) -> UnsafeRawBufferPointer
    /// Announces a read of these bytes.
    func willRead(_ range: Range<UInt64>)
    var path: String { get }
}

extension FrameSource {
    /// For sources whose frames stay in memory.
    func payload(
        at pointer: FramePointer, kind: FrameKind, passing bytes: inout ReadBuffer?
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        try payload(at: pointer, kind: kind)
    }

    func willRead(_ range: Range<UInt64>) {}
}

/// The destination of the frames of indexes.
protocol FrameSink: AnyObject {
    /// The largest payload that the sink accepts.
    var payloadMax: Int { get }
    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket
}

/// A sink that gives its frames their offsets in the file.
protocol FileFrameSink: FrameSink {
    /// Determines the file offset of every frame taken.
    func assignOffsets() throws(StoreError)
    /// The pointer of a frame, after `assignOffsets`.
    func pointer(_ ticket: FrameTicket) -> FramePointer
}

/// The destination of a checkpoint's frames.
protocol CheckpointFrameSink: FileFrameSink {
    /// The offset at which the log continues after the snapshot that is being written. Only this sink's own frames are between the two.
    var logEnd: UInt64 { get }
    /// Writes every frame taken to the file.
    func flush() throws(StoreError)
}

/// Identifies a frame that a sink has taken.
struct FrameTicket {
    let number: Int
}

extension FrameSink {
    func append(_ kind: FrameKind, _ bytes: [UInt8]) throws(StoreError) -> FrameTicket {
        try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try append(kind, UnsafeRawBufferPointer(bytes)) }
    }
}
