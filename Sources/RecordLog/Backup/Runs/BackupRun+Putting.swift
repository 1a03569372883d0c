/// The archives and heads that a pass puts.
extension BackupRun {
    /// - Returns: false if the archive that the next one would follow is gone: a prune, a merge or a user has taken it.
    func ship(
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
    func putHead(_ archive: ArchiveName) async throws {
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
}
