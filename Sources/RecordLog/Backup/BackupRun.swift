/// The work of a backup, one pass after the other. It remembers between passes what the destination has, and keeps the store's file open.
///
/// For one task at a time. After an error the next pass goes on where the last archive was put.
final class BackupRun {
    private let path: String
    private let destination: any BackupDestination
    private let options: StoreOptions
    private let fileSystem: any FileSystem
    private var file: Followed?
    /// The store of which the destination had archives when it was looked at last.
    private var storeThere: StoredUUID?
    /// The newest archive that no head tells of yet, and how many were put since the last head.
    private var unacknowledged: (archive: ArchiveName, count: Int)?

    /// A store's file, and what the destination has of it.
    private struct Followed {
        let source: BackupSource
        /// The lineage, and the commit as of which it holds.
        var lineage: (lineage: Lineage, sequence: UInt64)
        /// nil until the destination is listed.
        var there: There?
        /// The archives that turned out to be damaged when the destination was looked at.
        var damaged: [BackupError] = []
    }

    /// The commits of a store's line that a destination has.
    private struct There {
        /// The last commit of the file; nil if there is no base archive of it.
        var position: LogPosition?
        /// The archive that has it.
        var archive: ArchiveName?
        /// The newest commit that was put, in any file of the line; and the newest one of an archive that is there.
        var newest: UInt64
        var archived: UInt64
        /// The heads of the store's lines.
        var heads: Set<BackupHead>
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
    ///   - headAfter: so many archives are put between two heads, unless a pass has nothing else to put.
    ///   - report: gets what was done, also before an error.
    func pass(bytesMax: UInt64, headAfter: Int = 1, _ report: inout StoreBackup.Report) async throws {
        do {
            let before = report.archives
            var attempts = 0
            while try await !putFile(bytesMax, &report) {
                attempts += 1
                guard attempts < Self.attemptsMax else { throw changing() }
            }
            // Last: what it tells is all there.
            if let new = unacknowledged, new.count >= headAfter || report.archives == before { try await putHead(new.archive) }
        } catch {
            // A put may have succeeded though it failed here, and others may have changed the destination: the next pass lists it anew.
            file?.there = nil
            throw error
        }
    }

    /// A store may be compacted, and a destination merged, while a pass runs; more often than this neither is.
    private static let attemptsMax = 20

    /// Puts what the destination lacks of the store's file.
    /// - Returns: false if there is more to do: another file has taken the store's path, or the destination has changed.
    private func putFile(_ bytesMax: UInt64, _ report: inout StoreBackup.Report) async throws -> Bool {
        var (current, there) = try await followed()
        // Looked at first: a file that has lost the path gets no more commits.
        let isReplaced = try current.source.isReplaced()
        let published = try current.source.durableSuperblock()
        report.storeID = current.source.identity.storeID
        report.storeSequence = published.sequence
        if isReplaced, there.position == nil {
            // Nothing was shipped of it, and the newer file has its rows.
            file = nil
            return false
        }
        guard try await ship(&current, &there, published, bytesMax, &report) else {
            file?.there = nil
            return false
        }
        if isReplaced { file = nil }
        return !isReplaced
    }

    /// Compares the store with the destination.
    func standing() async throws -> StoreBackup.Standing {
        var current = try opened()
        let found = try await look(&current), parts = try await withoutDamaged(found.parts, &current)
        let published = try current.source.superblock(), position = found.there.position ?? .start
        var standing = StoreBackup.Standing(
            storeID: current.source.identity.storeID, lineage: current.lineage.lineage.id, storeSequence: published.sequence,
            sequence: RestorePlan.coverage(parts).last?.upperBound ?? 0)
        standing.acknowledged = found.there.heads.filter { $0.line.id == standing.lineage }.max()?.last ?? 0
        standing.damaged = current.damaged
        guard standing.sequence < published.sequence else { return standing }
        var scan = current.source.scan(from: position, published)
        while let footer = try scan.next() {
            guard footer.sequence > standing.sequence else { continue }
            standing.behindSince = footer.timestamp
            break
        }
        return standing
    }

    // MARK: Where to go on

    private func opened() throws -> Followed {
        if let file { return file }
        let source = try BackupSource(path: path, options: options)
        return Followed(source: source, lineage: try source.lineage())
    }

    private func followed() async throws -> (Followed, There) {
        var current = try opened()
        if let there = current.there { return (current, there) }
        // Kept also where the destination cannot be listed: a compaction may take the file's path before it can.
        file = current
        let there = try await look(&current).there
        current.there = there
        file = current
        return (current, there)
    }

    /// Lists the destination.
    /// - Returns: what it has, and the archives of the line that are not known to be damaged.
    private func look(_ current: inout Followed) async throws -> (there: There, parts: [LinePart]) {
        let source = current.source, storeID = source.identity.storeID
        let catalog = try await BackupCatalog.list(destination, storeID: storeID)
        // A head shows that the destination is the right one.
        guard !catalog.lines.isEmpty || storeThere != storeID else { throw gone() }
        current.lineage.lineage = try await archived(current.lineage.lineage, source, catalog)
        let lineage = current.lineage.lineage, newest = catalog.newest(of: lineage) ?? 0
        var parts = catalog.parts(of: lineage)
        // Read behind the listing: another backup of the store may have put commits that were made meanwhile.
        let published = try source.superblock(atLeast: newest)
        var there = There(
            newest: newest, archived: parts.map(\.reach).max() ?? 0, heads: Set(catalog.lines.values.flatMap(\.heads)))
        let all = parts
        current.damaged = []
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
        return (there, parts)
    }

    /// Leaves out the archives with the newest commits as far as they are damaged.
    private func withoutDamaged(_ parts: [LinePart], _ current: inout Followed) async throws -> [LinePart] {
        var parts = parts
        while let newest = RestorePlan.coverage(parts).last?.upperBound, let last = RestorePlan(for: newest, of: parts)?.steps.last?.archive {
            do {
                _ = try await checked(last)
                break
            } catch let error as BackupError where error.isOfArchive {
                current.damaged.append(error)
                parts.removeAll { $0.archive == last }
            }
        }
        return parts
    }

    /// Opens an archive and reads all of it; only its ends if it is large, as a full copy may be.
    private func checked(_ listed: ListedArchive) async throws -> LogArchiveReader {
        let archive = try await LogArchiveReader(listed, at: destination)
        if listed.size <= Self.checkedMax { try await ArchiveVerification(archive).run() }
        return archive
    }

    /// Increments are not larger, unless they are made so.
    private static let checkedMax: UInt64 = 68 << 20

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
        _ source: BackupSource, _ parts: inout [LinePart], _ published: Superblock, _ damaged: inout [BackupError]
    ) async throws -> (position: LogPosition, archive: ArchiveName)? {
        while let step = RestorePlan.longest(of: source.identity.fileID, parts)?.steps.last {
            let archive: LogArchiveReader
            do {
                archive = try await checked(step.archive)
            } catch let error as BackupError where error.isOfArchive && error.code != .newerVersion {
                // Its commits are put again.
                damaged.append(error)
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

    // MARK: Archives

    /// - Returns: false if the archive that the next one would follow is gone: a prune, a merge or a user has taken it.
    private func ship(
        _ current: inout Followed, _ there: inout There, _ published: Superblock, _ bytesMax: UInt64, _ report: inout StoreBackup.Report
    ) async throws -> Bool {
        guard published.sequence > 0 else { return true }
        report.lineage = current.lineage.lineage.id
        report.sequence = max(report.sequence, there.position?.sequence ?? 0)
        guard there.position?.sequence != published.sequence else { return true }
        if let archive = there.archive, try await !isThere(archive) { return false }
        let source = current.source
        var finder = LogRangeFinder(source, after: there.position ?? .start, published: published, lineage: current.lineage)
        if there.position == nil {
            guard let range = try finder.base() else { return true }
            if there.archived > 0, range.header.first > there.archived + 1 { report.missing.append(there.archived + 1...range.header.first - 1) }
            try await put(range, &current, &there, finder.lineage, &report)
        }
        while let range = try finder.next(bytesMax: bytesMax) { try await put(range, &current, &there, finder.lineage, &report) }
        return true
    }

    private func isThere(_ archive: ArchiveName) async throws -> Bool {
        do {
            _ = try await destination.get(archive.text, 0..<1)
            return true
        } catch let error as BackupError where error.code == .notFound {
            return false
        }
    }

    private func put(
        _ range: LogArchiveRange, _ current: inout Followed, _ there: inout There, _ lineage: Lineage, _ report: inout StoreBackup.Report
    ) async throws {
        let header = range.header, name = ArchiveName(header)
        // The line that the store left has its last commits here.
        if let new = unacknowledged, new.archive.lineage != name.lineage { try await putHead(new.archive) }
        let upload = LogArchiveUpload(range, from: current.source), model = try current.source.storage.attributes()
        do {
            try await destination.put(name.text, size: upload.length, upload, permittedAs: model)
        } catch let error as BackupError where error.code == .exists {
            try await settle(name, range, upload, model)
        }
        there = There(
            position: range.position, archive: name, newest: max(there.newest, header.last), archived: max(there.archived, header.last),
            heads: file?.there?.heads ?? there.heads)
        current.there = there
        current.lineage = (lineage, header.last)
        file = current
        storeThere = header.storeID
        unacknowledged = (name, (unacknowledged?.count ?? 0) + 1)
        report.note(range, upload.length)
    }

    /// Says that all commits up to an archive's last one are there, and deletes the heads that said less.
    private func putHead(_ archive: ArchiveName) async throws {
        let head = BackupHead(archive)
        var heads = file?.there?.heads ?? []
        if heads.filter({ $0.line.id == head.line.id }).max().map({ $0 < head }) ?? true {
            do {
                try await destination.put(
                    head.text, size: UInt64(head.content.count), BackupBytes(head.content), permittedAs: destination.attributes(of: archive))
            } catch let error as BackupError where error.code == .exists {
                // Another backup of the store is as far.
            }
            heads.insert(head)
        }
        unacknowledged = nil
        // One that cannot be deleted does no harm: the greatest counts.
        for passed in heads.filter({ $0.line.id == head.line.id }).sorted().dropLast() {
            try? await destination.delete(passed.text)
            heads.remove(passed)
        }
        file?.there?.heads = heads
    }

    /// An archive of this name is there: an attempt whose answer was lost has put it, or another backup of the store. One that is damaged is put
    /// again.
    private func settle(
        _ name: ArchiveName, _ range: LogArchiveRange, _ upload: LogArchiveUpload, _ model: FileAttributes?
    ) async throws {
        var isDamaged = false
        // Read twice, since a good archive may have been read badly once, and must not be deleted for that.
        for _ in 0..<2 {
            let found = try await destination.list(prefix: name.text).compactMap(ListedArchive.init)
            guard let listed = found.first(where: { $0.name == name }) else { continue }
            do {
                let archive = try await checked(listed)
                guard archive.header.lastChecksum == range.header.lastChecksum else { throw diverged(range.header.last) }
                return
            } catch let error as BackupError where error.code == .damaged || error.code == .foreign {
                isDamaged = true
            }
        }
        if isDamaged { try await destination.delete(name.text) }
        try await destination.put(name.text, size: upload.length, upload, permittedAs: model)
    }

    // MARK: Errors

    private func diverged(_ sequence: UInt64) -> BackupError {
        diverged("commit \(sequence) there is another one than in this file")
    }

    private func older(_ published: Superblock, than newest: UInt64) -> BackupError {
        guard published.isReplica else { return diverged("it has commit \(newest), and the newest one of this file is \(published.sequence)") }
        // A replica is not older by itself: it takes the commits that the destination has.
        return BackupError(
            .busy, path, "the replica has commit \(published.sequence), and \(destination) has commit \(newest) already",
            remedy: "Nothing is to be done: `heartwood restore --follow` brings the replica up to date.")
    }

    private func gone() -> BackupError {
        BackupError(
            .unreachable, "\(destination)", "the archives of the store that were there are gone",
            remedy: "Mount the destination again. If they were deleted on purpose, start the backup anew: it begins with a full copy.")
    }

    private func changing() -> BackupError {
        BackupError(
            .busy, "\(destination)", "the archives of the store change again and again",
            remedy: "End other programs that merge or delete archives there, and try again.")
    }

    private func diverged(_ what: String) -> BackupError {
        BackupError(
            .diverged, "\(destination)", "the destination has another line of commits of this store: \(what)",
            remedy: "If \(path) is a copy or an older state that goes on by itself, run `heartwood promote \(path)`: it gets a line of its own.")
    }
}
