extension BackupArchives {
    /// Reads every byte of every archive, and follows the chain of commits through them, from one archive to the next.
    /// - Returns: the damage, one error for each archive, and for each object whose name is none of an archive though it ends like one.
    /// - Complexity: O(bytes); memory for a few blocks and the largest frame, and a few bytes for each archive.
    public func verify(progress: (@Sendable (_ done: UInt64, _ total: UInt64) -> Void)? = nil) async throws -> [BackupError] {
        let objects = try await destination.list(prefix: "")
        var problems = objects.compactMap(foreign)
        let all = Self.catalogs(objects).flatMap { catalog in
            catalog.lines.values.sorted { $0.id < $1.id }.flatMap { $0.archives.sorted(by: Self.isBefore) }
        }
        let total = all.reduce(0) { $0 + $1.size }
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
            done += archive.size
            progress?(done, total)
        }
        return problems
    }

    private func foreign(_ object: BackupObject) -> BackupError? {
        guard object.name.hasSuffix(ArchiveName.suffix), ArchiveName(object.name) == nil else { return nil }
        return BackupError(
            .foreign, "\(destination)/\(object.name)", "this is not the name of a log archive; it is not used",
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
