/// The checkpoints of a log, the newest first. Each manifest names the one before it.
struct CheckpointChain {
    private let reader: TailReader
    private let limit: UInt64
    private var pointer: FramePointer
    /// A manifest lies before the one that names it, so a damaged chain ends.
    private var bound: UInt64

    /// - Parameters:
    ///   - newest: the newest checkpoint's manifest.
    ///   - limit: the end of the bytes that may be read.
    init(_ file: LogFile, from newest: FramePointer, limit: UInt64) {
        reader = TailReader(file)
        self.limit = limit
        pointer = newest
        bound = limit
    }

    /// - Returns: nil behind the last one, and where a manifest is damaged.
    mutating func next() throws(StoreError) -> (pointer: FramePointer, manifest: Manifest)? {
        guard !pointer.isNone, pointer.offset < bound, let frame = try reader.frame(at: pointer.offset, limit: limit),
            frame.header.kind == .checkpoint, frame.header.checksum == pointer.checksum, let manifest = Manifest(frame.payload),
            manifest.logEnd >= FileFormat.dataStart, manifest.logEnd <= pointer.offset,
            manifest.logEnd % UInt64(FrameHeader.alignment) == 0
        else { return nil }
        let found = pointer
        bound = pointer.offset
        pointer = manifest.previousCheckpoint
        return (found, manifest)
    }
}
