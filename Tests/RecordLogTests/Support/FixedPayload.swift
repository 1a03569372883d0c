@testable import RecordLog

/// Returns the same bytes for every frame.
final class FixedPayload: FrameSource {
    let path = "fixed"
    private nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

    init(_ bytes: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        self.bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }

    func payload(at pointer: FramePointer, kind: FrameKind) throws(StoreError) -> UnsafeRawBufferPointer { bytes }
}
