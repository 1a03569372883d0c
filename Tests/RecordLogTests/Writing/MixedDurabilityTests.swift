import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Handles of one store with different durability.
@Suite struct MixedDurabilityTests {
    /// A background checkpoint has synced its own bytes and the commits before them. A handle without syncs may have committed since, and the
    /// header must not call those commits durable.
    @Test
    func `A checkpoint does not call another's unsynced commit durable`() throws {
        let memory = MemoryFileSystem(), files = SyncHook(memory)
        let sample = try SampleStore(fileSystem: files) {
            $0.checkpointAfterBytes = 20_000
            $0.checkpointsInBackground = true
        }
        var options = sample.options
        options.durability = .relaxed
        options.checkpointAfterBytes = 16 << 20
        let relaxed = try LogStore.open(path: SampleStore.path, options: options)
        // Commits behind each sync of the checkpoint: no sync has reached the bytes behind the last one.
        files.arm { _ = try? relaxed.write { try $0.setSystemValue(20, [1]) } }
        try sample.insert(.init(name: String(repeating: "-", count: 12_000), age: 1, group: 1))
        sample.store.finishCheckpoint()
        files.disarm()
        #expect(sample.store.statistics.checkpoints == 1)
        let superblock = sample.store.log.superblock
        #expect(superblock.durableSequence < superblock.sequence)
        let newest = try #require(try sample.store.commit(superblock.sequence))
        #expect(superblock.durableEnd <= newest.offset)
        // The power fails, and the unsynced bytes are lost.
        var bytes = try #require(memory.contents(of: SampleStore.path))
        bytes[Int(newest.offset) + 8] ^= 1
        memory.setContents(of: SampleStore.path, to: bytes)
        let store = try LogStore.open(path: SampleStore.path, options: options)
        #expect(store.snapshot().sequence == newest.sequence - 1)
    }
}
