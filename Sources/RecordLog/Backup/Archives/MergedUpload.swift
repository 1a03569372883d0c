/// The bytes of a log archive that others are merged into. It reads them again, one at a time.
struct MergedUpload: BackupUpload {
    private let run: [ListedArchive]
    private let destination: any BackupDestination
    private let frameBytes: UInt64
    private var encoder: LogArchiveEncoder
    private var archive: LogArchiveReader?
    private var next = 0
    private var block: UInt64 = 0
    private var waiting: [UInt8] = []
    private var hasBegun = false

    init(_ run: [ListedArchive], _ header: LogArchiveHeader, _ table: LogArchiveTable, _ destination: any BackupDestination) {
        self.run = run
        self.destination = destination
        frameBytes = header.frameBytes
        encoder = LogArchiveEncoder(header, table)
    }

    var length: UInt64 { encoder.length }

    mutating func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        guard hasBegun else {
            hasBegun = true
            return encoder.header
        }
        while waiting.count < LogArchiveFormat.blockMax, try await gather() {}
        guard !waiting.isEmpty else { return encoder.nextBehindFrames() }
        let count = min(waiting.count, LogArchiveFormat.blockMax)
        defer { waiting.removeFirst(count) }
        return waiting.withUnsafeBytes { encoder.block(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Reads one more block of frames.
    /// - Returns: false at the end of the last archive.
    private mutating func gather() async throws -> Bool {
        if let archive, block < archive.frameBlocks {
            waiting += try await archive.frames(block)
            block += 1
            return true
        }
        guard next < run.count else { return false }
        archive = try await LogArchiveReader(run[next], at: destination)
        next += 1
        block = 0
        return true
    }
}
