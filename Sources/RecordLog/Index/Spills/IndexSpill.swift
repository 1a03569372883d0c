/// Moves the entries of a store's indexes from memory to one scratch file. Used by one thread at a time.
final class IndexSpill: @unchecked Sendable {
    // Unchecked: the thread that has begun it hands it over whole.
    /// By index ID; nil for an index with nothing to move.
    private let runs: [RunSpill?]
    private let scratch: ScratchFile
    /// By index ID, once written; nil for an index whose entries could not be moved. Its runs stay as they are.
    private var made: [[FreshRun]?] = []

    /// - Parameter runs: by index ID.
    init(_ runs: [RunSpill?], to scratch: ScratchFile) {
        self.runs = runs
        self.scratch = scratch
    }

    /// Whether another thread may write it.
    var writesBehind: Bool { scratch.writesBehind }

    /// Whether an index's entries could not be moved.
    var hasFailed: Bool { zip(runs, made).contains { $0 != nil && $1 == nil } }

    func spilling(_ indexes: [RunSet?]) -> [RunSet?] {
        zip(indexes, runs).map { index, run in index.map { run?.spilling($0) ?? $0 } }
    }

    func write() {
        made = runs.map { run in run.flatMap { try? $0.write(to: scratch) } }
    }

    /// The indexes as of a later commit, with the moved entries.
    func spilled(_ indexes: [RunSet?]) -> [RunSet?] {
        indexes.enumerated().map { number, index in
            guard let index, number < runs.count, let run = runs[number] else { return index }
            return run.spilled(index, as: made[number])
        }
    }
}
