/// The work of a backup, one pass after the other. It remembers between passes what the destination has, and keeps the store's file open.
///
/// For one task at a time. After an error the next pass goes on where the last archive was put.
final class BackupRun {
    private let path: String
    private let destination: any BackupDestination
    private let options: StoreOptions
    private let fileSystem: any FileSystem
    private var file: Followed?

    /// A store's file, and what the destination has of it.
    private struct Followed {
        let source: BackupSource
        /// The lineage, and the commit as of which it holds.
        var lineage: (lineage: Lineage, sequence: UInt64)
        /// The last commit at the destination; nil if it has no base archive of the file.
        var position: LogPosition?
        /// The newest commit at the destination, in any file of the line.
        var newest: UInt64
    }

    init(of path: String, to destination: any BackupDestination, _ options: StoreOptions) {
        self.path = path
        self.destination = destination
        self.options = options
        fileSystem = options.resolvedFileSystem()
    }

    /// Puts what the destination lacks.
    /// - Parameters:
    ///   - bytesMax: about the most bytes of commits in one archive.
    ///   - report: gets what was done, also before an error.
    func pass(bytesMax: UInt64, _ report: inout StoreBackup.Report) async throws {
        while true {
            var current = try await followed()
            // Looked at first: a file that has lost the path gets no more commits.
            let isReplaced = try current.source.isReplaced()
            let published = try current.source.durableSuperblock()
            report.storeID = current.source.identity.storeID
            report.storeSequence = published.sequence
            if isReplaced, current.position == nil {
                // Nothing was shipped of it, and the newer file has its rows.
                file = nil
                continue
            }
            try await ship(&current, published, bytesMax, &report)
            file = isReplaced ? nil : current
            if !isReplaced { return }
        }
    }

    // MARK: Where to go on

    private func followed() async throws -> Followed {
        if let file { return file }
        let source = try BackupSource(path: path, options: options)
        let lineage = try source.lineage()
        let catalog = try await BackupCatalog.list(destination, storeID: source.identity.storeID)
        let parts = catalog.parts(of: lineage.lineage)
        let published = try source.superblock()
        var followed = Followed(source: source, lineage: lineage, position: nil, newest: parts.map(\.reach).max() ?? 0)
        followed.position = try await position(source, parts, published)
        guard published.sequence >= followed.newest else { throw older(published.sequence, followed.newest) }
        if let position = followed.position, position.sequence < followed.newest,
            parts.contains(where: { $0.name.fileID != source.identity.fileID && $0.reach > position.sequence })
        {
            throw diverged("archives of a newer file of this line are there, which a compaction of the store made; this file is an old one")
        }
        file = followed
        return followed
    }

    /// The last commit of the file that the destination has; nil without a base archive.
    private func position(_ source: BackupSource, _ parts: [LinePart], _ published: Superblock) async throws -> LogPosition? {
        var parts = parts
        while let step = RestorePlan.longest(of: source.identity.fileID, parts)?.steps.last {
            let archive: LogArchiveReader
            do {
                archive = try await LogArchiveReader(step.archive, at: destination)
            } catch let error as BackupError where error.isOfArchive && error.code != .newerVersion {
                // Its commits are put again.
                parts.removeAll { $0.archive == step.archive }
                continue
            }
            let header = archive.header
            guard published.sequence >= step.reach else { throw older(published.sequence, step.reach) }
            if step.reach == header.last {
                guard try source.commitChecksum(at: header.lastFrame, published) == header.lastChecksum else { throw diverged(step.reach) }
                return LogPosition(sequence: header.last, checksum: header.lastChecksum, end: header.end)
            }
            return try fork(at: step.reach, in: source, header, published)
        }
        return nil
    }

    /// The position of a commit in the middle of an archive, where this line left another.
    private func fork(
        at sequence: UInt64, in source: BackupSource, _ header: LogArchiveHeader, _ published: Superblock
    ) throws -> LogPosition {
        let before = LogPosition(sequence: header.isBase ? 0 : header.first - 1, checksum: header.previousChecksum, end: header.start)
        var scan = source.scan(from: before, published)
        while scan.sequence < sequence {
            guard try scan.next() != nil else { throw diverged(sequence) }
        }
        return LogPosition(sequence: scan.sequence, checksum: scan.commitChecksum, end: scan.end)
    }

    // MARK: Archives

    private func ship(
        _ current: inout Followed, _ published: Superblock, _ bytesMax: UInt64, _ report: inout StoreBackup.Report
    ) async throws {
        guard published.sequence > 0 else { return }
        report.lineage = current.lineage.lineage.id
        report.sequence = max(report.sequence, current.position?.sequence ?? 0)
        guard current.position?.sequence != published.sequence else { return }
        let source = current.source
        var finder = LogRangeFinder(source, after: current.position ?? .start, published: published, lineage: current.lineage)
        if current.position == nil {
            guard let range = try finder.base() else { return }
            if current.newest > 0, range.header.first > current.newest + 1 {
                report.missing.append(current.newest + 1...range.header.first - 1)
            }
            try await put(range, &current, finder.lineage, &report)
        }
        while let range = try finder.next(bytesMax: bytesMax) { try await put(range, &current, finder.lineage, &report) }
    }

    private func put(
        _ range: LogArchiveRange, _ current: inout Followed, _ lineage: Lineage, _ report: inout StoreBackup.Report
    ) async throws {
        let header = range.header, name = ArchiveName(header)
        let upload = LogArchiveUpload(range, from: current.source)
        do {
            try await destination.put(name.text, size: upload.length, upload)
        } catch let error as BackupError where error.code == .exists {
            try await settle(name, range, upload)
        }
        current.position = range.position
        current.newest = max(current.newest, header.last)
        current.lineage = (lineage, header.last)
        file = current
        report.lineage = lineage.id
        report.sequence = header.last
        report.archives += 1
        report.baseArchives += header.isBase ? 1 : 0
        report.bytes += upload.length
        report.commitBytes += header.isBase ? 0 : header.frameBytes
        report.commits += header.last - header.first + 1
        if !header.isBase { report.oldestTime = min(report.oldestTime ?? .max, header.leastTime) }
    }

    /// An archive of this name is there: an attempt whose answer was lost has put it, or another backup of the store. One that is damaged is put
    /// again.
    private func settle(_ name: ArchiveName, _ range: LogArchiveRange, _ upload: LogArchiveUpload) async throws {
        let found = try await destination.list(prefix: name.text).first { $0.name == name.text }
        if let found, let listed = ListedArchive(found) {
            do {
                let archive = try await LogArchiveReader(listed, at: destination)
                guard archive.header.lastChecksum == range.header.lastChecksum else { throw diverged(range.header.last) }
                return
            } catch let error as BackupError where error.code == .damaged || error.code == .foreign {
                try await destination.delete(name.text)
            }
        }
        try await destination.put(name.text, size: upload.length, upload)
    }

    // MARK: Errors

    private func diverged(_ sequence: UInt64) -> BackupError {
        diverged("commit \(sequence) there is another one than in this file")
    }

    private func older(_ sequence: UInt64, _ newest: UInt64) -> BackupError {
        diverged("it has commit \(newest), and the newest one of this file is \(sequence)")
    }

    private func diverged(_ what: String) -> BackupError {
        BackupError(
            .diverged, "\(destination)", "the destination has another line of commits of this store: \(what)",
            remedy: "If \(path) is a copy or an older state that goes on by itself, run `heartwood promote \(path)`: it gets a line of its own.")
    }
}
