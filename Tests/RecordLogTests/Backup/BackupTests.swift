import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct BackupTests {
    @Test(arguments: [1, 4, 30])
    func `Each commit of a store comes back, from a base archive and from increments, with checkpoints between them`(
        commitsBetweenBackups: Int
    ) async throws {
        let store = try BackedUpStore()
        for number in 0..<24 {
            try store.commit(number)
            if number % 7 == 3 { try store.sample.store.checkpoint() }
            if number % commitsBetweenBackups == 0 { try await store.backUp() }
        }
        let report = try await store.backUp()
        #expect(report.sequence == store.sequence)
        for sequence in 1...store.sequence { try await store.check(sequence, "backups after \(commitsBetweenBackups) commits") }
    }

    @Test(arguments: [1, 600, 5000])
    func `Small archives hold a commit each, and give each one back`(bytesMax: UInt64) async throws {
        let store = try BackedUpStore()
        try await store.backUp()
        for number in 0..<12 { try store.commit(number) }
        let report = try await store.backUp(bytesMax: bytesMax)
        #expect(bytesMax == 1 ? report.archives == 12 : report.archives > 1)
        #expect(report.baseArchives == 0)
        for sequence in 1...store.sequence { try await store.check(sequence, "archives of \(bytesMax) bytes") }
    }

    @Test(arguments: [0, 1, 5, 100])
    func `Commits before and after compactions come back, with a history window and without`(keeping commits: Int) async throws {
        let store = try BackedUpStore()
        for number in 0..<40 {
            try store.commit(number)
            if number % 3 == 0 { try await store.backUp() }
            if number % 13 == 12 {
                try await store.backUp()
                _ = try store.sample.store.compact(keeping: .commits(commits))
                if number % 2 == 0 { try await store.backUp() }
            }
        }
        let report = try await store.backUp()
        #expect(report.missing.isEmpty)
        for sequence in 1...store.sequence { try await store.check(sequence, "a window of \(commits)") }
    }

    @Test
    func `Commits that a compaction took before a backup are said to be missing, and the others come back`() async throws {
        let store = try BackedUpStore()
        for number in 0..<6 { try store.commit(number) }
        try await store.backUp()
        let last = store.sequence
        for number in 6..<12 { try store.commit(number) }
        _ = try store.sample.store.compact(keeping: .commits(2))
        let first = store.sequence - 2
        let report = try await store.backUp()
        #expect(report.missing == [last + 1...first - 1])
        for sequence in Array(1...last) + Array(first...store.sequence) { try await store.check(sequence, "around the gap") }
        await #expect { _ = try await store.restore(at: .commit(last + 1)) } throws: { error in
            let error = error as? BackupError
            return error?.code == .notCovered && error?.message.contains("commits 1 to \(last), commits \(first) to \(store.sequence)") == true
        }
    }

    @Test(arguments: [false, true])
    func `A backup without new commits puts nothing`(hasCheckpoint: Bool) async throws {
        let store = try BackedUpStore()
        try store.commit(1)
        try await store.backUp()
        if hasCheckpoint { try store.sample.store.checkpoint() }
        let report = try await store.backUp()
        #expect(report.archives == 0 && report.bytes == 0 && report.sequence == store.sequence)
    }

    @Test
    func `A store without a commit is backed up as nothing`() async throws {
        let files = MemoryFileSystem(), destination = DirectoryDestination(path: "b", fileSystem: MemoryFileSystem())
        var options = StoreOptions()
        options.fileSystem = files
        let store = try LogStore.open(path: "empty", options: options)
        let report = try await StoreBackup(of: "empty", to: destination, options: options).run()
        #expect(report.archives == 0 && report.lineage == nil)
        #expect(try await destination.list(prefix: "").isEmpty)
        try store.close()
    }

    @Test
    func `A restore to a time gives the last commit at or before it, also where times fall`() async throws {
        let store = try BackedUpStore()
        for number in 0..<9 {
            try store.commit(number)
            if number % 2 == 0 { try await store.backUp() }
        }
        let footers = try store.footers()
        for time in footers.values.flatMap({ [$0 - 1, $0, $0 + 1] }) {
            let wanted = footers.filter { $0.value <= time }.keys.max()
            guard let wanted else {
                await #expect(throws: BackupError.self) { _ = try await store.restore(at: .time(time)) }
                continue
            }
            let restored = try await store.restore(at: .time(time))
            #expect(restored.report.sequence == wanted)
            #expect(try store.difference(restored.store, wanted) == nil)
        }
    }

    @Test
    func `A restored store is backed up at once to the same destination, beside the line that it came from`() async throws {
        let store = try BackedUpStore()
        for number in 0..<10 {
            try store.commit(number)
            if number % 3 == 0 { try await store.backUp() }
        }
        try await store.backUp()
        let fork = store.sequence - 4, files = MemoryFileSystem()
        let (restored, report) = try await store.restore(at: .commit(fork), to: files)
        let sample = try #require(SampleStore(reading: restored))
        sample.people = try #require(store.states[fork])
        var states = [fork + 1: sample.people]
        let backup = StoreBackup(of: SampleStore.path, to: store.destination, options: store.options(files))
        for age in 1...5 {
            try sample.insert(.init(name: "child", age: Int64(age), group: 9))
            states[restored.snapshot().sequence] = sample.people
            let done = try await backup.run()
            #expect(done.lineage == report.lineage && done.baseArchives == 0)
        }
        // The old line goes on too.
        for number in 10..<14 { try store.commit(number) }
        #expect(try await store.backUp().lineage == store.sample.store.storeID)
        for sequence in 1...store.sequence {
            let (other, _) = try await store.restore(at: .commit(sequence), lineage: store.sample.store.storeID)
            #expect(try store.difference(other, sequence) == nil, "the old line, commit \(sequence)")
        }
        for sequence in 1...restored.snapshot().sequence {
            let (other, source) = try await store.restore(at: .commit(sequence), lineage: report.lineage)
            let wanted = try #require(states[sequence] ?? store.states[sequence])
            #expect(source.source == report.lineage)
            #expect(try SampleStore(reading: other)?.mismatch(other.snapshot(), wanted) == nil, "the new line, commit \(sequence)")
        }
    }

    @Test
    func `A copy that goes on by itself is refused, and so is an older state; the archives stay as they are`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(files: files)
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        let copy = try #require(files.contents(of: SampleStore.path))
        for number in 4..<8 { try store.commit(number) }
        try await store.backUp()
        let before = try await store.destination.list(prefix: "")
        for extra in 0..<6 {
            let other = MemoryFileSystem()
            other.setContents(of: SampleStore.path, to: copy)
            let sample = try SampleStore(fileSystem: other) { $0.segmentShift = 16 }
            for age in 0..<extra { try sample.insert(.init(name: "other", age: Int64(age), group: 3)) }
            await #expect { _ = try await StoreBackup(of: SampleStore.path, to: store.destination, options: sample.options).run() } throws: {
                ($0 as? BackupError)?.code == .diverged
            }
        }
        #expect(try await store.destination.list(prefix: "") == before)
    }

    @Test
    func `A restore replaces a store only if it is told to, and then whole`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(files: files)
        for number in 0..<5 { try store.commit(number) }
        try await store.backUp()
        let restore = StoreRestore(from: store.destination, to: SampleStore.path, options: store.options(files))
        await #expect { _ = try await restore.run() } throws: { ($0 as? BackupError)?.code == .exists }
        try store.commit(6)
        let report = try await restore.run(at: .commit(4), replacing: true)
        let opened = try LogStore.open(path: SampleStore.path, options: store.options(files))
        #expect(report.sequence == 4 && opened.snapshot().sequence == 5)
        #expect(try store.difference(opened, 4) == nil)
        // The open handle has seen later commits.
        #expect { try store.commit(0) } throws: { ($0 as? StoreError)?.code == .superseded }
    }
}

extension BackedUpStore {
    /// The time of each commit.
    func footers() throws -> [UInt64: Int64] {
        let snapshot = sample.store.snapshot()
        var scan = CommitScan(from: Snapshot.empty(snapshot.file, snapshot.counters), to: snapshot), found: [UInt64: Int64] = [:]
        while let footer = try scan.next() { found[footer.sequence] = footer.timestamp }
        return found
    }
}
