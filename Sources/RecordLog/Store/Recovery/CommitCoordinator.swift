/// Asks the store that decides about a prepared commit. Spec: FORMAT.md, "Saves over several stores".
///
/// A save over several stores holds all their locks from before its first prepared frame until its last commit is completed. So a process
/// that holds the lock of a store whose log ends with a prepared frame knows that no process works on that save any more: a decision that the
/// deciding store does not have by now will never be made.
struct CommitCoordinator {
    let prepared: PreparedCommit
    /// The store that asks.
    let path: String
    let options: StoreOptions
    let fileSystem: any FileSystem
    /// Stores whose locks the same thread holds. Each knows its newest commit.
    var held: [LockedStore] = []

    enum Answer {
        case committed, aborted
        case undecided(StoreError)
    }

    private struct Found {
        let path: String
        let opened: OpenedFile
        let isDecided: Bool
    }

    /// Reads the decision and writes nothing. Without the asking store's lock a later answer may differ, unless this one is `committed`.
    func ask() -> Answer {
        do throws(StoreError) {
            if prepared.record.isOutside { return try askOutside(isFinal: false) ? .committed : .aborted }
            return try find().isDecided ? .committed : .aborted
        } catch {
            return .undecided(error)
        }
    }

    /// As `ask`, for a caller that is about to write the answer down: a decision is durable in its own file before it is written to another.
    /// - Precondition: the caller holds the asking store's lock.
    /// - Throws: `undecided`; `locked` if another process is writing to the coordinator's store.
    func settle() throws(StoreError) -> Bool {
        if prepared.record.isOutside { return try askOutside(isFinal: true) }
        if let store = held.first(where: { $0.store.storeID == prepared.record.coordinator }) {
            guard try decisions(store.snapshot()).contains(prepared.record.group) else { return false }
            if options.durability == .full, store.writer.superblock.durableSequence < prepared.record.decision { try store.syncFile() }
            return true
        }
        let found = try find()
        guard found.isDecided else { return false }
        if options.durability == .full, found.opened.superblock.durableSequence < prepared.record.decision { try makeDurable(found) }
        return true
    }

    /// Asks a store that is no record log, which makes its decision durable itself.
    /// - Throws: `undecided`.
    private func askOutside(isFinal: Bool) throws(StoreError) -> Bool {
        let record = prepared.record
        var reason = "this program has no part that can ask it"
        if let ask = options.asksOutside {
            do {
                return try ask(OutsideQuestion(group: record.group, coordinator: record.coordinator, place: record.path, isFinal: isFinal))
            } catch {
                reason = "\(error)"
            }
        }
        throw undecided(reason)
    }

    // MARK: Looking

    /// Finds the coordinator's store by its identity. Looks at the recorded relative path, the recorded absolute path, and beside this file.
    /// - Throws: `undecided`.
    private func find() throws(StoreError) -> Found {
        let here = FilePath.directory(of: (try? fileSystem.resolved(path)) ?? path)
        var reason = "no file is there"
        var seen: Set<String> = []
        for candidate in [here + prepared.record.relativePath, prepared.record.path[...], here + FilePath.name(of: prepared.record.path)] {
            let candidate = String(candidate)
            guard !candidate.isEmpty, seen.insert(candidate).inserted else { continue }
            do throws(StoreError) {
                let opened = try open(try fileSystem.open(candidate, .readOnly), candidate)
                guard opened.snapshot.file.identity.storeID == prepared.record.coordinator else {
                    reason = "another store is at \(candidate)"
                    continue
                }
                let isDecided = try decisions(opened.snapshot).contains(prepared.record.group)
                // The decision may be behind the damage.
                if !isDecided, let damage = opened.damage { throw damage }
                return Found(path: candidate, opened: opened, isDecided: isDecided)
            } catch {
                if error.code != .notFound { reason = error.description }
            }
        }
        throw undecided(reason)
    }

    private func open(_ storage: any StorageFile, _ candidate: String) throws(StoreError) -> OpenedFile {
        var reading = options
        reading.isReadOnly = true
        reading.rebuildsIndexes = false
        // `find` handles damage: the bytes before it may have the answer.
        reading.acceptsDamage = true
        // The coordinator's own prepared commit is not resolved here.
        let opening = Opening(path: candidate, options: reading, fileSystem: fileSystem, counters: Counters(), asksOthers: false)
        return try opening.recover(storage)
    }

    private func decisions(_ snapshot: Snapshot) throws(StoreError) -> CommitDecisions {
        guard let decisions = try CommitDecisions(snapshot) else {
            throw StoreError.corrupt(snapshot.file.path, at: nil, "the list of decisions is malformed")
        }
        return decisions
    }

    private func undecided(_ reason: String) -> StoreError {
        StoreError(
            .undecided, path: path, at: prepared.offset,
            "the newest commit is one part of a save over several stores, about which the store at \(prepared.record.path) decides, "
                + "and that store cannot be asked: \(reason)",
            remedy: remedy + "; until then this store is read as it was before that save. "
                + "If that store is lost for good, `heartwood salvage` makes a store of the commits before that save.")
    }

    private var remedy: String {
        prepared.record.isOutside
            ? "Make its server reachable for a program that opens stores of its type, with a password from the environment where it wants one"
            : "Move that file back to its path, or beside this one"
    }

    // MARK: Making durable

    /// Rewrites the decision at its position and syncs it, as every opening for writing does. A crash after the decision was written, and
    /// before a sync of it was confirmed, may have left it only in the system's memory.
    private func makeDurable(_ found: Found) throws(StoreError) {
        let storage: any StorageFile
        do throws(StoreError) { storage = try fileSystem.open(found.path, .readWrite) } catch { throw undecided(error.description) }
        // Does not wait: the lock's holder may be waiting for this store.
        try storage.lock(timeout: .zero)
        defer { storage.unlock() }
        guard try fileSystem.identity(of: found.path) == storage.identity else {
            throw StoreError(.locked, path: found.path, "the file was replaced at this moment", remedy: "Try again.")
        }
        do throws(StoreError) {
            let opened = try open(storage, found.path)
            guard try decisions(opened.snapshot).contains(prepared.record.group) else { throw undecided("its decision has vanished") }
            guard opened.superblock.durableSequence < prepared.record.decision else { return }
            try opened.snapshot.file.rewrite(from: opened.superblock.durableEnd, to: opened.end)
            try storage.sync()
        } catch {
            throw error.code == .undecided ? error : undecided(error.description)
        }
    }
}
