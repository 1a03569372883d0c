/// Examines the bytes behind the log's end of a store that was opened read-only, beside writers that may be at work.
struct TailInspection {
    let store: LogStore

    /// - Complexity: O(tail). If the tail is not clean, this takes the file's lock without waiting, and examines it again.
    func run() throws(StoreError) -> StoreInspection.Tail {
        // The commits behind a past one are no tail.
        guard !store.showsPast else { return .clean }
        let known = store.log
        let tail = try examine(known)
        guard tail != .clean else { return .clean }
        // Damage to bytes that were published before the store was opened is not a writer's unfinished work.
        if known.superblock.durableEnd > known.end { return tail }
        let storage = known.file.storage
        do throws(StoreError) {
            try storage.lock(timeout: .zero)
        } catch {
            // Without file locks nothing is known about writers.
            return error.code == .locked ? .inProgress : tail
        }
        defer { storage.unlock() }
        return try isAsItWasOpened(known) ? try examine(known) : .inProgress
    }

    private func examine(_ known: KnownLog) throws(StoreError) -> StoreInspection.Tail {
        let outcome = try TailExamination(
            file: known.file, sequence: store.snapshot().sequence, end: known.end, size: try known.file.storage.size(),
            superblock: known.superblock
        ).run()
        switch outcome {
        case .clean: return .clean
        case .torn: return store.inDoubt.map { .inDoubt(offset: $0.offset, coordinatorPath: $0.coordinatorPath, state: $0.state) } ?? .torn
        case .corrupt(let offset, let evidence): return .corrupt(offset: offset, evidence: evidence)
        }
    }

    private func isAsItWasOpened(_ known: KnownLog) throws(StoreError) -> Bool {
        let superblock = HeaderReader.newestSuperblock(try HeaderReader.header(of: known.file.storage), fileID: known.file.identity.fileID)
        return superblock?.generation ?? 0 == known.superblock.generation
    }
}
