extension BackupArchives {
    /// The result of a merge.
    public struct MergeReport: Sendable {
        /// The number of archives that were put, and of those that they replace.
        public var made = 0
        public var merged = 0
        /// The bytes of those that were put.
        public var bytes: UInt64 = 0
        /// The number of archives that were deleted because a larger one has their commits.
        public var covered = 0
    }

    /// Makes larger increments of small ones that follow each other. Each commit keeps its number, time and author.
    ///
    /// The larger archive is put first, and then the small ones are deleted. A crash between leaves both; the next merge deletes the small ones.
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
                let increments = line.archives.filter { !$0.name.isBase }
                let covered = try await removeCovered(increments.filter { !pins.contains($0.name.text) })
                report.covered += covered.count
                let rest = increments.filter { $0.size <= small && !covered.contains($0.name) }
                for run in Self.runs(rest, bytesMax: bytesMax) where run.count >= max(2, count) {
                    guard !run.contains(where: { pins.contains($0.name.text) }) else { continue }
                    try await merge(run, &report)
                }
            }
        }
        return report
    }

    /// Deletes the increments whose commits a larger one has: an interrupted merge leaves them, and a put that succeeded though it failed here.
    /// - Returns: their names.
    private func removeCovered(_ increments: [ListedArchive]) async throws -> Set<ArchiveName> {
        var removed: Set<ArchiveName> = []
        for (cover, covered) in Self.covered(increments).sorted(by: { $0.key.name < $1.key.name }) {
            let checksums: [UInt64: UInt64]
            do {
                let reader = try await LogArchiveReader(cover, at: destination)
                checksums = try await ArchiveVerification(reader, noting: Set(covered.map(\.name.last))).run()
            } catch let error as BackupError where error.isOfArchive {
                continue
            }
            for archive in covered where try await has(archive, checksums) {
                try await destination.delete(archive.name.text)
                removed.insert(archive.name)
            }
        }
        return removed
    }

    /// Whether an archive ends with the commit that another one has under its number; so does one that cannot be read.
    private func has(_ archive: ListedArchive, _ checksums: [UInt64: UInt64]) async throws -> Bool {
        do {
            return try await LogArchiveReader(archive, at: destination).header.lastChecksum == checksums[archive.name.last]
        } catch let error as BackupError where error.code == .damaged {
            return true
        } catch let error as BackupError where error.isOfArchive {
            return false
        }
    }

    /// The increments of whose commits another one of the same file has all, by that one.
    static func covered(_ increments: [ListedArchive]) -> [ListedArchive: [ListedArchive]] {
        var found: [ListedArchive: [ListedArchive]] = [:]
        for own in Dictionary(grouping: increments, by: \.name.fileID).values {
            var cover: ListedArchive?
            for archive in own.sorted(by: { ($0.name.first, $1.name.last, $0.name) < ($1.name.first, $0.name.last, $1.name) }) {
                if let cover, archive.name.last <= cover.name.last { found[cover, default: []].append(archive) } else { cover = archive }
            }
        }
        return found
    }

    /// Increments that follow each other directly, as long as they are not too large together.
    static func runs(_ archives: [ListedArchive], bytesMax: UInt64) -> [[ListedArchive]] {
        var runs: [[ListedArchive]] = []
        for (_, own) in Dictionary(grouping: archives, by: \.name.fileID).sorted(by: { $0.key < $1.key }) {
            var run: [ListedArchive] = [], bytes: UInt64 = 0
            for archive in own.sorted(by: isBefore) {
                if let last = run.last, last.name.last + 1 != archive.name.first || bytes.addingOrMax(archive.size) > bytesMax {
                    runs.append(run)
                    (run, bytes) = ([], 0)
                }
                run.append(archive)
                bytes = bytes.addingOrMax(archive.size)
            }
            runs.append(run)
        }
        return runs
    }

    private func merge(_ run: [ListedArchive], _ report: inout MergeReport) async throws {
        guard let (header, table) = try await merged(run) else { return }
        let upload = MergedUpload(run, header, table, destination), name = ArchiveName(header)
        do {
            try await destination.put(name.text, size: upload.length, upload, permittedAs: destination.attributes(of: run[0].name))
        } catch let error as BackupError where error.code == .exists {
            // An earlier merge was interrupted, or another one is under way.
            guard try await isWhole(ListedArchive(name: name, size: upload.length), header) else { return }
        }
        for archive in run { try await destination.delete(archive.name.text) }
        report.made += 1
        report.merged += run.count
        report.bytes += upload.length
    }

    /// Whether an archive that was there already may replace others. A damaged one is deleted, so that the next merge makes it anew.
    private func isWhole(_ archive: ListedArchive, _ header: LogArchiveHeader) async throws -> Bool {
        do {
            let found = try await LogArchiveReader(archive, at: destination)
            try await found.readAll()
            return found.header == header
        } catch let error as BackupError where error.code == .damaged {
            try await destination.delete(archive.name.text)
            return false
        }
    }

    /// The header and the table of the archive that a run makes; nil if an archive is damaged, or does not follow the one before.
    private func merged(_ run: [ListedArchive]) async throws -> (LogArchiveHeader, LogArchiveTable)? {
        var made: (header: LogArchiveHeader, table: LogArchiveTable)?
        let archives = LogArchiveReader.ahead(run, at: destination)
        while true {
            let archive: LogArchiveReader
            do {
                guard let opened = try await archives.next() else { return made }
                archive = opened
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
            // So that the appending does not copy the table.
            made = nil
            for extent in archive.table.extents { table.append(extent) }
            var commits = archive.table.commits(of: next)
            while let commit = commits.next() { table.appendCommit(end: commit.end, time: commit.time) }
            made = (header, table)
        }
    }
}
