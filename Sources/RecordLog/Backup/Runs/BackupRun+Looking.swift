/// Where a backup goes on: behind the last commit of its store that the destination has.
extension BackupRun {
    /// Lists the destination.
    /// - Returns: what it has, the archives of the line, those of them that are not known to be damaged, and how far the store is.
    func look(_ current: inout Followed) async throws -> (there: There, all: [LinePart], parts: [LinePart], published: Superblock) {
        let source = current.source, storeID = source.identity.storeID
        let catalog = try await BackupCatalog.list(destination, storeID: storeID)
        // A head shows that the destination is the right one.
        guard !catalog.lines.isEmpty || storeThere != storeID else { throw gone() }
        current.lineage.lineage = try await archived(current.lineage.lineage, source, catalog)
        let lineage = current.lineage.lineage, newest = catalog.newest(of: lineage) ?? 0
        let all = catalog.parts(of: lineage)
        // Read behind the listing: another backup of the store may have put commits that were made meanwhile.
        let published = try source.superblock(atLeast: newest)
        var there = There(
            newest: newest, archived: all.map(\.reach).max() ?? 0, heads: Set(catalog.lines.values.flatMap(\.heads)))
        var parts = all.filter { !$0.archive.isTooShort }
        current.damaged = [:]
        for part in all where part.archive.isTooShort { current.damaged[part.name] = part.archive.impossible(at: destination) }
        let found = try await position(source, &parts, published, &current.damaged)
        (there.position, there.archive) = (found?.position, found?.archive)
        // Nor need a file that has lost the path have the commits of the one that has it.
        if try !source.isReplaced() {
            try refuseOlder(source, all, there, published)
            if there.position == nil { try await refuseCopy(source, lineage, all, published) }
        }
        if !catalog.lines.isEmpty { storeThere = storeID }
        // A backup has ended between an archive and its head, or did not know heads.
        unacknowledged = there.archive.flatMap { archive in
            archive.lineage == lineage.id && archive.last > catalog.lines[lineage.id]?.acknowledged ?? 0 ? (archive, 1) : nil
        }
        return (there, all, parts, published)
    }

    /// Opens an archive and reads all of it; only its ends if it is large, as a full copy may be.
    func checked(_ listed: ListedArchive) async throws -> LogArchiveReader {
        let archive = try await LogArchiveReader(listed, at: destination)
        if listed.size <= Self.checkedMax { try await ArchiveVerification(archive).run() }
        return archive
    }

    /// Increments are not larger, unless they are made so.
    static let checkedMax: UInt64 = 68 << 20

    /// The store's line as its archives name it: with the line that it left only if the destination has the commit at which the two parted.
    ///
    /// A copy that goes on by itself and is promoted later has left its original before the commit that its lineage names. The original's
    /// archives are none of the copy's line then.
    private func archived(_ lineage: Lineage, _ source: BackupSource, _ catalog: BackupCatalog) async throws -> Lineage {
        guard let fork = lineage.fork else { return lineage }
        let isKept: Bool
        if let line = catalog.lines[lineage.id], !line.archives.isEmpty { isKept = line.parent != nil } else { isKept = try await has(fork, source, catalog) }
        return isKept ? lineage : Lineage(id: lineage.id, fork: nil)
    }

    /// Whether the destination has the commit at which a line left its parent.
    private func has(_ fork: Lineage.Fork, _ source: BackupSource, _ catalog: BackupCatalog) async throws -> Bool {
        let parts = catalog.parts(of: Lineage(id: fork.parent, fork: nil)).filter {
            $0.name.fileID == fork.fileID && $0.name.first <= fork.sequence && $0.reach >= fork.sequence
        }
        for part in parts {
            do {
                let archive = try await LogArchiveReader(part.archive, at: destination)
                if try has(fork, archive, source) { return true }
            } catch let error as BackupError where error.isOfArchive {
                // Another archive may have it.
            }
        }
        return false
    }

    private func has(_ fork: Lineage.Fork, _ archive: LogArchiveReader, _ source: BackupSource) throws -> Bool {
        let header = archive.header
        if header.last == fork.sequence { return header.lastChecksum == fork.checksum }
        // In the middle of an archive only the time and the place of a commit are known without the frames.
        guard source.identity.fileID == fork.fileID, let archived = archive.commit(fork.sequence) else { return false }
        guard let found = try commit(fork.sequence, of: header, in: source, try source.superblock()) else { return false }
        return found.position.checksum == fork.checksum && found.time == archived.time && found.position.end == archived.end
    }

    /// Looks in the store's file for a commit in the middle of an archive; nil if the file has other commits there.
    private func commit(
        _ sequence: UInt64, of header: LogArchiveHeader, in source: BackupSource, _ published: Superblock
    ) throws(StoreError) -> (position: LogPosition, time: Int64)? {
        let before = LogPosition(sequence: header.isBase ? 0 : header.first - 1, checksum: header.previousChecksum, end: header.start)
        var scan = source.scan(from: before, published)
        while let footer = try scan.next(), footer.sequence <= sequence {
            if footer.sequence == sequence { return (scan.lastCommit, footer.timestamp) }
        }
        return nil
    }

    /// - Throws: `diverged` if the destination has commits of the line that the store lacks.
    private func refuseOlder(_ source: BackupSource, _ parts: [LinePart], _ there: There, _ published: Superblock) throws {
        guard published.sequence >= there.newest else { throw older(published, than: there.newest) }
        guard let position = there.position, position.sequence < there.newest else { return }
        if parts.contains(where: { $0.name.fileID != source.identity.fileID && $0.reach > position.sequence }) {
            throw diverged("archives of a newer file of this line are there, which a compaction of the store made; this file is an old one")
        }
    }

    /// A file of which the destination has nothing is the store's new one after a compaction, or a copy that went on by itself. The commits
    /// that a compaction copies keep their times; only the first one of its file has another.
    ///
    /// Where the line has no archives of its own yet, nothing is compared: the store's lineage row names a commit of its parent that the
    /// destination has. A restore may have taken that commit from another file than the newest archive's, in which it has another time.
    /// - Throws: `diverged` if the newest archived commit has another time in this file.
    private func refuseCopy(_ source: BackupSource, _ lineage: Lineage, _ parts: [LinePart], _ published: Superblock) async throws {
        guard let newest = parts.max(by: { ($0.reach, $0.name) < ($1.reach, $1.name) }), newest.reach > lineage.fork?.sequence ?? 0
        else { return }
        var scan = source.scan(from: .start, published), isFirst = true
        while let footer = try scan.next(), footer.sequence <= newest.reach {
            defer { isFirst = false }
            guard footer.sequence == newest.reach, !isFirst else { continue }
            do {
                let time = try await LogArchiveReader(newest.archive, at: destination).time(of: newest.reach)
                guard time == footer.timestamp else { throw diverged(newest.reach) }
            } catch let error as BackupError where error.isOfArchive {
                // Its times cannot be told.
            }
        }
    }

    /// The last commit of the file that the destination has, and the archive that has it; nil without a base archive.
    private func position(
        _ source: BackupSource, _ parts: inout [LinePart], _ published: Superblock, _ damaged: inout [ArchiveName: BackupError]
    ) async throws -> (position: LogPosition, archive: ArchiveName)? {
        while let step = RestorePlan.longest(of: source.identity.fileID, parts)?.steps.last {
            let archive: LogArchiveReader
            do {
                archive = try await checked(step.archive)
            } catch let error as BackupError where error.isOfArchive && error.code != .newerVersion {
                // Its commits are put again.
                damaged[step.archive.name] = error
                parts.removeAll { $0.archive == step.archive }
                continue
            }
            let header = archive.header, name = step.archive.name
            guard published.sequence >= step.reach else { throw older(published, than: step.reach) }
            guard step.reach == header.last else {
                // Here this line left another.
                guard let found = try commit(step.reach, of: header, in: source, published) else { throw diverged(step.reach) }
                return (found.position, name)
            }
            guard try source.commitChecksum(at: header.lastFrame, published) == header.lastChecksum else { throw diverged(step.reach) }
            return (LogPosition(sequence: header.last, checksum: header.lastChecksum, end: header.end), name)
        }
        return nil
    }
}
