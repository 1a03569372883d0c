/// Reads a log archive from a destination. Its bytes are untrusted: each block is compared with its checksum before it is used.
struct LogArchiveReader: Sendable {
    let destination: any BackupDestination
    let name: ArchiveName
    let header: LogArchiveHeader
    let table: LogArchiveTable
    let size: UInt64
    private let headerChecksum: UInt64
    private let trailer: LogArchiveTrailer
    /// The whole archive, where it is small.
    private let whole: [UInt8]?

    /// A smaller archive is fetched with one request.
    private static let wholeMax: UInt64 = 1 << 20

    /// Reads and checks the header, the trailer and the table.
    /// - Throws: `damaged`, `foreign`, `newerVersion`; the errors of the destination.
    init(_ listed: ListedArchive, at destination: any BackupDestination) async throws {
        self.destination = destination
        name = listed.name
        size = listed.size
        whole = size <= Self.wholeMax && !listed.isTooShort ? try await Self.get(0..<size, name, destination) : nil
        let ends = try await LogArchiveEnds(listed, at: destination, whole)
        (header, headerChecksum, trailer) = (ends.header, ends.headerChecksum, ends.trailer)
        var bytes: [UInt8] = []
        for number in LogArchiveFormat.blockCount(header.frameBytes)..<trailer.blocks {
            bytes += try await Self.block(number, header, trailer, headerChecksum, name, destination, whole).bytes
        }
        do {
            table = try LogArchiveTable(bytes, header)
        } catch {
            throw Self.error(error, destination, name)
        }
    }

    /// Opens archives one after the other, the next ones ahead.
    static func ahead(
        _ archives: [ListedArchive], at destination: any BackupDestination
    ) -> WorkAhead<IndexingIterator<[ListedArchive]>, LogArchiveReader> {
        WorkAhead(archives.makeIterator()) { try await LogArchiveReader($0, at: destination) }
    }

    // MARK: Blocks

    /// The number of blocks of frames.
    var frameBlocks: UInt64 { LogArchiveFormat.blockCount(header.frameBytes) }

    /// Whether `frames` makes no request any more.
    var isInMemory: Bool { whole != nil }

    /// A block of frames. The blocks one after the other are the bytes of the extents.
    /// - Throws: `damaged`.
    func frames(_ number: UInt64) async throws -> ArraySlice<UInt8> {
        try await Self.block(number, header, trailer, headerChecksum, name, destination, whole).bytes
    }

    /// Reads every block.
    /// - Parameter frames: gets the bytes of the frames, block after block.
    /// - Throws: `damaged`.
    func readAll(_ frames: (ArraySlice<UInt8>) throws -> Void = { _ in }) async throws {
        let blocks = WorkAhead((0..<trailer.blocks).makeIterator(), depth: isInMemory ? 1 : 8) { number in
            try await Self.block(number, header, trailer, headerChecksum, name, destination, whole)
        }
        var fold: UInt64 = 0, number: UInt64 = 0
        while let block = try await blocks.next() {
            try Task.checkCancellation()
            fold = CommitFooter.folding(fold, block.checksum)
            if number < frameBlocks { try frames(block.bytes) }
            number += 1
        }
        guard fold == trailer.fold else { throw Self.damaged(destination, name, at: nil, "its blocks are not those that were written") }
    }

    private static func block(
        _ number: UInt64, _ header: LogArchiveHeader, _ trailer: LogArchiveTrailer, _ headerChecksum: UInt64, _ name: ArchiveName,
        _ destination: any BackupDestination, _ whole: [UInt8]?
    ) async throws -> (bytes: ArraySlice<UInt8>, checksum: UInt64) {
        let frames = LogArchiveFormat.blockCount(header.frameBytes), most = UInt64(LogArchiveFormat.blockMax)
        let isFrames = number < frames
        let rest = isFrames ? header.frameBytes - number * most : trailer.tableLength - (number - frames) * most
        let count = min(rest, most)
        let before = isFrames ? number * most : (number - frames) * most
        let base = UInt64(LogArchiveHeader.Layout.size) + (isFrames ? 0 : LogArchiveFormat.blocksLength(header.frameBytes))
            + LogArchiveFormat.blocksLength(before)
        let bytes = try await get(base..<base + count + UInt64(LogArchiveFormat.Block.size), name, destination, whole)
        let checksum = bytes.withUnsafeBytes {
            LogArchiveFormat.checksum(of: $0, count: Int(count), number: number, headerChecksum: headerChecksum)
        }
        guard let checksum else { throw damaged(destination, name, at: base, "a block is damaged") }
        return (bytes[LogArchiveFormat.Block.size...], checksum)
    }

    static func get(
        _ range: Range<UInt64>, _ name: ArchiveName, _ destination: any BackupDestination, _ whole: [UInt8]? = nil
    ) async throws -> [UInt8] {
        if let whole { return Array(whole[Int(range.lowerBound)..<Int(range.upperBound)]) }
        let bytes = try await destination.get(name.text, range)
        guard bytes.count == range.count else { throw damaged(destination, name, at: range.lowerBound, "it was cut") }
        return bytes
    }

    // MARK: Commits

    /// The offset in the store's file at which a commit of the archive ends; nil if the archive lacks the commit.
    func end(of sequence: UInt64) -> UInt64? { sequence == header.last ? header.end : commit(sequence)?.end }

    /// The offset at which the commit after another one begins; nil if the archive has no later commit, and for a base archive, which also has
    /// the frames between two commits.
    func start(behind sequence: UInt64) -> UInt64? {
        guard !header.isBase, sequence < header.last, let end = sequence < header.first ? header.start : end(of: sequence) else { return nil }
        return table.extents.first { $0.end > end }.map { max($0.offset, end) }
    }

    /// The time of a commit; nil if the archive does not have it.
    func time(of sequence: UInt64) -> Int64? { commit(sequence)?.time }

    func commit(_ sequence: UInt64) -> LogArchiveTable.Commit? {
        guard sequence >= header.first, sequence <= header.last else { return nil }
        var cursor = table.commits(of: header)
        while let commit = cursor.next() {
            if commit.sequence == sequence { return commit }
        }
        return nil
    }

    /// The last commit at or before a time, and not behind commit `limit`; nil if there is none.
    func lastCommit(notAfter time: Int64, limit: UInt64) -> UInt64? {
        var cursor = table.commits(of: header), found: UInt64?
        while let commit = cursor.next(), commit.sequence <= limit {
            if commit.time <= time { found = commit.sequence }
        }
        return found
    }

    // MARK: Errors

    static func location(_ destination: any BackupDestination, _ name: ArchiveName) -> String { "\(destination)/\(name.text)" }

    func damaged(at offset: UInt64?, _ message: String) -> BackupError { Self.damaged(destination, name, at: offset, message) }

    static func damaged(
        _ destination: any BackupDestination, _ name: ArchiveName, at offset: UInt64?, _ message: String
    ) -> BackupError {
        BackupError(
            .damaged, location(destination, name), at: offset, "the log archive is damaged: \(message)",
            remedy: "`heartwood backup verify` shows other damage; restore a commit before \(name.first), or from another copy of the backup.")
    }

    static func error(_ fault: LogArchiveFault, _ destination: any BackupDestination, _ name: ArchiveName) -> BackupError {
        switch fault {
        case .foreign:
            BackupError(
                .foreign, location(destination, name), at: 0, "this is not a log archive", remedy: "Move it elsewhere; it is not used.")
        case .damaged(let message): damaged(destination, name, at: nil, message)
        case .newer(let version):
            BackupError(
                .newerVersion, location(destination, name), at: 8,
                "the log archive has format version \(version), newer than \(LogArchiveFormat.version)", remedy: "Use a newer Heartwood.")
        }
    }
}
