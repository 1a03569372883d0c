@testable import RecordLog

/// Where the frames of a kind begin in a file's bytes. What is inside of a frame may look like one: a test that damages what it finds checks
/// what comes of it.
func frameOffsets(_ kind: FrameKind, in bytes: [UInt8]) -> [Int] {
    stride(from: Int(FileFormat.dataStart), to: bytes.count, by: 64).filter { offset in
        bytes.withUnsafeBytes { FrameHeader($0.baseAddress! + offset, limit: UInt64($0.count - offset))?.kind == kind }
    }
}
