/// The log archives of a destination: what they cover, whether they are whole, and which of them can go.
public struct BackupArchives: Sendable {
    let destination: any BackupDestination
    let fileSystem: any FileSystem

    /// - Parameter options: its file system is the clock.
    public init(at destination: any BackupDestination, options: StoreOptions = StoreOptions()) {
        self.destination = destination
        fileSystem = options.resolvedFileSystem()
    }

    /// A line of commits, as its archives have it.
    public struct Line: Sendable {
        public var storeID: StoredUUID
        public var lineage: StoredUUID
        /// The lineage that this one left, and the last commit that both have.
        public var parent: StoredUUID?
        public var fork: UInt64?
        /// The archives of the line itself, in the order of their files and first commits.
        public var archives: [Archive]
        /// The commits that can be restored, those before the fork included; rising, without overlaps.
        public var restorable: [ClosedRange<UInt64>]
        /// The newest commit of an archive, restorable or not, and its greatest time.
        public var newest: UInt64
        public var newestTime: Int64
        /// The newest commit that a backup has acknowledged. Where `newest` is less, the archives with it were deleted. 0 if the backups were made
        /// by a Heartwood that did not note it.
        public var acknowledged: UInt64

        /// The commits from the oldest to the newest that cannot be restored: no archive has them, or no chain reaches them.
        public var gaps: [ClosedRange<UInt64>]
        /// Those of the gaps that damaged or missing archives have made. No archive has the commits of the others: a compaction took them before
        /// they were backed up, a prune deleted them, or the last archives of a file that was compacted since are gone.
        public var lost: [ClosedRange<UInt64>]
    }

    /// A log archive, by its name.
    public struct Archive: Sendable, Hashable {
        public var name: String
        public var size: UInt64
        public var isBase: Bool
        /// Identifies the physical file that the commits are of.
        public var fileID: UInt64
        public var commits: ClosedRange<UInt64>
        /// The least and the greatest time of a commit, in microseconds since 1970.
        public var times: ClosedRange<Int64>

        init(_ listed: ListedArchive) {
            name = listed.name.text
            size = listed.size
            isBase = listed.name.isBase
            fileID = listed.name.fileID
            commits = listed.name.first...listed.name.last
            times = listed.name.leastTime...max(listed.name.leastTime, listed.name.greatestTime)
        }
    }

    /// The lines of all stores at the destination, by their names. No archive is read.
    /// - Parameter damage: what `verify` or `StoreBackup.standing` has found. The commits of these archives do not count as restorable.
    public func list(without damage: [BackupError] = []) async throws -> [Line] {
        let damaged = Set(damage.map(\.location))
        return try await catalogs().flatMap { catalog in
            catalog.lines.values.sorted { $0.id < $1.id }.map { line in
                let archives = line.archives.sorted(by: Self.isBefore), parts = catalog.parts(of: Lineage(line))
                let unusable = parts.map(\.name).filter { !damaged.isEmpty && damaged.contains(LogArchiveReader.location(destination, $0)) }
                let coverage = LineCoverage(parts, without: Set(unusable), acknowledged: line.acknowledged)
                return Line(
                    storeID: catalog.storeID, lineage: line.id, parent: line.parent, fork: line.parent == nil ? nil : line.fork,
                    archives: archives.map(Archive.init), restorable: coverage.restorable,
                    newest: archives.map(\.name.last).max() ?? 0, newestTime: archives.map(\.name.greatestTime).max() ?? 0,
                    acknowledged: line.acknowledged, gaps: coverage.gaps, lost: coverage.lost)
            }
        }
    }

    /// The time and the commit of each commit of an archive.
    public func commits(of archive: Archive) async throws -> [(sequence: UInt64, time: Int64)] {
        guard let name = ArchiveName(archive.name) else { return [] }
        let reader = try await LogArchiveReader(ListedArchive(name: name, size: archive.size), at: destination)
        var cursor = reader.table.commits(of: reader.header), found: [(sequence: UInt64, time: Int64)] = []
        while let commit = cursor.next() { found.append((commit.sequence, commit.time)) }
        return found
    }

    func catalogs() async throws -> [BackupCatalog] { try await BackupCatalog.list(destination).catalogs }

    static func isBefore(_ a: ListedArchive, _ b: ListedArchive) -> Bool { a.name < b.name }
}
