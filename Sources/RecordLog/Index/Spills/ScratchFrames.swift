/// The frames of a scratch file. If the file is not mapped, a scan keeps only its current frame in memory: the file exists to save
/// memory, and merging its runs reads all of it.
final class ScratchFrames: FrameSource {
    private let file: LogFile

    init(_ file: LogFile) { self.file = file }

    var path: String { file.path }

    func willRead(_ range: Range<UInt64>) { file.willRead(range) }

    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer {
        try file.payload(at: pointer, kind: kind)
    }

    func payload(
        at pointer: FramePointer, kind: FrameKind, passing bytes: inout ReadBuffer?
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        var own = bytes.take() ?? ReadBuffer()
        let payload = try file.passedPayload(pointer, kind, &own)
        bytes = consume own
        return payload
    }
}
