/// The part of a restore that fetches and verifies the log. It ends with a file that lacks only its superblock.
struct RestoreRun {
    struct Made {
        let file: RestoreFile
        let log: RestoredLog
        /// The path that the file is to get, with links resolved.
        let target: String
        let lineage: StoredUUID
        let bytes: UInt64
        let skipped: [BackupError]
    }

    private let restore: StoreRestore
    private let fileSystem: any FileSystem
    private let progress: (@Sendable (StoreRestore.Progress) -> Void)?

    private var destination: any BackupDestination { restore.destination }

    init(_ restore: StoreRestore, _ fileSystem: any FileSystem, _ progress: (@Sendable (StoreRestore.Progress) -> Void)?) {
        self.restore = restore
        self.fileSystem = fileSystem
        self.progress = progress
    }

    /// Archives that turned out to be damaged or gone, and the reasons.
    private struct Excluded {
        var names: Set<ArchiveName> = []
        var reasons: [BackupError] = []

        mutating func add(_ archive: ListedArchive, _ reason: BackupError) {
            names.insert(archive.name)
            reasons.append(reason)
        }
    }

    func run(at point: StoreRestore.Point) async throws -> Made {
        let storeID = try await restore.chosenStore()
        let catalog = try await BackupCatalog.list(destination, storeID: storeID)
        let lineage = try restore.chosenLineage(catalog)
        var all = catalog.parts(of: lineage)
        var excluded = Excluded(), work: Work?
        do {
            while true {
                let parts = all.filter { !excluded.names.contains($0.name) }
                guard let sequence = try await self.sequence(at: point, parts, &excluded),
                    let plan = RestorePlan(for: sequence, of: parts.filter { !excluded.names.contains($0.name) })
                else { throw notCovered(point, all, excluded) }
                if let failed = try await take(plan, &work) {
                    excluded.add(failed.archive, failed.reason)
                    // A merge may have put a larger archive in place of this one.
                    if failed.reason.code == .notFound {
                        all = try await BackupCatalog.list(destination, storeID: storeID).parts(of: lineage)
                    }
                    continue
                }
                guard let work else { throw notCovered(point, all, excluded) }
                return Made(
                    file: work.file, log: work.log, target: work.target, lineage: lineage.id, bytes: work.bytes, skipped: excluded.reasons)
            }
        } catch {
            work?.file.storage.unlock()
            throw error
        }
    }

    // MARK: The commit

    /// The number of the commit that is asked for; nil if no archive has it.
    private func sequence(at point: StoreRestore.Point, _ parts: [LinePart], _ excluded: inout Excluded) async throws -> UInt64? {
        switch point {
        case .newest: return parts.map(\.reach).max()
        case .commit(let number): return number
        case .time(let time):
            // The numbers of commits rise, whatever their times: the archive that reaches farthest is asked first.
            for part in parts.sorted(by: { ($0.reach, $0.name) > ($1.reach, $1.name) }) where part.name.leastTime <= time {
                if part.name.greatestTime <= time { return part.reach }
                do {
                    let archive = try await LogArchiveReader(part.archive, at: destination)
                    if let found = archive.lastCommit(notAfter: time, limit: part.reach) { return found }
                } catch let error as BackupError where error.isOfArchive {
                    excluded.add(part.archive, error)
                }
            }
            return nil
        }
    }

    private func notCovered(_ point: StoreRestore.Point, _ parts: [LinePart], _ excluded: Excluded) -> BackupError {
        let ranges = RestorePlan.coverage(parts.filter { !excluded.names.contains($0.name) })
        let had = ranges.isEmpty ? "no commit" : ranges.map { range in
            range.count == 1 ? "commit \(range.lowerBound)" : "commits \(range.lowerBound) to \(range.upperBound)"
        }.joined(separator: ", ")
        let wanted = switch point {
        case .newest: parts.map(\.reach).max().map { "the newest commit, number \($0)," } ?? "the newest commit"
        case .commit(let number): "commit \(number)"
        case .time: "the commit of that time"
        }
        let reasons = excluded.reasons.map { " \($0.location): \($0.message)." }.joined()
        return BackupError(
            excluded.reasons.isEmpty ? .notCovered : .damaged, "\(destination)",
            "\(wanted) cannot be restored; the archives have \(had)", remedy: "Restore one of those.\(reasons)")
    }

    // MARK: The archives

    /// The file, while it is filled.
    private struct Work {
        let file: RestoreFile
        let target: String
        var log: RestoredLog
        var hasStartedAgain = false
        var bytes: UInt64 = 0
    }

    /// Takes the archives of a plan.
    /// - Returns: the archive that cannot be used, if one cannot.
    private func take(_ plan: RestorePlan, _ work: inout Work?) async throws -> (archive: ListedArchive, reason: BackupError)? {
        let pin = BackupPin(plan, plan.steps[0].archive.name.storeID, at: destination, fileSystem)
        do {
            let failed = try await takeSteps(plan, pin, &work)
            await pin.remove()
            return failed
        } catch {
            await pin.remove()
            throw error
        }
    }

    private func takeSteps(
        _ plan: RestorePlan, _ pin: BackupPin, _ work: inout Work?
    ) async throws -> (archive: ListedArchive, reason: BackupError)? {
        let archives = LogArchiveReader.ahead(plan.steps.map(\.archive), at: destination)
        var done: UInt64 = 0
        for step in plan.steps {
            try await pin.renew()
            do {
                guard let archive = try await archives.next() else { break }
                if done == 0 { try begin(archive, plan, &work) }
                try await take(archive, upTo: step.reach, pin, done: done, of: plan.bytes, &work)
                done += step.archive.size
            } catch let error as BackupError where error.isOfArchive {
                // An interrupted restore may have been of another line: its commits are not believed any longer, and the archive is tried again.
                if let known = work, known.file.isResumed, try startAgain(&work) { return try await takeSteps(plan, pin, &work) }
                return (step.archive, error)
            }
        }
        return nil
    }

    /// Takes one archive, unless the file has its commits already.
    private func take(
        _ archive: LogArchiveReader, upTo reach: UInt64, _ pin: BackupPin, done: UInt64, of total: UInt64, _ work: inout Work?
    ) async throws {
        guard let log = work?.log else { return }
        guard reach > log.position.sequence else {
            if archive.header.isBase { log.noteCheckpoints(archive) }
            return
        }
        var count: UInt64 = 0
        try await log.take(archive, upTo: reach) { more in
            count += more
            progress?(.init(bytesDone: done + count, bytesTotal: total))
            // An archive may take longer than a pin counts.
            try await pin.renew()
        }
        work?.bytes += count
    }

    /// Claims the file, unless the plan is of the file that is being filled.
    private func begin(_ base: LogArchiveReader, _ plan: RestorePlan, _ work: inout Work?) throws {
        let identity = FileIdentity(base.header)
        if let known = work {
            // What was taken so far may be more than the new plan's commit, or of another file.
            guard known.file.identity != identity || known.log.position.sequence > plan.sequence else { return }
            known.file.abandon()
            work = nil
        }
        let target = (try? fileSystem.resolved(restore.path)) ?? restore.path
        try HeaderReader(path: "\(destination)/\(base.name.text)").check(identity)
        let model = try fileSystem.identity(of: target) != nil ? try fileSystem.open(target, .readOnly) : nil
        let file = try RestoreFile.claim(besides: target, identity, like: model, fileSystem)
        do {
            let position = file.isResumed
                ? try RestoredLog.resumed(file.storage, identity, path: file.path, upTo: plan.sequence) : LogPosition.start
            work = Work(file: file, target: target, log: try RestoredLog(file.storage, identity, path: file.path, at: position))
        } catch {
            file.storage.unlock()
            throw error
        }
    }

    /// Forgets the commits that an interrupted restore has left.
    /// - Returns: whether that changes anything.
    private func startAgain(_ work: inout Work?) throws -> Bool {
        guard let known = work, !known.hasStartedAgain else { return false }
        work?.hasStartedAgain = true
        work?.log = try RestoredLog(known.file.storage, known.file.identity, path: known.file.path, at: .start)
        return true
    }
}

extension BackupError {
    /// Whether the error is about one archive, so that another one may do.
    var isOfArchive: Bool { [.damaged, .foreign, .newerVersion, .notFound].contains(code) }
}
