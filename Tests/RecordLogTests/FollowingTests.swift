import Foundation
import Testing

@testable import RecordLog

@Suite struct FollowingTests {
    @Test func aHandleFollowsAnothersCommitsByLookingAtTheHeader() throws {
        let sample = try SampleStore()
        let row = try sample.insert(.init(name: "a", age: 1, group: 1))
        var options = sample.options
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        let known = reader.snapshot()
        #expect(try reader.follow() === known, "nothing is new")
        try sample.store.write { try sample.put($0, row, .init(name: "b", age: 2, group: 1)) }
        #expect(reader.snapshot() === known)
        let newest = try reader.follow()
        #expect(newest.sequence == sample.store.snapshot().sequence && newest.sequence > known.sequence)
        try sample.store.compact(findsHolders: false)
        let compacted = try reader.follow()
        #expect(compacted.file !== newest.file && compacted.sequence == newest.sequence, "into the file that took its place")
        try sample.store.write { _ = try $0.delete(sample.reference(row)) }
        #expect(try reader.follow().row(sample.reference(row)) == nil)
        try reader.close()
        #expect(try reader.follow() === reader.snapshot(), "a closed handle keeps what it knew")
    }

    @Test func aRowIsFoundAtEachOfItsVersions() throws {
        let sample = try SampleStore()
        let row = try sample.insert(.init(name: "first", age: 1, group: 1)), reference = sample.reference(row)
        let early = sample.store.snapshot()
        try sample.store.write { try sample.put($0, row, .init(name: "second", age: 2, group: 1)) }
        try sample.store.write { _ = try $0.delete(reference) }
        try sample.store.write { try sample.put($0, row, .init(name: "fourth", age: 4, group: 1)) }
        let newest = sample.store.snapshot()
        func age(_ snapshot: Snapshot, _ version: UInt32) throws -> Int64? {
            try snapshot.row(reference, version: version).map { try sample.person($0, snapshot.value).age }
        }
        #expect(try [1, 2, 3, 4, 5].map { try age(newest, $0) } == [1, 2, nil, 4, nil], "the third is a deletion")
        #expect(try [1, 2].map { try age(early, $0) } == [1, nil], "a snapshot has no future")
        #expect(try newest.row(RowReference(table: sample.table.id, row: 99), version: 1) == nil)
        try sample.store.compact(findsHolders: false)
        #expect(try [2, 4].map { try age(sample.store.snapshot(), $0) } == [nil, 4], "a compaction leaves old versions behind")
    }

    @Test func aWatcherReturnsAtAWriteAndAtTheEndOfItsTime() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-watched-\(UUID()).bin").path
        try Data([1]).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let watcher = FileWatchers.watcher(of: path)
        let clock = ContinuousClock()
        #expect(clock.measure { watcher.wait(milliseconds: 20) } >= .milliseconds(15))
        #if os(Linux)
            #expect(watcher is NotifiedWatcher)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            handle.write(Data([2]))
            #expect(clock.measure { watcher.wait(milliseconds: 60_000) } < .seconds(30), "told of a write that came before")
            #expect(clock.measure { watcher.wait(milliseconds: 20) } >= .milliseconds(15), "told once")
            try handle.close()
        #endif
        let other = FileWatchers.watcher(of: path + ".missing")
        #expect(clock.measure { other.wait(milliseconds: 20) } >= .milliseconds(15))
    }
}
