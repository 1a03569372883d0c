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
        /// The last commit that can be taken from each; nil for none.
        private var limits: [ArchiveName: UInt64?] = [:]
        var reasons: [BackupError] = []

        /// - Parameter last: the last of its commits that can be taken. An archive that fails again is left out whole.
        mutating func add(_ archive: ListedArchive, _ reason: BackupError, through last: UInt64? = nil) {
            let isKnown = limits[archive.name] != nil
            limits[archive.name] = isKnown ? .some(nil) : .some(last)
            if !isKnown { reasons.append(reason) }
        }

        func rest(of parts: [LinePart]) -> [LinePart] {
            parts.compactMap { part in
                guard let limit = limits[part.name] else { return part }
                guard let limit, let rest = LinePart(part.archive, limit: min(limit, part.reach)) else { return nil }
                return rest
            }
        }

        func isReadable(_ part: LinePart) -> Bool { limits[part.name] == nil }
    }

    func run(at point: StoreRestore.Point) async throws -> Made {
        let storeID = try await restore.chosenStore()
        var catalog = try await BackupCatalog.list(destination, storeID: storeID)
        let lineage = try restore.chosenLineage(catalog)
        var excluded = Excluded(), work: Work?, wanted: UInt64?
        do {
            while true {
                let all = catalog.parts(of: lineage)
                do {
                    if wanted == nil { wanted = try await sequence(at: point, catalog, lineage, &excluded) }
                } catch is Gone {
                    catalog = try await BackupCatalog.list(destination, storeID: storeID)
                    continue
                }
                guard let sequence = wanted, let plan = RestorePlan(for: sequence, of: excluded.rest(of: all)) else {
                    throw notCovered(point, wanted, all, excluded)
                }
                if let failed = try await take(plan, &work) {
                    let last = work.flatMap { $0.file.identity.fileID == failed.archive.name.fileID ? $0.log.position.sequence : nil }
                    excluded.add(failed.archive, failed.reason, through: failed.reason.code == .damaged ? last : nil)
                    // A merge may have put a larger archive in place of this one.
                    if failed.reason.code == .notFound {
                        catalog = try await BackupCatalog.list(destination, storeID: storeID)
                        wanted = nil
                    }
                    continue
                }
                guard let work else { throw notCovered(point, wanted, all, excluded) }
                return Made(
                    file: work.file, log: work.log, target: work.target, lineage: lineage.id, bytes: work.bytes, skipped: excluded.reasons)
            }
        } catch {
            work?.file.storage.unlock()
            throw error
        }
    }

    // MARK: The commit

    /// The number of the commit that is asked for, whether it can be restored or not; nil if no commit was made by then.
    /// - Throws: `notCovered` or `damaged` if that cannot be told.
    private func sequence(
        at point: StoreRestore.Point, _ catalog: BackupCatalog, _ lineage: Lineage, _ excluded: inout Excluded
    ) async throws -> UInt64? {
        switch point {
        case .newest: return catalog.newest(of: lineage)
        case .commit(let number): return number
        case .time(let time):
            let parts = catalog.parts(of: lineage), found = try await lastCommit(notAfter: time, parts, &excluded)
            func mayHaveIt(_ part: LinePart) -> Bool { !excluded.isReadable(part) && part.name.leastTime <= time }
            let isCertain: Bool
            if let found, let newest = catalog.newest(of: lineage) {
                // Where the next commit is in no archive that can be read, that one may be of the time too.
                let next = found + 1
                isCertain = next > newest || parts.contains { $0.name.first <= next && next <= $0.reach && !mayHaveIt($0) }
            } else {
                isCertain = !parts.contains(where: mayHaveIt)
            }
            guard isCertain else { throw notCovered(point, found, parts, excluded) }
            return found
        }
    }

    private func lastCommit(notAfter time: Int64, _ parts: [LinePart], _ excluded: inout Excluded) async throws -> UInt64? {
        // The numbers of commits rise, whatever their times: the archive that reaches farthest is asked first.
        for part in parts.sorted(by: { ($0.reach, $0.name) > ($1.reach, $1.name) }) where part.name.leastTime <= time {
            guard excluded.isReadable(part) else { continue }
            if part.name.greatestTime <= time { return part.reach }
            do {
                let archive = try await LogArchiveReader(part.archive, at: destination)
                if let found = archive.lastCommit(notAfter: time, limit: part.reach) { return found }
            } catch let error as BackupError where error.isOfArchive {
                excluded.add(part.archive, error)
                // A merge may have put a larger archive in place of this one.
                if error.code == .notFound { throw Gone() }
            }
        }
        return nil
    }

    /// An archive of the listing is gone.
    private struct Gone: Error {}

    /// - Parameter sequence: the commit that is asked for, or the newest one before it that is known.
    private func notCovered(_ point: StoreRestore.Point, _ sequence: UInt64?, _ parts: [LinePart], _ excluded: Excluded) -> BackupError {
        let ranges = RestorePlan.coverage(excluded.rest(of: parts))
        let had = ranges.isEmpty ? "no commit" : ranges.map { range in
            range.count == 1 ? "commit \(range.lowerBound)" : "commits \(range.lowerBound) to \(range.upperBound)"
        }.joined(separator: ", ")
        let wanted = switch point {
        case .newest: sequence.map { "the newest commit, number \($0)," } ?? "the newest commit"
        case .commit(let number): "commit \(number)"
        case .time: "the commit of that time"
        }
        let isGone = point == .newest && sequence ?? 0 > parts.map(\.reach).max() ?? 0
        var error = BackupError(
            excluded.reasons.isEmpty ? .notCovered : .damaged, "\(destination)",
            "\(wanted) cannot be restored; the archives have \(had)"
                + (isGone ? "; a backup has acknowledged it, and the archive with it was deleted" : "") + excluded.reasons.map { "; \($0.location): \($0.message)" }.joined(),
            remedy: "`heartwood backup list` shows what there is.")
        if let sequence, let range = ranges.last(where: { $0.lowerBound <= sequence }) {
            let available = min(range.upperBound, sequence)
            error.available = available
            error.remedy = "`--commit \(available)` restores the newest earlier commit that can be restored."
        }
        return error
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
        let file = try RestoreFile.claim(
            besides: target, identity, like: model, permittedAs: destination.attributes(of: base.name), fileSystem)
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
