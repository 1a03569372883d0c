/// The log archives of a destination, by what their names tell.
struct BackupCatalog: Sendable {
    /// A line of commits at the destination, and the archives that were made of it.
    struct Line: Sendable {
        var id: StoredUUID
        var parent: StoredUUID?
        /// The last commit that it has in common with its parent.
        var fork: UInt64
        var archives: [ListedArchive]
        /// The commits that backups have acknowledged, in any order. A line whose archives are gone may have heads only.
        var heads: [BackupHead] = []

        /// The newest commit that a backup has acknowledged; 0 if no head says so.
        var acknowledged: UInt64 { heads.map(\.last).max() ?? 0 }

        init(_ line: ArchiveName.Line) {
            id = line.id
            parent = line.parent
            fork = line.fork
            archives = []
        }
    }

    let storeID: StoredUUID
    /// By lineage.
    private(set) var lines: [StoredUUID: Line] = [:]

    init(storeID: StoredUUID, archives: [ListedArchive], heads: [BackupHead] = []) {
        self.storeID = storeID
        // A listing may name an object twice.
        var known: Set<ArchiveName> = []
        for archive in archives where archive.name.storeID == storeID && known.insert(archive.name).inserted {
            lines[archive.name.lineage, default: Line(archive.name.line)].archives.append(archive)
        }
        // Behind the archives, whose names say which line theirs comes from.
        for head in Set(heads) where head.storeID == storeID { lines[head.line.id, default: Line(head.line)].heads.append(head) }
    }

    /// Lists a store's archives and heads.
    static func list(_ destination: any BackupDestination, storeID: StoredUUID) async throws -> BackupCatalog {
        let found = try await list(destination, prefix: ArchiveName.folder(of: storeID)).catalogs
        return found.first { $0.storeID == storeID } ?? BackupCatalog(storeID: storeID, archives: [])
    }

    /// Lists the archives and heads of all stores, and everything else.
    static func list(
        _ destination: any BackupDestination, prefix: String = ""
    ) async throws -> (catalogs: [BackupCatalog], objects: [BackupObject]) {
        var objects = try await destination.list(prefix: prefix), catalogs = catalogs(objects)
        // A listing takes a while: a backup that put an archive and a head meanwhile may be seen with the head alone.
        if catalogs.contains(where: \.lacksAcknowledged) {
            objects = try await destination.list(prefix: prefix)
            catalogs = self.catalogs(objects)
        }
        return (catalogs, objects)
    }

    private static func catalogs(_ objects: [BackupObject]) -> [BackupCatalog] {
        let archives = Dictionary(grouping: objects.compactMap(ListedArchive.init), by: \.name.storeID)
        let heads = Dictionary(grouping: objects.compactMap { BackupHead($0.name) }, by: \.storeID)
        return Set(archives.keys).union(heads.keys).sorted().map {
            BackupCatalog(storeID: $0, archives: archives[$0] ?? [], heads: heads[$0] ?? [])
        }
    }

    /// Whether no archive has the newest commit of a line that a backup has acknowledged.
    private var lacksAcknowledged: Bool {
        lines.values.contains { line in !parts(of: Lineage(line)).contains { $0.reach >= line.acknowledged } && line.acknowledged > 0 }
    }

    /// The line and those that it comes from, nearest first, each with the last of its commits that belong to the line.
    ///
    /// The names of a line's archives say which line it comes from. `lineage` does so where there are none yet.
    func ancestry(of lineage: Lineage) -> [(line: StoredUUID, limit: UInt64)] {
        var found = [(line: lineage.id, limit: UInt64.max)]
        var (parent, fork) = lines[lineage.id].map { ($0.parent, $0.fork) } ?? (lineage.fork?.parent, lineage.fork?.sequence ?? 0)
        // Names are untrusted: a line may claim to come from itself.
        while let next = parent, !found.contains(where: { $0.line == next }) {
            found.append((next, min(fork, found[found.count - 1].limit)))
            (parent, fork) = (lines[next]?.parent, lines[next]?.fork ?? 0)
        }
        return found
    }

    /// The newest commit of a line that was put, as its archives and heads tell; nil if none was.
    func newest(of lineage: Lineage) -> UInt64? {
        [parts(of: lineage).map(\.reach).max(), lines[lineage.id]?.heads.map(\.last).max()].compactMap(\.self).max()
    }

    /// The archives that have commits of a line.
    func parts(of lineage: Lineage) -> [LinePart] {
        ancestry(of: lineage).flatMap { ancestor in
            (lines[ancestor.line]?.archives ?? []).compactMap { LinePart($0, limit: ancestor.limit) }
        }
    }
}

extension ListedArchive {
    /// - Returns: nil for an object that is no log archive by its name.
    init?(_ object: BackupObject) {
        guard let name = ArchiveName(object.name) else { return nil }
        self.init(name: name, size: object.size)
    }
}

/// An archive, as far as its commits belong to a line.
struct LinePart: Hashable, Sendable {
    var archive: ListedArchive
    /// The last of its commits that belong to the line.
    var reach: UInt64

    var name: ArchiveName { archive.name }

    /// - Parameter limit: the last commit of the archive's own lineage that belongs to the line.
    init?(_ archive: ListedArchive, limit: UInt64) {
        guard archive.name.first <= limit else { return nil }
        self.archive = archive
        reach = min(archive.name.last, limit)
    }
}
