/// Index entries in a scratch file, as sorted runs, so that adding entries needs no more memory than the options allow.
///
/// Sixteen runs of one level become one of the next, so that an entry is written O(log entries) times and an index has few runs. If
/// entries cannot be written they stay in memory: the file only saves memory.
///
/// Invariants:
/// 1. An index's runs are in the order in which their entries were added.
/// 2. While there is a `job`, it has its index's runs, and only it uses the scratch file.
final class SpilledEntries {
    struct Run {
        let run: FreshRun
        let level: Int
    }

    private let file: LogFile
    private let options: StoreOptions
    private var scratch: ScratchFile?
    /// By index ID.
    private var runs: [[Run]] = []
    private var job: BackgroundSpill?
    /// The buffer of entries that have been written.
    private var spare: Memtable?
    /// Whether entries could not be written. Further entries then stay in memory.
    private(set) var hasFailed: Bool

    /// - Parameter file: the store's file.
    init(_ file: LogFile, _ options: StoreOptions) {
        self.file = file
        self.options = options
        // A reader writes nothing.
        hasFailed = options.isReadOnly
    }

    /// Spills a buffer's entries, which are newer than all before.
    /// - Returns: an empty buffer for further entries.
    func take(_ entries: Memtable, of number: Int) -> Memtable {
        settle()
        while runs.count <= number { runs.append([]) }
        if let scratch = makeScratch() {
            job = BackgroundSpill(entries, of: number, over: runs[number], in: scratch)
            runs[number] = []
        } else {
            runs[number].append(Run(run: .memory(ImmutableMemtable([entries])), level: 0))
        }
        defer { spare = nil }
        return spare ?? Memtable()
    }

    private func makeScratch() -> ScratchFile? {
        guard !hasFailed else { return nil }
        do throws(StoreError) {
            if scratch == nil { scratch = try ScratchFile(besides: file, options) }
        } catch {
            hasFailed = true
        }
        return scratch
    }

    /// Waits for entries that are being written.
    private func settle() {
        guard let job else { return }
        self.job = nil
        let made = job.finish()
        runs[job.number] = made.runs
        spare = made.spare
        hasFailed = hasFailed || made.spare == nil
    }

    /// An index's runs, the oldest first.
    func runs(of number: Int) -> [FreshRun] {
        settle()
        return number < runs.count ? runs[number].map(\.run) : []
    }

    /// Forgets an index's entries.
    func remove(_ number: Int) {
        settle()
        if number < runs.count { runs[number] = [] }
    }
}
