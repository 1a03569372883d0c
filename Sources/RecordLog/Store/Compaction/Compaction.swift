/// One compaction, from the claim of its file until that file has the store's path.
///
/// It copies the rows as of one commit while other threads and processes write. Then it copies the commits made meanwhile, in rounds, and
/// takes a lock only to learn of them. The last round, the superblock, the sync and the rename are done under the store's locks.
///
/// Crash points, in order: before the rename there is a file beside the store that the next compaction removes. Between the rename and the
/// sync of the directory either file may have the store's path, and both are whole: nothing has been acknowledged to the new one, whose
/// superblock says that its name must be made durable first (9). After that the new file is the store.
final class Compaction {
    private let store: LogStore
    private let progress: ((CompactionProgress) -> Bool)?
    private let path: String
    private var state = CompactionProgress(rowsDone: 0, rowsTotal: 0, commits: 0)

    /// Bounds the rounds, since writers may be faster than the compaction.
    private static let roundsMax = 12

    /// - Parameter path: the store's own file, with links resolved.
    init(_ store: LogStore, at path: String, progress: ((CompactionProgress) -> Bool)?) {
        self.store = store
        self.path = path
        self.progress = progress
    }

    /// - Returns: the report, and the old file.
    func run(_ window: HistoryWindow) throws(StoreError) -> (report: CompactionReport, old: ReplacedFile) {
        let file = try CompactionFile.claim(besides: path, like: store.snapshot().file.storage, store.fileSystem)
        do throws(StoreError) {
            let newest = try store.newest(of: nil)
            let start = try HistoryStart(
                window: window, newest: newest.snapshot, checkpoint: newest.checkpoint, options: store.options).find()
            try newest.snapshot.checkSpace(at: path, store.fileSystem, history: newest.snapshot.end - start.end)
            return try fill(file, newest.snapshot, start)
        } catch {
            file.abandon()
            throw error
        }
    }

    private func fill(
        _ file: CompactionFile, _ base: Snapshot, _ start: Snapshot
    ) throws(StoreError) -> (report: CompactionReport, old: ReplacedFile) {
        let creation = FileCreation(path: store.path, options: store.options, fileSystem: store.fileSystem, counters: store.counters)
        let target = try CompactionTarget(file.storage, besides: base.file, creation)
        let indexes = CompactionIndexes(base, target, store.options) { () throws(StoreError) in try self.report() }
        if start.sequence > 0 {
            state.rowsTotal = start.tables.reduce(UInt64(0)) { $0 + ($1?.rowCount ?? 0) }
            try CompactionBase(base: start, target: target, timestamp: store.fileSystem.now()) { done throws(StoreError) in
                self.state.rowsDone = done
                try self.report()
            }.write()
            state.rowsDone = state.rowsTotal
        }
        let copier = CommitCopier(from: base.file, start.catalog, to: target, path: store.path)
        try copier.copy(from: start, to: base, hasIndexes: false)
        try indexes.write()
        try target.writeCheckpoint()
        let copied = try catchUp(from: base, target, copier)
        return try store.lockedForWriting { locked throws(StoreError) in
            // The lock is held on whichever file is the store's at the end.
            let old = locked.writer.file, bytesBefore = locked.writer.end
            guard old === base.file else { throw CheckpointSink.abandoned(store.path) }
            try copier.copy(from: copied, to: store.snapshot(), hasIndexes: true)
            let isDurable = locked.keepsDurable
            let opened = try target.finish(isDurable: isDurable)
            // Opened before the rename: if no descriptor is left, the store is unchanged.
            let directory = isDurable ? try store.fileSystem.openDirectory(of: file.path) : nil
            try file.storage.copyAttributes(from: old.storage)
            try file.rename(to: path)
            try locked.goOver(to: opened, directory)
            let report = CompactionReport(
                bytesBefore: bytesBefore, bytesAfter: opened.end,
                rows: opened.snapshot.tables.dropFirst().reduce(0) { $0 + ($1?.rowCount ?? 0) }, commits: copier.count)
            return (report, ReplacedFile(file: old, storage: old.storage))
        }
    }

    /// Copies the commits made meanwhile, until little is left or writers turn out to be faster.
    private func catchUp(from base: Snapshot, _ target: CompactionTarget, _ copier: CommitCopier) throws(StoreError) -> Snapshot {
        var copied = base
        var last = UInt64.max
        for _ in 0..<Self.roundsMax {
            try target.flush(isDurable: try store.newest(of: base.file).isDurable)
            state.commits = copier.count
            try report()
            let newest = try store.newest(of: base.file).snapshot
            let left = newest.end - copied.end
            guard left > store.options.lastRoundBytes, left < last else { break }
            last = left
            try copier.copy(from: copied, to: newest, hasIndexes: true)
            copied = newest
        }
        return copied
    }

    private func report() throws(StoreError) {
        guard let progress, !progress(state) else { return }
        throw StoreError(.cancelled, path: store.path, "the compaction was cancelled", remedy: "The store is as it was.")
    }
}

extension Snapshot {
    /// - Parameter history: bytes of commits that are copied behind the rows.
    /// - Throws: `noSpace` if the file system of `path` has less room than a new file of the live data may take.
    func checkSpace(at path: String, _ fileSystem: any FileSystem, history: UInt64) throws(StoreError) {
        // Live data is within the log, even if a damaged manifest claims more.
        let live = min(usedBytes, end) + history
        let needed = live + live / 4 + (1 << 20)
        guard let free = fileSystem.freeSpace(at: path), free < needed else { return }
        func mebibytes(_ tenths: UInt64) -> String { "\(tenths / 10).\(tenths % 10) MiB" }
        throw StoreError(
            .noSpace, path: path,
            "a new file needs about \(mebibytes((needed * 10) >> 20 + 1)) and \(mebibytes((free >> 10) * 10 >> 10)) are free",
            remedy: "Free some space; the store is as it was.")
    }
}

/// A replaced file. Holds its storage, so that no new file gets its identity meanwhile.
struct ReplacedFile {
    /// nil once no snapshot holds it.
    weak var file: LogFile?
    let storage: any StorageFile
}
