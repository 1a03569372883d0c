import HeartwoodTestSupport

@testable import RecordLog

/// Opens the disk's state after a power failure and checks it.
struct CrashCheck {
    let history: CommitHistory
    let configure: (inout StoreOptions) -> Void
    /// Chooses the time and the effect of a second crash.
    let seed: UInt64

    /// - Parameter disk: a disk after a power failure.
    /// - Returns: the problem found; nil for none.
    func run(_ disk: SimulatedFileSystem) -> String? {
        var random = SeededGenerator(seed: seed)
        do {
            var least = history.floor
            var disk = disk
            if Bool.random(using: &random) {
                // The power fails again while the store is opened, or just after.
                disk.fail(at: Int.random(in: 0..<5, using: &random))
                // A recovery that writes only scratch files continues without them on a failed disk.
                if let store = try? open(disk), !disk.hasCrashed {
                    // A state that a recovery showed on a disk without unsynced bytes must stay.
                    if let problem = objection(store, notBefore: least) { return "at the first opening: " + problem }
                    least = store.snapshot().sequence
                }
                disk = disk.afterPowerLoss(seed: random.next())
            }
            let store = try open(disk)
            if let problem = objection(store, notBefore: least) { return problem }
            try store.close()
            return Bool.random(using: &random) ? try use(disk, &random) : nil
        } catch {
            return "\(error)"
        }
    }

    private func open(_ disk: SimulatedFileSystem) throws -> LogStore {
        var options = StoreOptions()
        options.fileSystem = disk
        // A thread would write at a time that no seed gives.
        options.checkpointsInBackground = false
        options.extractors = SampleStore.extractors
        configure(&options)
        return try LogStore.open(path: SampleStore.path, options: options)
    }

    private func objection(_ store: LogStore, notBefore least: UInt64) -> String? {
        let snapshot = store.snapshot()
        guard let sample = SampleStore(reading: store) else {
            return snapshot.sequence > 0 ? "the table is gone" : history.objection(0, [:], notBefore: least)
        }
        do {
            let found = try sample.contents(snapshot)
            return try history.objection(snapshot.sequence, found, notBefore: least) ?? sample.mismatch(snapshot, found)
        } catch {
            return "\(error)"
        }
    }

    /// Checks that the store accepts writes, is sound, and can be opened again.
    private func use(_ disk: SimulatedFileSystem, _ random: inout SeededGenerator) throws -> String? {
        let sample = try SampleStore(fileSystem: disk, configure)
        sample.people = try sample.contents(sample.store.snapshot())
        try sample.insert(.init(name: "after", age: 1, group: 1))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try sample.store.checkpoint()
        case 1: _ = try sample.store.compact()
        default: break
        }
        try sample.store.close()
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: disk) { SampleStore.extractors[$0] }
        guard report.isSound else { return "it is not sound: \(report.tail), \(report.problems)" }
        try sample.reopen()
        let problem = try sample.mismatch(sample.store.snapshot(), sample.people)
        try sample.store.close()
        return problem.map { "after writing and opening again: " + $0 }
    }
}
