import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// A store opened as of commits of its past, beside the store as it is now.
@Suite struct PastCommitTests {
    /// The store's options with a past commit.
    private func options(_ store: BackedUpStore, _ past: PastCommit) -> StoreOptions {
        var options = store.options(store.files)
        options.asOf = past
        return options
    }

    private func open(_ store: BackedUpStore, _ past: PastCommit) throws -> LogStore {
        try LogStore.open(path: SampleStore.path, options: options(store, past))
    }

    private func check(_ store: BackedUpStore, _ sequences: some Sequence<UInt64>, _ label: String) throws {
        for sequence in sequences {
            let past = try open(store, .number(sequence))
            #expect(past.snapshot().sequence == sequence && past.showsPast, "\(label)")
            let difference = try store.difference(past, sequence)
            #expect(difference == nil, "\(label), commit \(sequence)")
            try past.close()
        }
    }

    @Test(arguments: [1, 3, 7, 100])
    func `Each commit is shown with its rows and indexes, wherever the checkpoints are`(commitsBetweenCheckpoints: Int) throws {
        let store = try BackedUpStore()
        for number in 0..<24 {
            try store.commit(number)
            if number % commitsBetweenCheckpoints == 0 { try store.sample.store.checkpoint() }
        }
        try check(store, 1...store.sequence, "checkpoints every \(commitsBetweenCheckpoints) commits")
    }

    @Test
    func `A past handle keeps its commit while another handle commits, checkpoints and compacts, and sees nothing of that`() throws {
        let store = try BackedUpStore()
        for number in 0..<12 { try store.commit(number) }
        let middle = store.sequence - 4
        let past = try open(store, .number(middle)), newest = try open(store, .number(store.sequence))
        let last = store.sequence
        for number in 12..<18 { try store.commit(number) }
        try store.sample.store.checkpoint()
        for handle in [past, newest] {
            let known = handle.snapshot().sequence
            #expect(try handle.refresh().sequence == known && handle.follow().sequence == known && handle.isUpToDate(handle.snapshot()))
        }
        _ = try store.sample.store.compact()
        try store.commit(19)
        #expect(try past.refresh().sequence == middle && newest.follow().sequence == last)
        #expect(try store.difference(past, middle) == nil)
        #expect(try store.difference(newest, last) == nil)
    }

    @Test(arguments: [0, 1, 5, 100])
    func `Commits before a compaction are gone, and the error names those that are left`(keeping commits: Int) throws {
        let store = try BackedUpStore()
        for number in 0..<16 { try store.commit(number) }
        _ = try store.sample.store.compact(keeping: .commits(commits))
        let compacted = store.sequence
        for number in 16..<20 { try store.commit(number) }
        let first = UInt64(max(1, Int(compacted) - commits))
        try check(store, first...store.sequence, "a window of \(commits)")
        guard first > 1 else { return }
        #expect {
            _ = try open(store, .number(first - 1))
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .noSuchCommit && error?.remedy.contains("commits \(first) to \(store.sequence)") == true
        }
    }

    @Test(arguments: [0, 1000, .max])
    func `A number before the first commit, or behind the last one, is an error`(number: UInt64) throws {
        let store = try BackedUpStore()
        for number in 0..<5 { try store.commit(number) }
        #expect {
            _ = try open(store, .number(number))
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .noSuchCommit && error?.remedy.contains("commits 1 to \(store.sequence)") == true
        }
    }

    @Test(arguments: [1, 4, 100])
    func `A time finds the last commit at or before it`(commitsBetweenCheckpoints: Int) throws {
        let clock = SetClock(MemoryFileSystem())
        let store = try BackedUpStore(files: clock)
        var times: [UInt64: Int64] = [store.sequence: clock.time]
        for number in 0..<12 {
            clock.time += 1000
            try store.commit(number)
            times[store.sequence] = clock.time
            if number % commitsBetweenCheckpoints == 0 { try store.sample.store.checkpoint() }
        }
        for (sequence, time) in times {
            let next = times[sequence + 1]
            for asked in [time, time + 1, (next ?? time + 2000) - 1] {
                let past = try open(store, .time(asked))
                #expect(past.snapshot().sequence == sequence, "\(asked)")
                #expect(try store.difference(past, sequence) == nil)
            }
        }
        #expect(try open(store, .time(.max)).snapshot().sequence == store.sequence)
        let earliest = times.values.min() ?? 0
        for asked in [earliest - 1, 0, .min] {
            #expect { _ = try open(store, .time(asked)) } throws: { ($0 as? StoreError)?.code == .noSuchCommit }
        }
    }

    @Test
    func `Where the clock fell back, the last commit in the order of the log is found`() throws {
        let clock = SetClock(MemoryFileSystem())
        let store = try BackedUpStore(files: clock)
        for (number, time) in [5000, 6000, 5500, 7000, 5800].enumerated() {
            clock.time = Int64(time)
            try store.commit(number)
            if number == 2 { try store.sample.store.checkpoint() }
        }
        let last = store.sequence
        for (asked, wanted) in [(5800, last), (5799, last - 2), (6500, last), (5499, last - 4)] {
            #expect(try open(store, .time(Int64(asked))).snapshot().sequence == wanted, "\(asked)")
        }
    }

    @Test
    func `An opening in the past writes nothing, takes no lock, and works on a file that cannot be written`() throws {
        let memory = MemoryFileSystem(), store = try BackedUpStore(files: memory)
        for number in 0..<20 { try store.commit(number) }
        let before = memory.contents(of: SampleStore.path)
        let lock = try memory.open(SampleStore.path, .readWrite)
        try lock.lock(timeout: .zero)
        defer { lock.unlock() }
        for sequence in 1...store.sequence { try open(store, .number(sequence)).close() }
        #expect(memory.contents(of: SampleStore.path) == before)
        #expect(memory.contents(of: SampleStore.path + ".scratch") == nil)
    }

    @Test
    func `A torn tail and commits that no superblock names do not disturb the past`() throws {
        let memory = MemoryFileSystem(), store = try BackedUpStore(files: memory)
        for number in 0..<8 { try store.commit(number) }
        let end = store.sample.store.log.end
        let file = try memory.open(SampleStore.path, .readWrite)
        try [UInt8](repeating: 7, count: 300).withUnsafeBytes { try file.write($0, at: end) }
        try check(store, 1...store.sequence, "a torn tail")
    }

    @Test
    func `A write through a past handle is refused, and says as of which commit the store is open`() throws {
        let store = try BackedUpStore()
        for number in 0..<4 { try store.commit(number) }
        let past = try open(store, .number(3))
        #expect {
            try past.write { _ = try $0.newRow(in: store.sample.table.id) }
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .readOnly && error?.message.contains("commit 3") == true
        }
        #expect { _ = try past.compact() } throws: { ($0 as? StoreError)?.code == .readOnly }
    }

    @Test
    func `A copy of a past handle is a store of that commit`() throws {
        let store = try BackedUpStore()
        for number in 0..<12 { try store.commit(number) }
        let target = MemoryFileSystem(), past = try open(store, .number(5))
        try past.copy(to: "copy", options: store.options(target))
        let copy = try LogStore.open(path: "copy", options: store.options(target))
        #expect(copy.snapshot().sequence == 5)
        #expect(try store.difference(copy, 5) == nil)
    }

    @Test
    func `Damage behind a past commit does not matter, damage before it is an error`() throws {
        let memory = MemoryFileSystem(), store = try BackedUpStore(files: memory)
        for number in 0..<10 { try store.commit(number) }
        let commit = try #require(try store.sample.store.commit(6))
        let file = try memory.open(SampleStore.path, .readWrite)
        try [UInt8](repeating: 0xA5, count: 16).withUnsafeBytes { try file.write($0, at: commit.offset + 40) }
        try check(store, 1...5, "before the damage")
        for sequence in UInt64(6)...store.sequence {
            #expect { _ = try open(store, .number(sequence)) } throws: { ($0 as? StoreError)?.code == .corrupt }
        }
    }

    @Test
    func `A replica and a restored store show the past that their archives have`() async throws {
        let store = try BackedUpStore(), replicated = MemoryFileSystem(), restored = MemoryFileSystem()
        let replica = StoreReplica(from: store.destination, at: SampleStore.path, options: store.options(replicated))
        for number in 0..<14 {
            try store.commit(number)
            if number == 5 { try store.sample.store.checkpoint() }
            if number % 4 == 1 {
                try await store.backUp()
                try await replica.update()
            }
        }
        let last = store.sequence
        try await store.backUp()
        try await replica.update()
        _ = try await store.restore(at: .commit(last - 2), to: restored)
        for (files, newest) in [(replicated, last), (restored, last - 2)] {
            for sequence in 1...newest {
                var options = store.options(files)
                options.asOf = .number(sequence)
                let past = try LogStore.open(path: SampleStore.path, options: options)
                let difference = try store.difference(past, sequence)
                #expect(past.snapshot().sequence == sequence && difference == nil, "commit \(sequence)")
            }
        }
    }

    @Test
    func `An opening reads the log from the last checkpoint before the commit, and no more`() throws {
        let store = try BackedUpStore()
        for number in 0..<60 {
            // An opening also counts the rows of an index that it builds.
            if number % 6 != 5 { try store.commit(number) }
            if number % 10 == 9 { try store.sample.store.checkpoint() }
        }
        let sizes = try (1...store.sequence).map { try open(store, .number($0)).statistics.bytesReplayed }
        let whole = try LogStore.open(path: SampleStore.path, options: rebuilding(store)).statistics.bytesReplayed
        #expect(sizes.allSatisfy { $0 < whole / 3 }, "\(sizes) of \(whole)")
    }

    /// Files with a clock that a test sets.
    private final class SetClock: ForwardingFileSystem, @unchecked Sendable {
        // Unchecked: one thread uses it.
        var time: Int64 = 1000

        override func now() -> Int64 { time }
    }

    private func rebuilding(_ store: BackedUpStore) -> StoreOptions {
        var options = store.options(store.files)
        options.isReadOnly = true
        options.rebuildsIndexes = true
        return options
    }
}
