/// The bytes of a log archive, read from the store's file piece by piece.
struct LogArchiveUpload: BackupUpload {
    private let range: LogArchiveRange
    private let table: [UInt8]
    private let path: String
    private let storage: any StorageFile
    private let headerChecksum: UInt64
    private let header: [UInt8]
    private var step = Step.header
    private var extent = 0
    /// The offset within the extent, or within the table.
    private var offset = 0 as UInt64
    private var number: UInt64 = 0
    private var fold: UInt64 = 0

    private enum Step { case header, frames, table, trailer, end }

    init(_ range: LogArchiveRange, from source: BackupSource) {
        self.range = range
        path = source.path
        storage = source.storage
        table = range.table.encoded()
        header = range.header.encoded()
        headerChecksum = LogArchiveHeader.checksum(in: header)
    }

    var length: UInt64 { LogArchiveFormat.length(frames: range.header.frameBytes, table: UInt64(table.count)) }

    mutating func next() throws -> [UInt8]? {
        try Task.checkCancellation()
        switch step {
        case .header:
            step = .frames
            return header
        case .frames: return try nextFrames()
        case .table: return nextOfTable()
        case .trailer:
            step = .end
            return LogArchiveTrailer(blocks: number, fileLength: length, tableLength: UInt64(table.count), fold: fold)
                .encoded(headerChecksum: headerChecksum)
        case .end: return nil
        }
    }

    private mutating func nextFrames() throws(StoreError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: LogArchiveFormat.blockMax, alignment: 64)
        defer { buffer.deallocate() }
        var filled = 0
        while filled < buffer.count, extent < range.table.extents.count {
            let current = range.table.extents[extent]
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
        if extent == range.table.extents.count { step = .table }
        return block(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }

    private mutating func nextOfTable() -> [UInt8] {
        let start = Int(offset), end = min(start + LogArchiveFormat.blockMax, table.count)
        offset = UInt64(end)
        if end == table.count { step = .trailer }
        let part = Array(table[start..<end])
        return part.withUnsafeBytes { block($0) }
    }

    private mutating func block(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let made = LogArchiveFormat.block(bytes, number: number, headerChecksum: headerChecksum)
        number += 1
        fold = CommitFooter.folding(fold, made.checksum)
        return made.bytes
    }
}
