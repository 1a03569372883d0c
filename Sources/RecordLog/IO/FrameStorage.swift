/// Where an index run reads its frames.
protocol FrameSource: AnyObject, Sendable {
    /// The payload of a frame, verified against its parent's checksum and its own.
    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer
    /// The same for a walk, which passes each frame once: valid until the next one that is read with the same bytes.
    func payload(
        at pointer: FramePointer, kind: FrameKind, passing bytes: inout ReadBuffer?
    ) throws(StoreError) -> UnsafeRawBufferPointer
    /// Asks for bytes that will be read soon.
    func willRead(_ range: Range<UInt64>)
    var path: String { get }
}

extension FrameSource {
    /// For files whose frames stay in memory.
    func payload(
        at pointer: FramePointer, kind: FrameKind, passing bytes: inout ReadBuffer?
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        try payload(at: pointer, kind: kind)
    }

    func willRead(_ range: Range<UInt64>) {}
}

/// Where the frames of indexes are written.
protocol FrameSink: AnyObject {
    /// The largest payload that it takes.
    var payloadMax: Int { get }
    /// Takes a frame. Its place is known after the next `place`.
    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket
    /// Gives every frame taken its place in the file.
    func place() throws(StoreError)
    /// The place of a frame that has one.
    func pointer(_ ticket: FrameTicket) -> FramePointer
}

/// Takes the frames of a checkpoint.
protocol CheckpointFrameSink: FrameSink {
    /// Where the log goes on after the snapshot that is being written: nothing but this sink's own frames lies before.
    var logEnd: UInt64 { get }
    /// Has every frame taken in the file.
    func flush() throws(StoreError)
}

/// A frame that a sink has taken.
struct FrameTicket {
    let number: Int
}

extension FrameSink {
    func append(_ kind: FrameKind, _ bytes: [UInt8]) throws(StoreError) -> FrameTicket {
        try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try append(kind, UnsafeRawBufferPointer(bytes)) }
    }
}
