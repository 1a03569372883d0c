import Foundation
import TestSupport
import Testing

@testable import RecordLog

/// A commit that another store has decided, and that nobody has completed: it is shown whole, and nothing loses it.
@Suite struct DecidedCommitTests {
    private struct NotFound: Error {}

    private struct Decided {
        let disk: SimulatedFileSystem
        let path: String
        /// What the store holds with the commit.
        let people: SamplePair.Contents
        /// A handle of the store from before it got its newest index, and rows behind that.
        let handle: SampleStore
    }

    private func decided() throws -> Decided {
        for call in 0..<40 {
            let disk = SimulatedFileSystem(seed: 7)
            let pair = try SamplePair(disk)
            try pair.add("before")
            let place = 1 - pair.decider, path = SamplePair.paths[place], sample = [pair.first, pair.second][place]
            let handle = try open(path, disk)
            try sample.store.write { try sample.addOrDropLateIndex($0) }
            try pair.add("middle")
            disk.fail(at: disk.operationCount + call, .once(EIO))
            try? pair.add("new")
            disk.heal()
            guard try reader(path, disk).store.waiting?.state == .committed else { continue }
            var people = place == 0 ? pair.state.first : pair.state.second
            people[3] = .init(name: "new", age: 2, group: 1)
            return Decided(disk: disk, path: path, people: people, handle: handle)
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
    func itIsInTheIndexesThatAReaderMakes(follows: Bool) throws {
        let decided = try decided()
        if follows {
            _ = try decided.handle.store.refresh()
            #expect(decided.handle.store.writer.base != nil)
            try check(decided.handle, decided.people, "followed")
        } else {
            try check(try reader(decided.path, decided.disk), decided.people, "opened")
        }
    }

    @Test func aCopyHasIt() throws {
        let decided = try decided()
        _ = try decided.handle.store.copy(to: "copy", options: decided.handle.options)
        try check(try open("copy", decided.disk), decided.people, "the copy")
        try check(decided.handle, decided.people, "the handle that copies")
        #expect(try StoreVerification.verify(path: "copy", fileSystem: decided.disk).isSound)
    }
}
