import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Commits over several stores: all of them or none.
@Suite struct TwoPhaseCommitTests {
    private struct Refusal: Error {}

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `A commit over two stores is in both`(seed: UInt64) throws {
        let disk = SimulatedFileSystem(seed: seed)
        let pair = try SamplePair(disk)
        for number in 0..<5 { try pair.add("p\(number)") }
        #expect(try pair.mismatch == nil)
        #expect(try SamplePair.read(disk) == pair.state)
        let commit = try #require(try pair.first.store.commit(pair.first.store.snapshot().sequence))
        #expect(commit.author == "pair")
        for (sample, path) in zip([pair.first, pair.second], SamplePair.paths) { try sample.reopen(path: path) }
        #expect(try pair.mismatch == nil)
        for path in SamplePair.paths {
            let report = try StoreVerification.verify(path: path, fileSystem: disk)
            #expect(report.isSound, "\(report)")
        }
    }

    @Test
    func `A commit to two stores takes three syncs, to one store one`() throws {
        let disk = SimulatedFileSystem(seed: 2)
        let pair = try SamplePair(disk)
        try pair.add("warm")
        func costs(_ body: () throws -> Void) rethrows -> [DiskCall.Kind] {
            let before = disk.operationCount
            try body()
            return Array(disk.operations.dropFirst(before))
        }
        let two = try costs { try pair.add("two") }
        #expect(two.filter { $0 == .sync }.count == 3, "\(two)")
        #expect(two.count <= 3 + 10, "\(two)")
        // Compared with a commit to one store, only the frames of the prepared commit and the decision are extra.
        let sizes = pair.stores.map { $0.statistics.bytesAppended }
        try pair.add("three")
        #expect(zip(pair.stores, sizes).allSatisfy { $0.statistics.bytesAppended - $1 <= 640 })
        let one = try costs { try pair.first.insert(.init(name: "alone", age: 1, group: 1)) }
        let asGroup = try costs {
            try LogStore.write(to: pair.stores) { transactions in
                let row = try transactions[0].newRow(in: pair.first.table.id)
                try pair.first.put(transactions[0], row, .init(name: "alone", age: 2, group: 1))
            }
        }
        #expect(one.filter(\.isSync).count == 1 && asGroup == one, "\(one) \(asGroup)")
        let nothing = try costs { try LogStore.write(to: pair.stores) { _ in } }
        #expect(nothing.isEmpty)
    }

    @Test
    func `A body that throws changes neither store`() throws {
        let disk = SimulatedFileSystem(seed: 3)
        let pair = try SamplePair(disk) { $0.flushSize = 200 }
        try pair.add("a")
        #expect(throws: Refusal.self) {
            try LogStore.write(to: pair.stores) { transactions in
                for _ in 0..<50 { _ = try pair.add("lost", transactions) }
                throw Refusal()
            }
        }
        #expect(try pair.mismatch == nil && SamplePair.read(disk) == pair.state)
        try pair.add("b")
        #expect(try pair.mismatch == nil)
    }

    @Test
    func `Roles do not depend on the order of the stores in the call`() throws {
        let disk = SimulatedFileSystem(seed: 4)
        let pair = try SamplePair(disk)
        try LogStore.write(to: pair.stores.reversed()) { transactions in
            pair.state = try pair.add("backwards", [transactions[1], transactions[0]])
        }
        #expect(try pair.mismatch == nil)
    }

    /// The disk is full or fails at every call of a commit: both stores have the commit or neither, and usable handles continue.
    @Test(arguments: 0..<4)
    func `A failing disk leaves both or neither`(kind: Int) throws {
        var call = 0, isDone = false
        while !isDone {
            let disk = SimulatedFileSystem(seed: UInt64(call))
            let pair = try SamplePair(disk) { if kind == 3 { $0.zeroAheadBytes = 4096 } }
            try pair.add("before")
            let before = pair.state
            disk.fail(at: disk.operationCount + call, [.once(ENOSPC), .once(EIO), .syncLosesPages, .once(ENOSPC)][kind])
            var failure: StoreError?
            do { try pair.add("new") } catch { failure = error as? StoreError }
            disk.heal()
            isDone = failure == nil
            var after = pair.state
            after.first[before.first.count == 1 ? 2 : 0] = .init(name: "new", age: 1, group: 1)
            after.second[2] = .init(name: "new", age: 1, group: 1)
            if let failure {
                let isPoisoned = pair.stores.map { $0.writer(\.poison) != nil }
                if isPoisoned == [false, false] {
                    #expect(failure.code == .noSpace, "call \(call): \(failure)")
                    #expect(try pair.contents() == before && SamplePair.read(disk) == before, "call \(call)")
                    try pair.add("again")
                    #expect(try pair.mismatch == nil, "call \(call)")
                    call += 1
                    continue
                }
                let seen = try SamplePair.read(disk, backwards: call % 2 == 0)
                #expect(seen == before || seen == after, "call \(call): \(seen)")
            }
            let reopened = try SamplePair(disk)
            #expect(reopened.state == (isDone ? after : reopened.state == before ? before : after), "call \(call)")
            try reopened.add("later")
            #expect(try reopened.mismatch == nil && SamplePair.read(disk) == reopened.state, "call \(call)")
            call += 1
        }
        #expect(call > 5)
    }

    /// The power fails before, in and after every call of a commit over two stores, and again at every call that settles it.
    @Test(arguments: 0..<2)
    func `A crash at every call leaves both or neither`(coordinator: Int) throws {
        // The identities determine the commit coordinator.
        let seed = try #require((1...20 as ClosedRange<UInt64>).first { try SamplePair(SimulatedFileSystem(seed: $0)).coordinator == coordinator })
        var call = 0, isDone = false, decided = 0, cases = 0
        while !isDone {
            let disk = SimulatedFileSystem(seed: seed)
            let pair = try SamplePair(disk)
            try pair.add("before")
            let before = pair.state
            disk.fail(at: disk.operationCount + call)
            do {
                try pair.add("new")
                isDone = true
            } catch {}
            var after = before
            after.first[2] = .init(name: "new", age: 1, group: 1)
            after.second[2] = after.first[2]
            for loss in 0..<7 as Range<UInt64> {
                var left = disk.afterPowerLoss(seed: loss)
                let found = try SamplePair.read(left, backwards: loss % 2 == 0)
                #expect(found == before && !isDone || found == after, "call \(call), loss \(loss): \(found)")
                if found == after { decided += 1 }
                // A reader has looked. The next writer settles the commit the same way, whichever store is opened first, also if the power fails
                // meanwhile.
                for second in 0..<8 {
                    left = disk.afterPowerLoss(seed: loss)
                    left.fail(at: second)
                    open(left, backwards: second % 2 == 0)
                    left = left.afterPowerLoss(seed: loss &* 31 &+ UInt64(second))
                    #expect(try SamplePair.read(left, backwards: loss % 2 == 1) == found, "call \(call), loss \(loss), then \(second)")
                    let settled = try SamplePair(left)
                    #expect(settled.state == found, "call \(call), loss \(loss), then \(second)")
                    try settled.add("later")
                    #expect(try settled.mismatch == nil, "call \(call), loss \(loss), then \(second)")
                    cases += 1
                }
            }
            call += 1
        }
        #expect(decided > 0 && cases > 500)
    }

    private func open(_ disk: SimulatedFileSystem, backwards: Bool) {
        for path in backwards ? SamplePair.paths.reversed() : SamplePair.paths {
            var options = StoreOptions()
            options.fileSystem = disk
            options.lockTimeout = .zero
            _ = try? LogStore.open(path: path, options: options)
        }
    }

    /// Other processes read both files before each call: with handles that follow, and by opening them.
    @Test
    func `Readers never see half of a commit`() throws {
        let disk = SimulatedFileSystem(seed: 6)
        let pair = try SamplePair(disk)
        try pair.add("before")
        let reader = try SamplePair(disk), before = pair.state
        var after = before
        after.first[2] = .init(name: "new", age: 1, group: 1)
        after.second[2] = after.first[2]
        var seen: [Bool] = []
        disk.beforeEachCall = { _ in
            disk.beforeEachCall.map { hook in
                disk.beforeEachCall = nil
                defer { disk.beforeEachCall = hook }
                do {
                    for store in seen.count % 2 == 0 ? reader.stores : reader.stores.reversed() { _ = try store.refresh() }
                    let followed = try reader.contents(), opened = try SamplePair.read(disk, backwards: seen.count % 2 == 0)
                    #expect(followed == opened && (followed == before || followed == after), "call \(seen.count)")
                    seen.append(followed == after)
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        try pair.add("new")
        disk.beforeEachCall = nil
        #expect(seen.first == false && seen.last == true && seen == seen.sorted { !$0 && $1 }, "\(seen)")
        for store in reader.stores { _ = try store.refresh() }
        #expect(try reader.contents() == after)
        // The file may be behind a state that readers have seen.
        reader.state = after
        try reader.add("the reader's")
        #expect(try reader.mismatch == nil)
        #expect(try StoreVerification.verify(path: SamplePair.paths[1], fileSystem: disk).isSound)
    }

    // MARK: The coordinator's store is away

    /// A disk on which a save was decided and the other store not completed, and the paths of the two.
    private func interrupted(
        isDecided: Bool
    ) throws -> (disk: SimulatedFileSystem, coordinator: String, other: String, before: SamplePair.State) {
        for call in 0..<40 {
            let disk = SimulatedFileSystem(seed: 7)
            let pair = try SamplePair(disk)
            try pair.add("before")
            disk.fail(at: disk.operationCount + call)
            do {
                try pair.add("new")
                break
            } catch {}
            let left = disk.afterPowerLoss(seed: 1)
            let (coordinator, other) = (SamplePair.paths[pair.coordinator], SamplePair.paths[1 - pair.coordinator])
            guard let inDoubt = try readOnly(left, other).inDoubt, (inDoubt.state == .committed) == isDecided else { continue }
            return (left, coordinator, other, pair.state)
        }
        throw Refusal()
    }

    private func readOnly(_ disk: SimulatedFileSystem, _ path: String) throws -> LogStore {
        var options = StoreOptions()
        options.fileSystem = disk
        options.isReadOnly = true
        return try LogStore.open(path: path, options: options)
    }

    @Test(arguments: [true, false])
    func `Without the commit coordinator nothing is written`(isDecided: Bool) throws {
        let (disk, coordinator, other, _) = try interrupted(isDecided: isDecided)
        try disk.rename(coordinator, to: "elsewhere")
        let reader = try readOnly(disk, other)
        #expect(reader.inDoubt?.state == .undecided && reader.inDoubt?.coordinatorPath == coordinator)
        #expect(try SampleStore(reading: reader)?.contents(reader.snapshot()).count == 1)
        let error = #expect(throws: StoreError.self) { try SampleStore(fileSystem: disk, path: other) }
        #expect(error?.code == .undecided && error?.path == other && error?.offset != nil && error?.description.contains(coordinator) == true)
        guard case .inDoubt(_, coordinator, .undecided) = try StoreInspection.inspect(path: other, fileSystem: disk).tail else {
            Issue.record("the inspection reports another state")
            return
        }
        #expect(try !StoreVerification.verify(path: other, fileSystem: disk).isSound)
        // Another store at the coordinator's path does not decide.
        _ = try SampleStore(fileSystem: disk, path: coordinator)
        #expect(throws: StoreError.self) { try SampleStore(fileSystem: disk, path: other) }
        // The coordinator is found beside the other file.
        try disk.rename("elsewhere", to: "\(other.split(separator: "/")[0])/\(coordinator.split(separator: "/")[1])")
        let sample = try SampleStore(fileSystem: disk, path: other)
        #expect(try sample.contents(sample.store.snapshot()).count == (isDecided ? 2 : 1))
        try sample.store.close()
        #expect(try StoreVerification.verify(path: other, fileSystem: disk).isSound)
    }

    @Test
    func `A decision outlives compaction, checkpoints and salvage of its store`() throws {
        for way in 0..<4 {
            let (disk, coordinator, other, _) = try interrupted(isDecided: true)
            let deciding = try SampleStore(fileSystem: disk, path: coordinator)
            for number in 0..<3 { try deciding.insert(.init(name: "more \(number)", age: 1, group: 1)) }
            switch way {
            case 0: _ = try deciding.store.compact()
            case 1: _ = try deciding.store.compact(keeping: .commits(1))
            case 2: try deciding.store.checkpoint()
            default: break
            }
            try deciding.store.close()
            if way == 3 {
                var options = StoreOptions()
                options.fileSystem = disk
                _ = try StoreSalvage.salvage(path: coordinator, to: "salvaged", options: options)
                try disk.rename("salvaged", to: coordinator)
            }
            let sample = try SampleStore(fileSystem: disk, path: other)
            #expect(try sample.contents(sample.store.snapshot()).count == 2, "way \(way)")
        }
    }

    @Test(arguments: [true, false])
    func `Salvage takes a decided commit`(isDecided: Bool) throws {
        let (disk, _, other, _) = try interrupted(isDecided: isDecided)
        var options = StoreOptions()
        options.fileSystem = disk
        let report = try StoreSalvage.salvage(path: other, to: "salvaged", options: options)
        #expect(report.rows == (isDecided ? 2 : 1), "\(report)")
        let sample = try SampleStore(fileSystem: disk, path: "salvaged")
        #expect(try sample.contents(sample.store.snapshot()).count == (isDecided ? 2 : 1))
    }

    @Test
    func `Settled decisions are forgotten`() throws {
        let disk = SimulatedFileSystem(seed: 9)
        let pair = try SamplePair(disk)
        for number in 0..<4 { try pair.add("\(number)") }
        func decisions() throws -> Int { try CommitDecisions(pair.stores[pair.coordinator].snapshot())?.list.count ?? -1 }
        #expect(try decisions() == 1)
        // A handle that did not take part keeps decisions that it cannot check, until the same stores meet again.
        try pair.first.reopen(path: SamplePair.paths[0])
        try pair.second.reopen(path: SamplePair.paths[1])
        try pair.add("more")
        #expect(try decisions() == 1)
        let third = try SampleStore(fileSystem: disk, path: "third") { $0.lockTimeout = .zero }
        let deciding = [pair.first, pair.second][pair.coordinator]
        try LogStore.write(to: [deciding.store, third.store]) { transactions in
            try third.put(transactions[1], try transactions[1].newRow(in: third.table.id), .init(name: "x", age: 1, group: 1))
            try deciding.put(transactions[0], try transactions[0].newRow(in: deciding.table.id), .init(name: "x", age: 1, group: 1))
        }
        #expect(try (1...2).contains(CommitDecisions(deciding.store.snapshot())?.list.count ?? -1))
    }

    @Test
    func `Stores in memory commit last`() throws {
        let disk = SimulatedFileSystem(seed: 10)
        let lasting = try SampleStore(fileSystem: disk, path: "lasting")
        let memory = try SampleStore(fileSystem: MemoryFileSystem(), path: "memory")
        func add(_ name: String) throws {
            try LogStore.write(to: [memory.store, lasting.store]) { transactions in
                for (transaction, sample) in zip(transactions, [memory, lasting]) {
                    let person = SampleStore.Person(name: name, age: 1, group: 1)
                    try sample.put(transaction, try transaction.newRow(in: sample.table.id), person)
                }
            }
        }
        let before = disk.operationCount
        try add("a")
        #expect(disk.operations.dropFirst(before).filter(\.isSync).count == 1)
        disk.fail(at: disk.operationCount, .once(ENOSPC))
        #expect(throws: StoreError.self) { try add("b") }
        #expect(memory.store.snapshot().rowCount(memory.table.id) == 1 && lasting.store.snapshot().rowCount(lasting.table.id) == 1)
        disk.heal()
        try add("c")
        #expect(memory.store.snapshot().rowCount(memory.table.id) == 2 && lasting.store.snapshot().rowCount(lasting.table.id) == 2)
    }

    @Test
    func `Three stores take one commit`() throws {
        var call = 0, isDone = false
        while !isDone {
            let disk = SimulatedFileSystem(seed: 11)
            let samples = try (0..<3).map { number in
                try SampleStore(fileSystem: disk, path: "s\(number)") {
                    $0.lockTimeout = .zero
                    $0.durability = number == 1 ? .relaxed : .full
                }
            }
            disk.fail(at: disk.operationCount + call, .once(EIO))
            do {
                try LogStore.write(to: samples.map(\.store)) { transactions in
                    for (transaction, sample) in zip(transactions, samples) {
                        try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: "x", age: 1, group: 1))
                    }
                }
                isDone = true
            } catch {}
            disk.heal()
            let counts = try (0..<3).map { number in
                let sample = try SampleStore(fileSystem: disk, path: "s\(number)") { $0.lockTimeout = .zero }
                return try sample.contents(sample.store.snapshot()).count
            }
            #expect(counts == [0, 0, 0] && !isDone || counts == [1, 1, 1], "call \(call): \(counts)")
            call += 1
        }
        #expect(call > 8)
    }
}
