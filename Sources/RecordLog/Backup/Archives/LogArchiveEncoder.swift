/// Makes the parts of a log archive around its frames.
struct LogArchiveEncoder: Sendable {
    let header: [UInt8]
    private let headerChecksum: UInt64
    private let frameBytes: UInt64
    private let table: [UInt8]
    /// The bytes of the table that were handed out.
    private var tableDone = 0
    private var number: UInt64 = 0
    private var fold: UInt64 = 0
    private var isAtEnd = false

    init(_ header: LogArchiveHeader, _ table: LogArchiveTable) {
        self.header = header.encoded()
        headerChecksum = LogArchiveHeader.checksum(in: self.header)
        frameBytes = header.frameBytes
        self.table = table.encoded()
    }

    var length: UInt64 { LogArchiveFormat.length(frames: frameBytes, table: UInt64(table.count)) }

    /// The next block, with its head.
    mutating func block(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let made = LogArchiveFormat.block(bytes, number: number, headerChecksum: headerChecksum)
        number += 1
        fold = CommitFooter.folding(fold, made.checksum)
        return made.bytes
    }

    /// The blocks of the table, then the trailer; nil behind that.
    mutating func nextBehindFrames() -> [UInt8]? {
        guard tableDone == table.count else {
            let start = tableDone, end = min(start + LogArchiveFormat.blockMax, table.count)
            tableDone = end
            return table.withUnsafeBytes { block(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        }
        guard !isAtEnd else { return nil }
        isAtEnd = true
        return LogArchiveTrailer(blocks: number, fileLength: length, tableLength: UInt64(table.count), fold: fold)
            .encoded(headerChecksum: headerChecksum)
    }
}
