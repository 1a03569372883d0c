/// Index entries that are set aside in a scratch file, as sorted runs, so that whoever adds them needs no more memory than the options say.
///
/// Sixteen runs of one level become one of the next, so that an entry is written O(log entries) times and an index has few runs. Entries that
/// cannot be written stay in memory: the file only saves that.
///
/// Invariants:
/// 1. An index's runs are in the order in which their entries were added.
/// 2. While there is a `job`, its index's runs are not here but there, and nobody else uses the scratch file.
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
    private var job: SpillBehind?
    /// The memory of entries that have been written.
    private var spare: EntryBuffer?
    /// Whether entries cannot be written, and those to come stay in memory.
    private(set) var hasFailed: Bool

    /// - Parameter file: the store's.
    init(_ file: LogFile, _ options: StoreOptions) {
        self.file = file
        self.options = options
        // A reader writes nothing.
        hasFailed = options.isReadOnly
    }

    /// Sets a buffer's entries aside, newer than all before.
    /// - Returns: an empty buffer for those to come.
    func take(_ entries: EntryBuffer, of slot: Int) -> EntryBuffer {
        settle()
        while runs.count <= slot { runs.append([]) }
        if let scratch = makeScratch() {
            job = SpillBehind(entries, of: slot, over: runs[slot], in: scratch)
            runs[slot] = []
        } else {
            runs[slot].append(Run(run: .memory(MemoryRun([entries])), level: 0))
        }
        defer { spare = nil }
        return spare ?? EntryBuffer()
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
        runs[job.slot] = made.runs
        spare = made.spare
        hasFailed = hasFailed || made.spare == nil
    }

    /// An index's runs, the oldest first.
    func runs(of slot: Int) -> [FreshRun] {
        settle()
        return slot < runs.count ? runs[slot].map(\.run) : []
    }

    /// Forgets an index.
    func remove(_ slot: Int) {
        settle()
        if slot < runs.count { runs[slot] = [] }
    }
}
