/// The bytes of a log archive, read from the store's file piece by piece.
struct LogArchiveUpload: BackupUpload {
    private let extents: [LogArchiveTable.Extent]
    private let path: String
    private let storage: any StorageFile
    private var encoder: LogArchiveEncoder
    private var hasBegun = false
    private var extent = 0
    /// The offset within the extent.
    private var offset: UInt64 = 0

    init(_ range: LogArchiveRange, from source: BackupSource) {
        extents = range.table.extents
        path = source.path
        storage = source.storage
        encoder = LogArchiveEncoder(range.header, range.table)
    }

    var length: UInt64 { encoder.length }

    mutating func next() throws -> [UInt8]? {
        try Task.checkCancellation()
        guard hasBegun else {
            hasBegun = true
            return encoder.header
        }
        return extent < extents.count ? try nextFrames() : encoder.nextBehindFrames()
    }

    private mutating func nextFrames() throws(StoreError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: LogArchiveFormat.blockMax, alignment: 64)
        defer { buffer.deallocate() }
        var filled = 0
        while filled < buffer.count, extent < extents.count {
            let current = extents[extent]
            let wanted = Int(min(UInt64(buffer.count - filled), current.length - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + wanted])
            guard try storage.read(into: part, at: current.offset + offset) == wanted else {
                throw StoreError.corrupt(path, at: current.offset + offset, "the file was cut while it was backed up")
            }
            filled += wanted
            offset += UInt64(wanted)
            guard offset == current.length else { continue }
            extent += 1
            offset = 0
        }
        return encoder.block(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }
}
