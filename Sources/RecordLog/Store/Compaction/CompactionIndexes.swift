/// Copies each index as one run. Its entries name rows, not addresses, so they stay valid. An index that is damaged or unreadable is rebuilt
/// from the rows.
///
/// Entries do not depend on the rows' new addresses. So a thread begins to copy indexes to memory while the rows are copied. The indexes that
/// it has not begun by the end of the rows are copied straight to the file.
final class CompactionIndexes {
    private let base: Snapshot
    private let target: CompactionTarget
    private let options: StoreOptions
    private let report: () throws(StoreError) -> Void
    private let indexes: ParallelIndexFlush
    private var comparison: IndexCheck?

    init(_ base: Snapshot, _ target: CompactionTarget, _ options: StoreOptions, report: @escaping () throws(StoreError) -> Void) {
        self.base = base
        self.target = target
        self.options = options
        self.report = report
        let merges = base.indexes.enumerated().map { number, runs in runs?.whole(isPacked: base.catalog.hasTerms(number)) }
        indexes = ParallelIndexFlush(merges, of: base.file, options)
    }

    deinit {
        indexes.stop()
        comparison?.stop()
    }

    /// Writes the indexes. Called once the rows have been copied.
    func write() throws(StoreError) {
        let comparison = IndexCheck(of: base, target.snapshot, options)
        self.comparison = comparison
        let made = try indexes.write(to: target.appender, report) { (number, error) throws(StoreError) in
            guard error.isOfReading, target.appender.failure == nil, let definition = base.catalog.index(IndexID(rawValue: UInt16(number)))
            else { throw error }
            return try rebuilt(definition)
        }
        var runs: [RunSet?] = []
        for (number, var index) in made.enumerated() {
            try index?.appendRoot(to: target.appender)
            // If such a run cannot be listed, the old runs serve until the new file is opened again.
            runs.append(index.map { index in
                index.runs(in: target.appender, source: target.file).map { RunSet(disk: $0) } ?? base.indexes[number]?.allFresh ?? .empty
            })
        }
        try target.appender.flush()
        target.setIndexes(runs)
        try check(&runs, comparison)
    }

    /// Blocks are copied without decoding, so this compares their entries with the rows. An index that differs is rebuilt.
    private func check(_ runs: inout [RunSet?], _ comparison: IndexCheck) throws(StoreError) {
        let wrong = try comparison.run(on: target.snapshot, report)
        guard !wrong.isEmpty else { return }
        for definition in wrong {
            var made = try rebuilt(definition)
            try made.appendRoot(to: target.appender)
            runs[Int(definition.id.rawValue)] = made.runs(in: target.appender, source: target.file).map { RunSet(disk: $0) } ?? .empty
        }
        try target.appender.flush()
        target.setIndexes(runs)
    }

    private func rebuilt(_ definition: IndexDefinition) throws(StoreError) -> FlushedRuns {
        let copied = target.snapshot
        let replay = Replay(file: target.file, from: copied, at: copied.end, options: options)
        let runs = try replay.build(definition, from: copied) ?? .empty
        return try runs.whole(isPacked: definition.hasTerms).write(to: target.appender, report)
    }
}
