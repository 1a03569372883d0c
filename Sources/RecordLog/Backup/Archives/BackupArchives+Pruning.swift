extension BackupArchives {
    /// The result of a prune, or of its trial.
    public struct PruneReport: Sendable {
        public var deleted: [Archive] = []
        public var bytes: UInt64 = 0
        public var keptArchives = 0
        /// The archives that no kept state needs, and that a running restore has pinned.
        public var pinned: [Archive] = []
        /// The lines of which nothing was deleted, since their newest commit cannot be restored.
        public var broken: [StoredUUID] = []
    }

    /// Deletes the archives that no state needs which the policy keeps.
    ///
    /// The chain of the newest commit of each line is never broken, and neither is one that a running restore has pinned. An interrupted prune
    /// leaves every kept state restorable.
    /// - Parameter isTrial: whether to delete nothing and only report.
    public func prune(keeping policy: RetentionPolicy, isTrial: Bool = false) async throws -> PruneReport {
        var report = PruneReport()
        for catalog in try await catalogs() {
            var needed: Set<ArchiveName> = [], spared: Set<StoredUUID> = []
            for line in catalog.lines.values where !need(line, catalog, policy, &needed) {
                report.broken.append(line.id)
                for ancestor in catalog.ancestry(of: Lineage(line)) { spared.insert(ancestor.line) }
            }
            let all = catalog.lines.values.flatMap(\.archives)
            let free = all.filter { !needed.contains($0.name) && !spared.contains($0.name.lineage) }
            report.keptArchives += all.count - free.count
            // From the last commit to the first, and bases last: what is left makes chains at each moment.
            for archive in Self.lastFirst(free) {
                // Read anew each time: a restore may have begun meanwhile.
                let pins = try await pinned(catalog.storeID, removesExpired: !isTrial)
                guard !pins.contains(archive.name.text) else {
                    report.pinned.append(Archive(archive))
                    continue
                }
                if !isTrial { try await destination.delete(archive.name.text) }
                report.deleted.append(Archive(archive))
                report.bytes = report.bytes.addingOrMax(archive.size)
            }
            if !isTrial { try await removePassedHeads(catalog) }
        }
        if !isTrial, let directory = destination as? DirectoryDestination { try directory.removeLeftovers() }
        return report
    }

    /// Deletes the heads that a newer one of their line has passed: backups that ended between two steps leave them.
    private func removePassedHeads(_ catalog: BackupCatalog) async throws {
        for line in catalog.lines.values {
            for head in line.heads.sorted().dropLast() { try await destination.delete(head.text) }
        }
    }

    private static func lastFirst(_ archives: [ListedArchive]) -> [ListedArchive] {
        let sorted = archives.sorted { isBefore($1, $0) }
        return sorted.filter { !$0.name.isBase } + sorted.filter(\.name.isBase)
    }

    /// Adds the archives that the kept states of a line need.
    /// - Returns: false if the line's newest commit cannot be restored.
    private func need(
        _ line: BackupCatalog.Line, _ catalog: BackupCatalog, _ policy: RetentionPolicy, _ needed: inout Set<ArchiveName>
    ) -> Bool {
        let parts = catalog.parts(of: Lineage(line))
        // The first commit of a compacted file has the time of the compaction, so the least time of a commit counts.
        let times = Dictionary(parts.map { ($0.reach, $0.name.greatestTime) }, uniquingKeysWith: min)
        let coverage = RestorePlan.coverage(parts)
        let states = times.filter { state in coverage.contains { $0.contains(state.key) } }
        // The newest that was put, also where its archive is gone: what is left may be all that there is.
        guard let newest = catalog.newest(of: Lineage(line)), states[newest] != nil else { return false }
        for state in policy.kept(of: states.map { RetentionPolicy.State(sequence: $0.key, time: $0.value) }) {
            for step in RestorePlan(for: state.sequence, of: parts)?.steps ?? [] { needed.insert(step.archive.name) }
        }
        return true
    }
}

extension BackupArchives {
    /// The names of the archives that running restores need.
    /// - Parameter removesExpired: whether to delete pins of restores that have not renewed them.
    func pinned(_ storeID: StoredUUID, removesExpired: Bool) async throws -> Set<String> {
        let now = fileSystem.now()
        var found: Set<String> = []
        for object in try await destination.list(prefix: BackupPin.Name.folder(of: storeID)) {
            guard let name = BackupPin.Name(object.name) else { continue }
            guard name.expiry > now else {
                if removesExpired { try await destination.delete(object.name) }
                continue
            }
            do {
                let bytes = try await destination.get(object.name, 0..<min(object.size, Self.pinMax))
                for line in bytes.split(separator: UInt8(ascii: "\n")) { found.insert(String(decoding: line, as: UTF8.self)) }
            } catch let error as BackupError where error.code == .notFound {
                // The restore has ended.
            }
        }
        return found
    }

    /// The most bytes of a pin that are read.
    private static let pinMax: UInt64 = 64 << 20
}
