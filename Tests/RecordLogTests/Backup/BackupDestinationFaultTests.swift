import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// What a backup does where its destination loses archives, fails, answers wrongly, or is used by others at the same moment.
@Suite struct BackupDestinationFaultTests {
    @Test
    func `An error of the store's file is not taken for one of the destination`() async throws {
        struct Failing: BackupUpload {
            mutating func next() throws -> [UInt8]? { throw StoreError.corrupt("the source", at: 7, "simulated") }
        }
        let files = MemoryFileSystem(), destination = DirectoryDestination(path: "d", fileSystem: files)
        await #expect { try await destination.put("a", size: 1, Failing()) } throws: {
            ($0 as? StoreError)?.code == .corrupt && ($0 as? StoreError)?.path == "the source"
        }
        #expect(try await destination.list(prefix: "").isEmpty && files.entries(ofDirectory: "d") == nil)
    }

    @Test(arguments: 0..<3)
    func `Two backups follow one store through compactions, whichever comes first, and none is refused`(compactionAt: Int) async throws {
        let store = try BackedUpStore(), destination = ProbedDestination(store.destination)
        for number in 0..<6 { try store.commit(number) }
        try await store.backUp()
        let run = BackupRun(of: SampleStore.path, to: destination, store.sample.options)
        var report = StoreBackup.Report()
        if compactionAt == 1 { try await run.pass(bytesMax: 1 << 20, &report) }
        for number in 6..<9 { try store.commit(number) }
        // After the run has opened the file, and before it sees the destination, the store is compacted and the other backup goes on.
        let isDone = Mutex(false)
        nonisolated(unsafe) let other = store
        destination.before { operation in
            switch (compactionAt, operation) {
            case (0, .list), (1, .get), (2, .put): break
            default: return
            }
            let isFirst = isDone.withLock { done in
                defer { done = true }
                return !done
            }
            guard isFirst else { return }
            _ = try other.sample.store.compact()
            try other.sample.insert(.init(name: "after", age: 1, group: 1))
            other.note()
            try await other.backUp()
        }
        try await run.pass(bytesMax: 1 << 20, &report)
        destination.before(nil)
        // A compaction behind the look at the path is left to the next pass.
        if compactionAt > 0 { try await run.pass(bytesMax: 1 << 20, &report) }
        #expect(report.sequence == store.sequence)
        for number in 9..<12 { try store.commit(number) }
        try await run.pass(bytesMax: 1 << 20, &report)
        try await store.backUp()
        for sequence in 1...store.sequence { try await store.check(sequence, "two backups") }
        #expect(try await BackupArchives(at: store.destination).verify().isEmpty)
    }

    @Test
    func `A destination that has lost all archives is out of reach, and gets no full copy, until they are back`() async throws {
        let store = try BackedUpStore(), destination = ProbedDestination(store.destination)
        for number in 0..<4 { try store.commit(number) }
        let run = BackupRun(of: SampleStore.path, to: destination, store.sample.options)
        var report = StoreBackup.Report()
        try await run.pass(bytesMax: 1 << 20, &report)
        let isMounted = Mutex(false)
        // As a mount point without its file system.
        destination.changeListing { isMounted.withLock { $0 } ? $0 : [] }
        destination.before { operation in
            guard !isMounted.withLock({ $0 }), case .get = operation else { return }
            throw ProbedDestination.error(.notFound)
        }
        for number in 4..<6 {
            try store.commit(number)
            let puts = destination.counts.puts
            await #expect { try await run.pass(bytesMax: 1 << 20, &report) } throws: { ($0 as? BackupError)?.code == .unreachable }
            #expect(destination.counts.puts == puts)
        }
        isMounted.withLock { $0 = true }
        try await run.pass(bytesMax: 1 << 20, &report)
        #expect(report.sequence == store.sequence && report.baseArchives == 1)
        for sequence in 1...store.sequence { try await store.check(sequence, "mounted again") }
    }

    @Test(arguments: [false, true])
    func `A backup that follows finds that archives were merged, or that the one it would go on behind is gone`(isLost: Bool) async throws {
        let store = try BackedUpStore(), run = BackupRun(of: SampleStore.path, to: store.destination, store.sample.options)
        var report = StoreBackup.Report()
        for number in 0..<8 {
            try store.commit(number)
            try await run.pass(bytesMax: 1 << 20, &report)
        }
        let archives = BackupArchives(at: store.destination)
        if isLost {
            try await store.destination.delete(try #require(try await archives.list()[0].archives.last).name)
        } else {
            #expect(try await archives.merge().made == 1)
        }
        try store.commit(8)
        try await run.pass(bytesMax: 1 << 20, &report)
        #expect(report.sequence == store.sequence && report.baseArchives == 1)
        for sequence in 1...store.sequence { try await store.check(sequence, "lost: \(isLost)") }
        #expect(try await archives.list()[0].gaps.isEmpty)
    }

    @Test(arguments: 0..<4)
    func `A copy with a file of its own that goes on farther than its original is refused, wherever it left`(more: Int) async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem()
        for number in 0..<3 { try store.commit(number) }
        try await store.backUp()
        var options = store.options(files)
        options.segmentShift = 16
        try store.sample.store.copy(to: SampleStore.path, options: options)
        // The original goes on by two commits, and the copy by none to three.
        for number in 3..<5 { try store.commit(number) }
        try await store.backUp()
        let copy = try SampleStore(fileSystem: files) { $0.segmentShift = 16 }
        for age in 0..<more { try copy.insert(.init(name: "copy", age: Int64(age), group: 1)) }
        let before = try await store.destination.list(prefix: "")
        await #expect { _ = try await StoreBackup(of: SampleStore.path, to: store.destination, options: copy.options).run() } throws: {
            ($0 as? BackupError)?.code == .diverged
        }
        #expect(try await store.destination.list(prefix: "") == before)
        // With a line of its own it is kept apart.
        let lineage = try LogStore.promote(path: SampleStore.path, options: copy.options)
        #expect(try await StoreBackup(of: SampleStore.path, to: store.destination, options: copy.options).run().lineage == lineage.id)
        for sequence in 1...store.sequence {
            let (restored, _) = try await store.restore(at: .commit(sequence), lineage: store.sample.store.storeID)
            #expect(try store.difference(restored, sequence) == nil, "the original, commit \(sequence)")
        }
        var restore = StoreRestore(from: store.destination, to: SampleStore.path, options: store.options(MemoryFileSystem()))
        restore.lineage = lineage.id
        let report = try await restore.run()
        let restored = try LogStore.open(path: SampleStore.path, options: restore.options)
        copy.people = try copy.contents(copy.store.refresh())
        #expect(report.source == lineage.id)
        #expect(try SampleStore(reading: restored)?.mismatch(restored.snapshot(), copy.people) == nil)
    }

    @Test(arguments: [0, 1, 3], [1, 100])
    func `A copy that went on beside its original and was promoted then is kept apart: each commit of both lines comes back`(
        originalGoesOn: Int, commitsInAnArchive: Int
    ) async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(files: files)
        for number in 0..<4 {
            try store.commit(number)
            if commitsInAnArchive == 1 { try await store.backUp() }
        }
        let left = store.sequence, copied = try #require(files.contents(of: SampleStore.path))
        for number in 0..<originalGoesOn {
            try store.commit(number)
            if commitsInAnArchive == 1 { try await store.backUp() }
        }
        try await store.backUp()
        let copy = MemoryFileSystem()
        copy.setContents(of: SampleStore.path, to: copied)
        let sample = try SampleStore(fileSystem: copy) { $0.segmentShift = 16 }
        sample.people = try #require(store.states[left])
        var states = store.states.filter { $0.key <= left }
        for age in 0..<2 {
            try sample.insert(.init(name: "copy", age: Int64(age), group: 5))
            states[sample.store.snapshot().sequence] = sample.people
        }
        let lineage = try LogStore.promote(path: SampleStore.path, options: sample.options)
        states[left + 3] = sample.people
        func backUpCopy() async throws -> StoreBackup.Report {
            try await StoreBackup(of: SampleStore.path, to: store.destination, options: sample.options).run()
        }
        #expect(try await backUpCopy().lineage == lineage.id)
        for age in 2..<4 {
            try sample.insert(.init(name: "copy", age: Int64(age), group: 5))
            states[sample.store.snapshot().sequence] = sample.people
            #expect(try await backUpCopy().baseArchives == 0)
        }
        for number in 5..<9 {
            try store.commit(number)
            #expect(try await store.backUp().lineage == store.sample.store.storeID)
        }
        for (line, wanted) in [(lineage.id, states), (store.sample.store.storeID, store.states)] {
            for (sequence, people) in wanted where sequence > 0 {
                let (restored, report) = try await store.restore(at: .commit(sequence), lineage: line)
                #expect(report.source == line)
                #expect(try SampleStore(reading: restored)?.mismatch(restored.snapshot(), people) == nil, "line \(line), commit \(sequence)")
            }
        }
        #expect(try await BackupArchives(at: store.destination).verify().isEmpty)
    }

    /// A failure or a wrong answer of a kind that the number chooses.
    private static func disturb(_ destination: ProbedDestination, _ kind: Int, _ random: inout SeededGenerator) {
        let left = Mutex(Int.random(in: 0...3, using: &random))
        let seed = random.next()
        @Sendable func isDue() -> Bool {
            left.withLock { left in
                left -= 1
                return left == -1
            }
        }
        switch kind {
        case 0: destination.before { _ in if isDue() { throw ProbedDestination.error(.unreachable) } }
        // The answer is lost.
        case 1: destination.after { _ in if isDue() { throw ProbedDestination.error(.unreachable) } }
        case 2: destination.before { _ in if isDue() { throw ProbedDestination.error(.full) } }
        case 3: destination.changeBytes { _, bytes in isDue() ? Array(bytes.dropLast()) : bytes }
        case 4: destination.changeBytes { _, bytes in isDue() ? bytes.map { $0 ^ UInt8(seed & 255 | 1) } : bytes }
        case 5: destination.changeListing { $0.shuffled() + $0 }
        case 6: destination.changeListing { isDue() ? Array($0.prefix($0.count / 2)) : $0 }
        case 7: destination.changeListing { $0.map { BackupObject(name: $0.name, size: isDue() ? $0.size + 1 : $0.size) } }
        default:
            destination.changeListing {
                $0 + [BackupObject(name: "x/y/z.hwlog", size: 3), BackupObject(name: "readme.txt", size: 1), BackupObject(name: "", size: 0)]
            }
        }
    }

    private static func quiet(_ destination: ProbedDestination) {
        destination.before(nil)
        destination.after(nil)
        destination.changeBytes(nil)
        destination.changeListing(nil)
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `However a destination fails and answers, nothing that was acknowledged is lost, and no restore is wrong`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let store = try BackedUpStore(), destination = ProbedDestination(store.destination)
        let archives = BackupArchives(at: destination)
        var run = BackupRun(of: SampleStore.path, to: destination, store.sample.options), acknowledged: UInt64 = 0
        for number in 0..<30 {
            try store.commit(number)
            if Int.random(in: 0..<9, using: &random) == 0 { try store.sample.store.checkpoint() }
            if Int.random(in: 0..<12, using: &random) == 0 { _ = try store.sample.store.compact(keeping: .commits(3)) }
            Self.disturb(destination, Int.random(in: 0...8, using: &random), &random)
            var report = StoreBackup.Report()
            do {
                try await run.pass(bytesMax: 3000, &report)
                acknowledged = report.sequence
            } catch let error as BackupError {
                #expect(error.code != .diverged, "seed \(seed), commit \(number): \(error)")
            }
            if Int.random(in: 0..<8, using: &random) == 0 { _ = try? await archives.merge() }
            if Int.random(in: 0..<6, using: &random) == 0 { run = BackupRun(of: SampleStore.path, to: destination, store.sample.options) }
            if Int.random(in: 0..<3, using: &random) == 0 {
                var restore = StoreRestore(from: destination, to: SampleStore.path, options: store.options(MemoryFileSystem()))
                restore.lineage = store.sample.store.storeID
                let wanted = UInt64.random(in: 1...store.sequence, using: &random)
                if let report = try? await restore.run(at: .commit(wanted)) {
                    let opened = try LogStore.open(path: SampleStore.path, options: restore.options)
                    #expect(try store.difference(opened, report.sequence) == nil, "seed \(seed)")
                }
            }
            Self.quiet(destination)
            if acknowledged > 0 { try await store.check(acknowledged, "seed \(seed), acknowledged") }
        }
        var report = StoreBackup.Report()
        try await run.pass(bytesMax: 3000, &report)
        #expect(report.sequence == store.sequence)
        #expect(try await archives.verify().isEmpty, "seed \(seed)")
        for sequence in try await archives.list()[0].restorable.joined() { try await store.check(sequence, "seed \(seed)") }
    }
}
