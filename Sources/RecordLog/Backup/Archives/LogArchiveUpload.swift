/// The bytes of a log archive, read from the store's file piece by piece.
struct LogArchiveUpload: BackupUpload {
    private let extents: [LogArchiveTable.Extent]
    /// The pads in place of damaged frames that are not read yet, in the order of their offsets.
    private var pads: ArraySlice<Range<UInt64>>
    private let fileID: UInt64
    private let path: String
    private let storage: any StorageFile
    private var encoder: LogArchiveEncoder
    private var hasBegun = false
    private var extent = 0
    /// The offset within the extent.
    private var offset: UInt64 = 0

    init(_ range: LogArchiveRange, from source: BackupSource) {
        extents = range.table.extents
        pads = range.damage.flatMap { PadFrames.ranges(in: $0, segmentSize: source.file.segmentSize) }[...]
        fileID = range.header.fileID
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

    /// Writes pads over the damaged frames among bytes of the file.
    private mutating func pad(_ part: UnsafeMutableRawBufferPointer, at offset: UInt64) {
        let range = offset..<offset + UInt64(part.count)
        while let pad = pads.first, pad.lowerBound < range.upperBound {
            let head = PadFrames.head(of: pad, fileID: fileID)
            for at in pad.clamped(to: range) {
                let inPad = Int(at - pad.lowerBound)
                part[Int(at - offset)] = inPad < head.count ? head[inPad] : 0
            }
            guard pad.upperBound <= range.upperBound else { return }
            pads.removeFirst()
        }
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
            pad(part, at: current.offset + offset)
            filled += wanted
            offset += UInt64(wanted)
            guard offset == current.length else { continue }
            extent += 1
            offset = 0
        }
        return encoder.block(UnsafeRawBufferPointer(rebasing: buffer[..<filled]))
    }
}
