/// Reads every value of a file, which may be made to harm. The file's size bounds failed and repeated work.
///
/// For one thread at a time.
final class ValueAudit: ValueSource, @unchecked Sendable {
    // Unchecked: confined to one verification or salvage.
    typealias Frames = (_ offset: UInt64, _ budget: inout UInt64) throws(StoreError) -> LogFile.Frame?

    package let path: String
    private let frames: Frames
    /// Bytes that may still be hashed without a valid checksum.
    private var hashed: UInt64
    /// Bytes of values that rows may still claim. A value belongs to one row, so all values together are not longer than the file.
    private var bytes: UInt64

    private static let hashedPerByte: UInt64 = 8

    init(path: String, size: UInt64, frames: @escaping Frames) {
        self.path = path
        self.frames = frames
        hashed = size * Self.hashedPerByte
        bytes = size
    }

    package func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? {
        guard let frame = try frames(offset, &hashed), frame.end <= limit else { return nil }
        return frame
    }

    /// A value that has been verified whole.
    /// - Throws: `corrupt` if a part of it is damaged.
    func value(_ stored: UnsafeRawBufferPointer) throws(StoreError) -> ValueReader {
        let value = try ValueReader(stored, in: self)
        guard value.isInline || UInt64(value.count) <= bytes else {
            throw StoreError.corrupt(path, at: nil, "rows claim more values than the file holds")
        }
        if !value.isInline { bytes -= UInt64(value.count) }
        try value.verify()
        return value
    }
}

extension LogFile {
    /// The frame at `offset`, verified.
    /// - Parameter budget: bytes that may be hashed without a valid checksum. A frame that claims more is ignored.
    func frame(at offset: UInt64, limit: UInt64, budget: inout UInt64) throws(StoreError) -> Frame? {
        guard offset >= FileFormat.dataStart, offset % UInt64(FrameHeader.alignment) == 0,
            let header = try header(at: offset, limit: limit), UInt64(header.length) <= budget
        else { return nil }
        let frame = try frame(at: offset, limit: limit)
        if frame == nil { budget -= UInt64(header.length) }
        return frame
    }
}
