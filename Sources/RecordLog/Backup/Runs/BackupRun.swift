/// The work of a backup, one pass after the other. It remembers between passes what the destination has, and keeps the store's file open.
///
/// For one task at a time. After an error the next pass goes on where the last archive was put.
final class BackupRun {
    let path: String
    let destination: any BackupDestination
    private let options: StoreOptions
    var file: Followed?
    /// The store of which the destination had archives when it was looked at last.
    var storeThere: StoredUUID?
    /// The newest archive that no head tells of yet, and how many were put since the last head.
    var unacknowledged: (archive: ArchiveName, count: Int)?

    /// A store's file, and what the destination has of it.
    struct Followed {
        let source: BackupSource
        /// The lineage, and the commit as of which it holds.
        var lineage: (lineage: Lineage, sequence: UInt64)
        /// nil until the destination is listed.
        var there: There?
        /// The archives that turned out to be damaged when the destination was looked at.
        var damaged: [ArchiveName: BackupError] = [:]
    }

    /// The commits of a store's line that a destination has.
    struct There {
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
        // After a loss of power the newest superblock may be older than what was backed up of the file.
        report.storeSequence = max(published.sequence, there.position?.sequence ?? 0)
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

    // MARK: Where to go on

    func opened() throws -> Followed {
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

    // MARK: Errors

    func diverged(_ sequence: UInt64) -> BackupError {
        diverged("commit \(sequence) there differs from the one in this file")
    }

    func older(_ published: Superblock, than newest: UInt64) -> BackupError {
        guard published.isReplica else { return diverged("it has commit \(newest), and the newest one of this file is \(published.sequence)") }
        // A replica is not older by itself: it takes the commits that the destination has.
        return BackupError(
            .busy, path, "the replica has commit \(published.sequence), and \(destination) has commit \(newest) already",
            remedy: "Nothing is to be done: `heartwood restore --follow` brings the replica up to date.")
    }

    func gone() -> BackupError {
        BackupError(
            .unreachable, "\(destination)", "the archives of the store that were there are gone",
            remedy: "Mount the destination again. If they were deleted on purpose, start the backup anew: it begins with a full copy.")
    }

    private func changing() -> BackupError {
        BackupError(
            .busy, "\(destination)", "the archives of the store change again and again",
            remedy: "End other programs that merge or delete archives there, and try again.")
    }

    func diverged(_ what: String) -> BackupError {
        BackupError(
            .diverged, "\(destination)", "the destination has another line of commits of this store: \(what)",
            remedy: "If \(path) is a copy or an older state that goes on by itself, run `heartwood promote \(ShellWord.quoted(path))`: "
                + "it gets a line of its own.")
    }
}
