extension BackupArchives {
    /// Reads every byte of every archive, and follows the chain of commits through them, from one archive to the next.
    /// - Returns: the damage, one error for each archive, for each object whose name is none of an archive though it ends like one, and for each
    ///   line whose newest commit was acknowledged by a backup and is in no archive any more.
    /// - Complexity: O(bytes); memory for a few blocks and the largest frame, and a few bytes for each archive.
    public func verify(progress: (@Sendable (_ done: UInt64, _ total: UInt64) -> Void)? = nil) async throws -> [BackupError] {
        let (catalogs, objects) = try await BackupCatalog.list(destination)
        var problems = objects.compactMap(foreign)
        let all = catalogs.flatMap { catalog in
            catalog.lines.values.sorted { $0.id < $1.id }.flatMap { $0.archives.sorted(by: Self.isBefore) }
        }
        let total = all.reduce(UInt64(0)) { $0.addingOrMax($1.size) }
        var done: UInt64 = 0, joints = ArchiveJoints()
        let readers = LogArchiveReader.ahead(all, at: destination)
        for archive in all {
            try Task.checkCancellation()
            do {
                guard let reader = try await readers.next() else { break }
                try await ArchiveVerification(reader).run()
                if let broken = joints.add(reader) { problems.append(broken) }
            } catch let error as BackupError where error.isOfArchive {
                problems.append(error)
            }
            done = done.addingOrMax(archive.size)
            progress?(done, total)
        }
        return problems + catalogs.flatMap(lost)
    }

    /// The lines whose newest commit is in no archive any more, though a backup has acknowledged it.
    private func lost(_ catalog: BackupCatalog) -> [BackupError] {
        catalog.lines.values.sorted { $0.id < $1.id }.compactMap { line in
            guard let head = line.heads.max() else { return nil }
            let reach = catalog.parts(of: Lineage(line)).map(\.reach).max() ?? 0
            guard reach < head.last else { return nil }
            return BackupError(
                .notCovered, "\(destination)/\(head.text)",
                "a backup has acknowledged commit \(head.last), and the newest one in an archive is \(reach): archives were deleted",
                remedy: "Back the store up again. If it has lost these commits too, delete this object: it is all that is left of them.")
        }
    }

    private func foreign(_ object: BackupObject) -> BackupError? {
        let isArchive = object.name.hasSuffix(ArchiveName.suffix) && ArchiveName(object.name) == nil
        guard isArchive || object.name.hasSuffix(BackupHead.suffix) && BackupHead(object.name) == nil else { return nil }
        return BackupError(
            .foreign, "\(destination)/\(object.name)", "this is not the name of a \(isArchive ? "log archive" : "head"); it is not used",
            remedy: "Give it its old name, or move it elsewhere.")
    }
}

/// The commits at which archives of one file meet. The archives on both sides name the commit's checksum.
private struct ArchiveJoints {
    private struct Joint: Hashable {
        var fileID: UInt64
        var sequence: UInt64
        /// Two lines may have different commits of one number.
        var lineage: StoredUUID
    }

    private var known: [Joint: (checksum: UInt64, archive: String)] = [:]

    /// - Returns: the error if another archive names another commit at one of the ends.
    mutating func add(_ archive: LogArchiveReader) -> BackupError? {
        let header = archive.header
        var ends = [(header.last, header.lastChecksum)]
        if !header.isBase { ends.append((header.first - 1, header.previousChecksum)) }
        for (sequence, checksum) in ends {
            // The commit before the first one may be of the lineage that this one left.
            let lineage = header.lineage.fork.flatMap { sequence <= $0.sequence ? $0.parent : nil } ?? header.lineage.id
            let joint = Joint(fileID: header.fileID, sequence: sequence, lineage: lineage)
            guard let other = known[joint] else {
                known[joint] = (checksum, archive.name.text)
                continue
            }
            guard other.checksum == checksum else {
                return archive.damaged(at: nil, "it has another commit \(sequence) than \(other.archive): the two are of different lines")
            }
        }
        return nil
    }
}
