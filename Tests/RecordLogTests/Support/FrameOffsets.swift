@testable import RecordLog

/// The offsets of a kind's frames in a file's bytes. The content of a frame may look like a frame: a test that damages a found frame checks the
/// effect.
func frameOffsets(_ kind: FrameKind, in bytes: [UInt8]) -> [Int] {
    stride(from: Int(FileFormat.dataStart), to: bytes.count, by: 64).filter { offset in
        bytes.withUnsafeBytes { FrameHeader($0.baseAddress! + offset, limit: UInt64($0.count - offset))?.kind == kind }
    }
}
