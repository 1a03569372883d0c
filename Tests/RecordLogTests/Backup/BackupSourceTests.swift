import Testing

@testable import RecordLog

/// The line of a store, as a backup finds it.
@Suite struct BackupSourceTests {
    private func expectLineage(
        _ lineage: Lineage?, _ store: BackedUpStore, replays: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let source = try BackupSource(path: SampleStore.path, options: store.sample.options), found = try source.lineage()
        #expect(found.lineage == lineage ?? Lineage(of: store.sample.store.storeID), sourceLocation: sourceLocation)
        #expect(found.sequence == store.sequence, sourceLocation: sourceLocation)
        #expect((source.counters.values.bytesReplayed > 0) == replays, sourceLocation: sourceLocation)
    }

    @Test
    func `A store's line is found in its newest checkpoint and the commits behind it, which are not replayed`() throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(files: files)
        for number in 0..<6 { try store.commit(number) }
        try expectLineage(nil, store, replays: true)
        try store.sample.store.checkpoint()
        try expectLineage(nil, store)
        for number in 6..<12 { try store.commit(number) }
        try expectLineage(nil, store)
        // Behind the checkpoint, between commits, before a checkpoint, and in a compacted file.
        var lineage: Lineage?
        for _ in 0..<2 {
            lineage = try LogStore.promote(path: SampleStore.path, options: store.sample.options)
            try store.sample.reopen()
            store.note()
            try expectLineage(lineage, store)
        }
        for number in 12..<15 { try store.commit(number) }
        try expectLineage(lineage, store)
        try store.sample.store.checkpoint()
        try expectLineage(lineage, store)
        _ = try store.sample.store.compact(keeping: .commits(2))
        for number in 15..<18 { try store.commit(number) }
        try expectLineage(lineage, store)
    }

    @Test
    func `A damaged checkpoint costs a replay, and the line is found`() throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(files: files)
        for number in 0..<6 { try store.commit(number) }
        let lineage = try LogStore.promote(path: SampleStore.path, options: store.sample.options)
        try store.sample.reopen()
        try store.sample.store.checkpoint()
        store.note()
        for number in 6..<9 { try store.commit(number) }
        let published = try BackupSource(path: SampleStore.path, options: store.sample.options).superblock()
        var bytes = try #require(files.contents(of: SampleStore.path))
        bytes[Int(published.checkpoint.offset) + FrameHeader.Layout.size] ^= 1
        files.setContents(of: SampleStore.path, to: bytes)
        try expectLineage(lineage, store, replays: true)
    }
}
