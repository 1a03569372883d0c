import Foundation
import Testing

@testable import RecordLog

/// Commits that are durable through synced writes of their bytes.
@Suite struct SyncedWriteTests {
    /// On the file system of temporary files, and on one in memory if the system has it.
    @Test(arguments: [FileManager.default.temporaryDirectory.path, "/dev/shm"])
    func `A durable write writes its bytes`(directory: String) throws {
        guard FileManager.default.isWritableFile(atPath: directory) else { return }
        let path = directory + "/synced-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try POSIXFileSystem().open(path, .create)
        var model = [UInt8](repeating: 0, count: 40_000)
        func write(_ bytes: [UInt8], at offset: Int, _ write: (UnsafeRawBufferPointer, UInt64) throws -> Void) throws {
            try bytes.withUnsafeBytes { try write($0, UInt64(offset)) }
            model.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        try write(model, at: 0) { try file.write($0, at: $1) }
        for (number, offset) in [0, 4095, 20_000, 30_000].enumerated() {
            let bytes = (0..<9000).map { UInt8(truncatingIfNeeded: $0 &+ number) }
            try write(bytes, at: offset) { try file.writeDurably($0, at: $1) }
            #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == model)
        }
    }

    private func kinds(_ system: SimulatedFileSystem, _ body: () throws -> Void) rethrows -> [DiskCall.Kind] {
        let before = system.operationCount
        try body()
        return Array(system.operations[before...])
    }

    /// Unsynced bytes before a commit must be on the disk before the commit is acknowledged.
    @Test
    func `A commit behind unsynced bytes syncs the file`() throws {
        let system = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: system)
        func insert(_ name: String) throws -> [DiskCall.Kind] {
            try kinds(system) { try sample.insert(.init(name: name, age: 1, group: 1)) }
        }
        #expect(try insert("a") == [.syncedWrite, .write])
        // Another handle's commit without a sync.
        let other = try SampleStore(fileSystem: system) { $0.durability = .relaxed }
        try other.insert(.init(name: "b", age: 1, group: 1))
        sample.people = try sample.contents(other.store.snapshot())
        #expect(try insert("c") == [.write, .sync, .write])
        #expect(try insert("d") == [.syncedWrite, .write])
        try sample.store.checkpoint()
        #expect(try insert("e").contains(.sync))
        #expect(try insert("f") == [.syncedWrite, .write])
        // The power fails, and everything unsynced is lost, including the superblocks since the last sync.
        var options = sample.options
        options.fileSystem = system.afterPowerLoss(seed: PowerLoss.nothing.rawValue)
        let again = try LogStore.open(path: SampleStore.path, options: options)
        #expect(try sample.contents(again.snapshot()) == sample.people)
    }

    /// The superblocks on the disk are as old as the file's last sync, which is as old as the zeroes written ahead.
    @Test
    func `The next zeroes are written with a sync`() throws {
        let system = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: system) { $0.zeroAheadBytes = 4096 }
        var synced = 0, alone = 0
        for number in 0..<200 {
            let calls = try kinds(system) { try sample.insert(.init(name: "\(number)", age: 1, group: 1)) }
            if calls.contains(.sync) { synced += 1 } else { alone += 1 }
        }
        #expect(synced >= 3 && alone > synced * 5, "\(synced) synced the file, \(alone) did not")
        for seed in 0..<24 as Range<UInt64> {
            var options = sample.options
            options.fileSystem = system.afterPowerLoss(seed: seed)
            let again = try LogStore.open(path: SampleStore.path, options: options)
            #expect(try sample.contents(again.snapshot()) == sample.people, "seed \(seed)")
        }
    }

    /// A full disk at a synced write has the effect of a failed write; any other failure that of a failed sync.
    @Test
    func `A synced write that fails poisons the handle`() throws {
        for code in [EIO, ENOSPC] {
            let system = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: system)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            system.fail(at: system.operationCount, .once(code))
            #expect(throws: StoreError.self) { try sample.insert(.init(name: "b", age: 1, group: 1)) }
            #expect((sample.store.writer(\.poison) == nil) == (code == ENOSPC))
        }
    }
}
