/// The log archives of a destination, by what their names tell.
struct BackupCatalog: Sendable {
    /// A line of commits at the destination, and the archives that were made of it.
    struct Line: Sendable {
        var id: StoredUUID
        var parent: StoredUUID?
        /// The last commit that it has in common with its parent.
        var fork: UInt64
        var archives: [ListedArchive]
    }

    let storeID: StoredUUID
    /// By lineage.
    private(set) var lines: [StoredUUID: Line] = [:]

    init(storeID: StoredUUID, archives: [ListedArchive]) {
        self.storeID = storeID
        // A listing may name an object twice.
        var known: Set<ArchiveName> = []
        for archive in archives where archive.name.storeID == storeID && known.insert(archive.name).inserted {
            let name = archive.name
            lines[name.lineage, default: Line(id: name.lineage, parent: name.parent, fork: name.fork, archives: [])].archives.append(archive)
        }
    }

    /// Lists a destination.
    static func list(_ destination: any BackupDestination, storeID: StoredUUID) async throws -> BackupCatalog {
        let found = try await destination.list(prefix: ArchiveName.folder(of: storeID))
        return BackupCatalog(storeID: storeID, archives: found.compactMap(ListedArchive.init))
    }

    /// The identities of the stores that a destination has archives of.
    static func stores(at destination: any BackupDestination) async throws -> [StoredUUID] {
        var found: Set<StoredUUID> = []
        for object in try await destination.list(prefix: "") {
            if let name = ArchiveName(object.name) { found.insert(name.storeID) }
        }
        return found.sorted()
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
