/// The payload of a batch's first frame: the number of bytes of frames that follow it. Spec: FORMAT.md, "Checkpoints".
enum BatchFrame {
    static let payloadSize = 8

    /// - Returns: nil if the payload is too short.
    static func length(in payload: UnsafeRawBufferPointer) -> UInt64? {
        payload.count >= payloadSize ? UInt64(littleEndian: payload.loadUnaligned(as: UInt64.self)) : nil
    }

    static func write(length: UInt64, to payload: UnsafeMutableRawPointer) {
        payload.storeBytes(of: length.littleEndian, as: UInt64.self)
    }
}
