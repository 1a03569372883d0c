extension BackupRun {
    /// Compares the store with the destination.
    func standing() async throws -> StoreBackup.Standing {
        var current = try opened()
        let found = try await look(&current), parts = found.parts
        let newest = try await newest(parts, &current)
        try await checkEnds(parts, besides: newest, &current)
        let published = found.published, lineage = current.lineage.lineage.id
        let acknowledged = found.there.heads.filter { $0.line.id == lineage }.max()?.last ?? 0
        let coverage = LineCoverage(found.all, without: Set(current.damaged.keys), acknowledged: acknowledged)
        var standing = StoreBackup.Standing(
            storeID: current.source.identity.storeID, lineage: lineage, storeSequence: published.sequence,
            sequence: coverage.restorable.last?.upperBound ?? 0)
        standing.acknowledged = acknowledged
        standing.archives = found.all.count
        standing.isNewestRead = newest.map { $0.size <= Self.checkedMax } ?? false
        standing.damaged = current.damaged.sorted { $0.key < $1.key }.map(\.value)
        (standing.gaps, standing.lost) = (coverage.gaps, coverage.lost)
        standing.behindSince = try time(behind: standing.sequence, found.there.position, current.source, published)
        return standing
    }

    /// The time of the first commit of the store that the destination lacks.
    private func time(
        behind sequence: UInt64, _ position: LogPosition?, _ source: BackupSource, _ published: Superblock
    ) throws(StoreError) -> Int64? {
        guard sequence < published.sequence else { return nil }
        // The commits of a damaged archive come before the last one of the destination.
        let start = position.flatMap { $0.sequence <= sequence ? $0 : nil } ?? .start
        var scan = source.scan(from: start, published)
        while let footer = try scan.next() {
            if footer.sequence > sequence { return footer.timestamp }
        }
        return nil
    }

    /// Reads the archive with the newest commit that can be restored. Those that are damaged are noted.
    private func newest(_ parts: [LinePart], _ current: inout Followed) async throws -> ListedArchive? {
        var parts = parts
        while let newest = RestorePlan.coverage(parts).last?.upperBound, let last = RestorePlan(for: newest, of: parts)?.steps.last?.archive {
            do {
                _ = try await checked(last)
                return last
            } catch let error as BackupError where error.isOfArchive {
                current.damaged[last.name] = error
                parts.removeAll { $0.archive == last }
            }
        }
        return nil
    }

    /// Looks at the beginnings and the ends of the other archives.
    private func checkEnds(_ parts: [LinePart], besides newest: ListedArchive?, _ current: inout Followed) async throws {
        let others = parts.map(\.archive).filter { $0 != newest && current.damaged[$0.name] == nil }, destination = destination
        let ends = WorkAhead(others.makeIterator()) { try await LogArchiveEnds($0, at: destination) }
        for archive in others {
            do {
                _ = try await ends.next()
            } catch let error as BackupError where error.isOfArchive {
                current.damaged[archive.name] = error
            }
        }
    }
}
