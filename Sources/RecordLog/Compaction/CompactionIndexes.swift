/// Copies each index as one run: its entries name rows, not places, so they stay as they are. One that is damaged is made
/// anew from the rows.
///
/// Since they do not depend on where the rows go, a thread of its own begins to copy them to memory while the rows are
/// copied; what it has not begun by then is copied to the file at once.
final class CompactionIndexes {
    private let base: Snapshot
    private let target: CompactionTarget
    private let options: StoreOptions
    private let report: () throws(StoreError) -> Void
    private let ahead: IndexesAhead?

    init(_ base: Snapshot, _ target: CompactionTarget, _ options: StoreOptions, report: @escaping () throws(StoreError) -> Void) {
        self.base = base
        self.target = target
        self.options = options
        self.report = report
        ahead = IndexesAhead.start(base.indexes.map { $0?.whole }, path: base.file.path, options)
    }

    deinit {
        ahead?.stop()
    }

    func write() throws(StoreError) {
        var indexes = [IndexRuns?](repeating: nil, count: base.indexes.count)
        // The thread takes them from the front.
        for (slot, runs) in base.indexes.enumerated().reversed() {
            guard let runs, ahead?.takes(slot) ?? true else { continue }
            indexes[slot] = try rebuilding(slot) { () throws(StoreError) in try runs.whole.write(to: target.appender, report) }
        }
        for (slot, runs) in base.indexes.enumerated() where runs != nil && indexes[slot] == nil {
            try report()
            indexes[slot] = try rebuilding(slot) { () throws(StoreError) in try ahead?.finish(slot, to: target.appender) }
        }
        try target.appender.flush()
        target.setIndexes(indexes)
    }

    private func rebuilding(_ slot: Int, _ copy: () throws(StoreError) -> FlushedRuns?) throws(StoreError) -> IndexRuns {
        var made: FlushedRuns?
        do throws(StoreError) {
            made = try copy()
        } catch {
            guard error.code == .corrupt, let definition = base.catalog.index(IndexID(rawValue: UInt16(slot))) else { throw error }
            let copied = target.snapshot
            let replay = Replay(file: target.file, from: copied, at: copied.end, options: options)
            made = try (try replay.build(definition, from: copied) ?? IndexRuns()).whole.write(to: target.appender, report)
        }
        try made?.appendRoot(to: target.appender)
        return IndexRuns(disk: made?.runs(in: target.appender, source: target.file) ?? [])
    }
}
