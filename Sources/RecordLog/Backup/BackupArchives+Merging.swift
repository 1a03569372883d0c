extension BackupArchives {
    /// What a merge did.
    public struct MergeReport: Sendable {
        /// The number of archives that were put, and of those that they replace.
        public var made = 0
        public var merged = 0
        public var bytes: UInt64 = 0
    }

    /// Makes larger increments of small ones that follow each other. Each commit keeps its number, time and author.
    ///
    /// The larger archive is put first, and then the small ones are deleted: a crash between leaves both, which is no harm.
    /// - Parameters:
    ///   - bytesMax: about the most bytes of an archive that is made; larger ones stay as they are.
    ///   - small: archives of more bytes stay as they are too.
    ///   - count: fewer small archives in a row stay as they are.
    ///   - storeID: the store whose archives are merged; nil for all.
    @discardableResult
    public func merge(
        bytesMax: UInt64 = 64 << 20, ofAtMost small: UInt64 = .max, atLeast count: Int = 2, storeID: StoredUUID? = nil
    ) async throws -> MergeReport {
        var report = MergeReport()
        for catalog in try await catalogs() where storeID == nil || storeID == catalog.storeID {
            let pins = try await pinned(catalog.storeID, removesExpired: false)
            for line in catalog.lines.values.sorted(by: { $0.id < $1.id }) {
                for run in Self.runs(line.archives.filter { $0.size <= small }, bytesMax: bytesMax) where run.count >= max(2, count) {
                    guard !run.contains(where: { pins.contains($0.name.text) }) else { continue }
                    try await merge(run, &report)
                }
            }
        }
        return report
    }

    /// Increments that follow each other directly, as long as they are not too large together.
    static func runs(_ archives: [ListedArchive], bytesMax: UInt64) -> [[ListedArchive]] {
        var runs: [[ListedArchive]] = []
        for (_, own) in Dictionary(grouping: archives.filter { !$0.name.isBase }, by: \.name.fileID).sorted(by: { $0.key < $1.key }) {
            var run: [ListedArchive] = [], bytes: UInt64 = 0
            for archive in own.sorted(by: isBefore) {
                if let last = run.last, last.name.last + 1 != archive.name.first || bytes + archive.size > bytesMax {
                    runs.append(run)
                    (run, bytes) = ([], 0)
                }
                run.append(archive)
                bytes += archive.size
            }
            runs.append(run)
        }
        return runs
    }

    private func merge(_ run: [ListedArchive], _ report: inout MergeReport) async throws {
        guard let (header, table) = try await merged(run) else { return }
        let upload = MergedUpload(run, header, table, destination)
        do {
            try await destination.put(ArchiveName(header).text, size: upload.length, upload)
        } catch let error as BackupError where error.code == .exists {
            // An earlier merge was interrupted before it deleted what it had merged.
        }
        // Only what can be read is a replacement.
        let name = ArchiveName(header), listed = ListedArchive(name: name, size: upload.length)
        guard try await LogArchiveReader(listed, at: destination).header == header else { return }
        for archive in run { try await destination.delete(archive.name.text) }
        report.made += 1
        report.merged += run.count
        report.bytes += upload.length
    }

    /// The header and the table of the archive that a run makes; nil if an archive is damaged, or does not follow the one before.
    private func merged(_ run: [ListedArchive]) async throws -> (LogArchiveHeader, LogArchiveTable)? {
        var made: (header: LogArchiveHeader, table: LogArchiveTable)?
        for listed in run {
            let archive: LogArchiveReader
            do {
                archive = try await LogArchiveReader(listed, at: destination)
            } catch let error as BackupError where error.isOfArchive {
                return nil
            }
            let next = archive.header
            var header = made?.header ?? next, table = made?.table ?? LogArchiveTable(start: next.start)
            if made != nil {
                guard next.previousChecksum == header.lastChecksum, next.start == header.end, next.lineage == header.lineage else { return nil }
                header.last = next.last
                header.leastTime = min(header.leastTime, next.leastTime)
                header.greatestTime = max(header.greatestTime, next.greatestTime)
                header.lastChecksum = next.lastChecksum
                header.lastFrame = next.lastFrame
                header.end = next.end
                header.frameBytes += next.frameBytes
            }
            for extent in archive.table.extents { table.append(extent) }
            var commits = archive.table.commits(of: next)
            while let commit = commits.next() { table.appendCommit(end: commit.end, time: commit.time) }
            made = (header, table)
        }
        return made
    }
}

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
