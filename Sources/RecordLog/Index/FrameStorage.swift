/// Where an index run reads its frames.
protocol FrameSource: AnyObject, Sendable {
    /// The payload of a frame, verified against its parent's checksum and its own.
    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer
    var path: String { get }
}

/// Where an index run is written.
protocol FrameSink {
    func append(kind: FrameKind, payload: UnsafeRawBufferPointer) throws(StoreError) -> FramePointer
}
