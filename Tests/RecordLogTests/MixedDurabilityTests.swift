import TestSupport
import Testing

@testable import RecordLog

/// Handles of one store that promise different things.
@Suite struct MixedDurabilityTests {
    /// A checkpoint in the background has synced what it wrote and what was committed before; a handle that does not sync its
    /// commits may have added some since, and those the header must not call durable.
    @Test("A checkpoint does not call another's unsynced commit durable") func aCheckpointDoesNotCallAnothersUnsyncedCommitDurable() throws {
        let memory = MemoryFileSystem(), files = SyncHook(memory)
        let sample = try SampleStore(fileSystem: files) {
            $0.checkpointAfterBytes = 20_000
            $0.checkpointsInBackground = true
        }
        var options = sample.options
        options.durability = .relaxed
        options.checkpointAfterBytes = 16 << 20
        let relaxed = try LogStore.open(path: SampleStore.path, options: options)
        // Behind each sync of the checkpoint's: what comes behind the last one no sync has reached.
        files.arm { _ = try? relaxed.write { try $0.setSystemValue(20, [1]) } }
        try sample.insert(.init(name: String(repeating: "-", count: 12_000), age: 1, group: 1))
        sample.store.finishCheckpoint()
        files.disarm()
        #expect(sample.store.statistics.checkpoints == 1)
        let superblock = sample.store.writer.superblock
        #expect(superblock.durableSequence < superblock.sequence)
        let newest = try #require(try sample.store.commit(superblock.sequence))
        #expect(superblock.durableEnd <= newest.offset)
        // The power goes, and takes with it what was not synced.
        var bytes = try #require(memory.contents(of: SampleStore.path))
        bytes[Int(newest.offset) + 8] ^= 1
        memory.setContents(of: SampleStore.path, to: bytes)
        let store = try LogStore.open(path: SampleStore.path, options: options)
        #expect(store.snapshot().sequence == newest.sequence - 1)
    }
}
