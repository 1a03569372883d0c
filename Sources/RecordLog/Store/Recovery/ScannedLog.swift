/// The source of a scan's frames. An enum, since a generic scan would have its type instantiated at each opening.
enum ScannedLog {
    case file(LogFile)
    case tail(TailReader)

    /// Whether a frame's bytes stay valid when the next frame is read.
    var keepsFrames: Bool {
        if case .file = self { return true }
        return false
    }

    /// As `LogFile.frame`.
    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame? {
        switch self {
        case .file(let file): try file.frame(at: offset, limit: limit)
        case .tail(let tail): try tail.frame(at: offset, limit: limit)
        }
    }

    /// As `LogFile.stated`.
    func stated(at offset: UInt64, limit: UInt64) throws(StoreError) -> (kind: FrameKind, length: UInt32)? {
        switch self {
        case .file(let file): try file.stated(at: offset, limit: limit)
        case .tail(let tail): try tail.stated(at: offset, limit: limit)
        }
    }

    /// The number of bytes from an offset to the end of its segment.
    func room(at offset: UInt64) -> UInt64 {
        switch self {
        case .file(let file): file.room(at: offset)
        case .tail(let tail): tail.room(at: offset)
        }
    }

    func willRead(_ range: Range<UInt64>) {
        if case .file(let file) = self { file.willRead(range) }
    }
}
