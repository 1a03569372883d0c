import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// The choice of the runs that checkpoints merge, by their sizes.
@Suite struct RunMergeTests {
    /// An index whose entries are never deleted.
    private struct Index {
        /// Newest first.
        var sizes: [UInt64] = []
        var written: UInt64 = 0

        mutating func checkpoint(_ fresh: UInt64, _ merging: RunSet.Merging = .whileWriting) {
            func run(_ size: UInt64) -> SortedRun {
                SortedRun(manifest: Manifest.Run(root: .none, entryCount: size, byteCount: size), source: FixedPayload([]))
            }
            let runs = RunSet(fresh: fresh > 0 ? [.spilled(run(fresh))] : [], disk: sizes.map(run))
            guard let merge = runs.flush(merging, isPacked: false) else { return }
            written += merge.entryCount
            sizes = [merge.entryCount] + merge.kept.map(\.entryCount)
        }
    }

    @Test
    func `A bulk load writes each entry at most a few times`() {
        var index = Index()
        for _ in 0..<16 { index.checkpoint(60_000) }
        #expect(index.written <= 16 * 60_000 * 4, "\(index.written) entries were written")
        index.checkpoint(0, .whenClosing)
        #expect(index.sizes == [16 * 60_000])
    }

    /// Every eighth checkpoint once wrote everything again: 100 checkpoints wrote each entry seven times, 1,000 fifty-seven times. The others left
    /// up to nine runs, mostly of one size, each of which a look-up had to search.
    @Test(arguments: [100, 1000, 10_000])
    func `Checkpoints of one size leave few runs and write each entry a few times`(checkpoints: Int) {
        var index = Index(), most = 0, sum = 0
        for _ in 0..<checkpoints {
            index.checkpoint(1000)
            most = max(most, index.sizes.count)
            sum += index.sizes.count
        }
        let doublings = Double(checkpoints.bitWidth - checkpoints.leadingZeroBitCount)
        #expect(index.sizes.reduce(0, +) == UInt64(checkpoints) * 1000)
        #expect(most <= 8 && Double(sum) / Double(checkpoints) <= 5, "\(most) runs at most, \(sum) in all")
        #expect(Double(index.written) <= Double(checkpoints) * 1000 * doublings, "\(index.written) entries were written")
    }

    @Test
    func `A closed store has few runs`() {
        var index = Index()
        for _ in 0..<165 { index.checkpoint(60_000) }
        index.checkpoint(100, .whenClosing)
        #expect(index.sizes.count <= 3, "\(index.sizes)")
        // Closing again has nothing to do.
        let sizes = index.sizes
        index.checkpoint(0, .whenClosing)
        #expect(index.sizes == sizes)
    }

    /// Each session changes little and closes.
    @Test
    func `Closing after small changes does not write the base again`() {
        var index = Index()
        index.checkpoint(1_000_000, .whenClosing)
        index.written = 0
        for _ in 0..<300 {
            index.checkpoint(300, .whenClosing)
            #expect(index.sizes.count <= 5)
        }
        #expect(index.written <= 300 * 300 * 20, "\(index.written) entries were written for \(300 * 300)")
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `Runs are few for checkpoints of any size`(seed: UInt64) {
        var random = SeededGenerator(seed: seed), index = Index(), total: UInt64 = 0
        for _ in 0..<400 {
            let fresh = UInt64.random(in: 1...(1 << UInt64.random(in: 0...20, using: &random)), using: &random)
            index.checkpoint(fresh, Int.random(in: 0..<20, using: &random) == 0 ? .whenClosing : .whileWriting)
            total += fresh
            #expect(index.sizes.count <= RunSet.diskRunsMax && index.sizes.reduce(0, +) == total, "seed \(seed)")
        }
    }

    @Test
    func `Runs that shrink from one to the next are bounded too`() {
        var index = Index()
        for power in (0..<20).reversed() {
            index.checkpoint(1 << UInt64(power * 2))
            #expect(index.sizes.count <= RunSet.diskRunsMax, "\(index.sizes)")
        }
        #expect(index.sizes.last == 1 << 38, "the base is not written again")
    }

    @Test
    func `A run that stands alone is copied block by block, with all of its entries`() throws {
        let sample = try SampleStore()
        try sample.store.write { transaction in
            for number in 0..<600 {
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, .init(name: "name \(number)", age: Int64(number), group: 1))
            }
        }
        try sample.store.checkpoint()
        let snapshot = sample.store.snapshot(), runs = try #require(snapshot.indexes[Int(sample.byName.rawValue)])
        #expect(runs.disk.count == 1 && runs.disk[0].entryCount == 600)
        // Nothing is appended to this sink.
        let sink = FrameAppender(file: snapshot.file, at: sample.store.log.end, sequence: 1, counters: Counters())
        var made = try runs.whole(isPacked: false).write(to: sink)
        try made.appendRoot(to: sink)
        let copies = try #require(made.runs(in: sink, source: snapshot.file)).map(\.manifest)
        let old = runs.disk[0].manifest
        #expect(copies.count == 1 && copies[0].entryCount == old.entryCount && copies[0].byteCount == old.byteCount)
    }

    /// Deletions in a run that is merged with a few others hide entries of the remaining runs.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `Merging some of the runs gives the same as merging all`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed), before = 0, partly = 0
        let sample = try SampleStore { $0.checkpointsInBackground = false }
        for round in 0..<60 {
            try sample.store.write { transaction in
                let known = sample.people.keys.sorted()
                for _ in 0..<(round == 0 ? 2000 : Int.random(in: 1...40, using: &random)) {
                    let old = known.randomElement(using: &random).flatMap { sample.people[$0] == nil ? nil : $0 }
                    if let old, Int.random(in: 0..<3, using: &random) == 0 {
                        #expect(try transaction.delete(sample.reference(old)))
                        sample.people[old] = nil
                        continue
                    }
                    let row = try old ?? transaction.newRow(in: sample.table.id)
                    let person = SampleStore.Person(
                        name: ValueDomain.isNothing(&random) ? nil : "name \(Int.random(in: 0..<500, using: &random))",
                        age: Int64.random(in: 0..<50, using: &random),
                        group: UInt64.random(in: 1...9, using: &random))
                    try sample.put(transaction, row, person)
                    sample.people[row] = person
                }
            }
            try sample.store.checkpoint()
            let count = sample.store.snapshot().indexes[Int(sample.byName.rawValue)]?.disk.count ?? 0
            if count > 1, count <= before { partly += 1 }
            before = count
            if round % 6 == 5 { try sample.check(sample.store.snapshot(), sample.people) }
        }
        #expect(partly > 2, "seed \(seed): \(partly) times a part of the runs was joined")
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }
}
