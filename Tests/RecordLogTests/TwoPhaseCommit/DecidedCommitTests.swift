import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// A commit that another store has decided and no handle has completed: it is visible as a whole, and never lost.
@Suite struct DecidedCommitTests {
    private struct NotFound: Error {}

    private struct Decided {
        let disk: SimulatedFileSystem
        let path: String
        let coordinator: String
        /// The store's content with the commit.
        let people: SamplePair.Contents
        /// A handle opened before the store got its newest index, with rows after that.
        let handle: SampleStore
    }

    private func decided() throws -> Decided {
        for call in 0..<40 {
            let disk = SimulatedFileSystem(seed: 7)
            let pair = try SamplePair(disk)
            try pair.add("before")
            let position = 1 - pair.coordinator, path = SamplePair.paths[position], sample = [pair.first, pair.second][position]
            let handle = try open(path, disk)
            try sample.store.write { try sample.addOrDropLateIndex($0) }
            try pair.add("middle")
            disk.fail(at: disk.operationCount + call, .once(EIO))
            try? pair.add("new")
            disk.heal()
            guard try reader(path, disk).store.inDoubt?.state == .committed else { continue }
            var people = position == 0 ? pair.state.first : pair.state.second
            people[3] = .init(name: "new", age: 2, group: 1)
            return Decided(disk: disk, path: path, coordinator: SamplePair.paths[pair.coordinator], people: people, handle: handle)
        }
        throw NotFound()
    }

    private func open(_ path: String, _ disk: SimulatedFileSystem) throws -> SampleStore {
        try SampleStore(fileSystem: disk, path: path) {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 0
            $0.lockTimeout = .zero
        }
    }

    private func reader(_ path: String, _ disk: SimulatedFileSystem) throws -> SampleStore {
        var options = StoreOptions()
        options.fileSystem = disk
        options.isReadOnly = true
        return try #require(SampleStore(reading: try LogStore.open(path: path, options: options)))
    }

    private func check(_ sample: SampleStore, _ people: SamplePair.Contents, _ what: Comment) throws {
        let mismatch = try sample.mismatch(sample.store.snapshot(), people)
        #expect(mismatch == nil, what)
    }

    @Test(arguments: [true, false])
    func `A decided commit is in the indexes that a reader builds`(follows: Bool) throws {
        let decided = try decided()
        if follows {
            _ = try decided.handle.store.refresh()
            #expect(decided.handle.store.writer(\.base) != nil)
            try check(decided.handle, decided.people, "followed")
        } else {
            try check(try reader(decided.path, decided.disk), decided.people, "opened")
        }
    }

    @Test(arguments: [.none, .commits(1), .since(0)] as [HistoryWindow])
    func `A compaction keeps a decided commit`(window: HistoryWindow) throws {
        let decided = try decided()
        _ = try decided.handle.store.compact(keeping: window)
        try check(decided.handle, decided.people, "the handle that compacts")
        try check(try open(decided.path, decided.disk), decided.people, "opened")
        #expect(try StoreVerification.verify(path: decided.path, fileSystem: decided.disk).isSound)
    }

    @Test
    func `A copy has a decided commit`() throws {
        let decided = try decided()
        _ = try decided.handle.store.copy(to: "copy", options: decided.handle.options)
        try check(try open("copy", decided.disk), decided.people, "the copy")
        try check(decided.handle, decided.people, "the handle that copies")
        #expect(try StoreVerification.verify(path: "copy", fileSystem: decided.disk).isSound)
    }

    @Test
    func `A compaction continues if another handle completes the decided commit`() throws {
        let decided = try decided()
        var settled = decided.people
        var isFirst = true
        _ = try decided.handle.store.compact { _ in
            guard isFirst else { return true }
            isFirst = false
            do {
                let other = try open(decided.path, decided.disk)
                other.people = decided.people
                try other.insert(.init(name: "behind it", age: 7, group: 2))
                settled = other.people
            } catch {
                Issue.record("\(error)")
            }
            return true
        }
        #expect(settled.count == decided.people.count + 1)
        try check(decided.handle, settled, "the handle that compacts")
        try check(try open(decided.path, decided.disk), settled, "opened")
    }

    /// The commit cannot be completed while the other store is missing.
    @Test
    func `A compaction without the commit coordinator leaves the store as it was`() throws {
        let decided = try decided()
        _ = try decided.handle.store.refresh()
        try decided.disk.rename(decided.coordinator, to: "elsewhere")
        let error = #expect(throws: StoreError.self) { try decided.handle.store.compact() }
        #expect(error?.code == .undecided)
        try check(decided.handle, decided.people, "what was shown stays so")
        try decided.disk.rename("elsewhere", to: decided.coordinator)
        _ = try decided.handle.store.compact()
        try check(try open(decided.path, decided.disk), decided.people, "opened")
    }

    /// If the decision itself can be lost with the power, both stores are without the commit until a handle has completed it.
    @Test
    func `A crash at every call of a compaction leaves a decided commit in both stores or in neither`() throws {
        var call = 0, isDone = false, kept = 0
        while !isDone {
            let decided = try decided()
            decided.disk.fail(at: decided.disk.operationCount + call)
            do {
                _ = try decided.handle.store.compact(keeping: .commits(call % 3))
                isDone = true
            } catch {}
            for loss in 0..<6 as Range<UInt64> {
                let left = decided.disk.afterPowerLoss(seed: loss)
                let seen = try SamplePair.read(left, backwards: loss % 2 == 0), count = seen.first.count
                #expect(seen.second.count == count && (count == 3 || count == 2 && !isDone), "call \(call), loss \(loss): \(seen)")
                let pair = try SamplePair(left), mismatch = try pair.mismatch(seen)
                #expect(mismatch == nil, "call \(call), loss \(loss)")
                kept += count - 2
            }
            call += 1
        }
        #expect(call > 8 && kept > 6)
    }
}
