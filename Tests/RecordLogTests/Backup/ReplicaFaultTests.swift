import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Replicas whose archives are damaged or gone, and promotions that are interrupted or come at a bad moment.
@Suite struct ReplicaFaultTests {
    private static let path = "replica.heartwood"

    private func replica(_ store: BackedUpStore, _ files: any FileSystem, from destination: (any BackupDestination)? = nil) -> StoreReplica {
        StoreReplica(from: destination ?? store.destination, at: Self.path, options: store.options(files))
    }

    private func difference(_ store: BackedUpStore, _ files: any FileSystem, path: String = path) throws -> String? {
        var options = store.options(files)
        options.isReadOnly = true
        let opened = try LogStore.open(path: path, options: options)
        return try store.difference(opened, opened.snapshot().sequence)
    }

    @Test
    func `A replica passes a damaged archive where another one has its commits; where none has, it waits and fetches nothing twice`() async throws {
        let disk = MemoryFileSystem(), store = try BackedUpStore(destination: disk), files = MemoryFileSystem()
        let probe = ProbedDestination(store.destination)
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        try await replica(store, files).update()
        let first = store.sequence
        for number in 4..<8 {
            try store.commit(number)
            try await store.backUp()
        }
        let archives = try await BackupArchives(at: store.destination).list()[0].archives
        let damaged = try #require(archives.last { !$0.isBase && $0.commits.contains(first + 2) })
        let path = BackedUpStore.folder + "/" + damaged.name, whole = try #require(disk.contents(of: path))
        var bytes = whole
        bytes[whole.count / 2] ^= 1
        disk.setContents(of: path, to: bytes)
        for _ in 0..<2 {
            await #expect { try await replica(store, files, from: probe).update() } throws: { ($0 as? BackupError)?.code == .damaged }
            #expect(try difference(store, files) == nil)
        }
        let base = try #require(try await store.destination.list(prefix: "").map(\.size).max())
        #expect(probe.counts.bytesGot < base, "the full copy was fetched again: \(probe.counts.bytesGot) bytes")
        // Another archive has the commits: an overlapping one, as a put whose answer was lost leaves it.
        let source = try BackupSource(path: SampleStore.path, options: store.sample.options), published = try source.superblock()
        var scan = source.scan(from: .start, published), position = LogPosition.start
        while position.sequence < first, try scan.next() != nil {
            position = LogPosition(sequence: scan.sequence, checksum: scan.commitChecksum, end: scan.end)
        }
        var finder = LogRangeFinder(source, after: position, published: published, lineage: try source.lineage())
        let range = try #require(try finder.next(bytesMax: .max)), upload = LogArchiveUpload(range, from: source)
        disk.setContents(of: path, to: bytes)
        try await store.destination.put(ArchiveName(range.header).text, size: upload.length, upload)
        #expect(try await replica(store, files).update().sequence == store.sequence)
        #expect(try difference(store, files) == nil)
    }

    @Test
    func `A replica without any archive of its line, or with a gap before the next commit, is behind and says so`() async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem()
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        try await replica(store, files).update()
        let next = store.sequence + 1
        for number in 4..<7 {
            try store.commit(number)
            try await store.backUp()
        }
        let archives = try await BackupArchives(at: store.destination).list()[0].archives
        try await store.destination.delete(try #require(archives.first { $0.commits == next...next }).name)
        await #expect { try await replica(store, files).update() } throws: {
            ($0 as? BackupError)?.code == .notCovered && ($0 as? BackupError)?.message.contains("commit \(next)") == true
        }
        for archive in archives { try await store.destination.delete(archive.name) }
        await #expect { try await replica(store, files).update() } throws: { ($0 as? BackupError)?.code == .notCovered }
        #expect(try difference(store, files) == nil)
        try await store.backUp()
        #expect(try await replica(store, files).update().sequence == store.sequence)
    }

    /// A base archive ended with a checkpoint. Nothing but the checkpoint had made its superblock durable, and a loss of power gave the store an
    /// older one. The next commit lay where the replica had the checkpoint, and the replica refused all archives from then on.
    @Test
    func `A replica with a checkpoint that the store has lost is made anew once, and goes on; a reader that has it open too`() async throws {
        let disk = MemoryFileSystem(), store = try BackedUpStore(files: disk), files = MemoryFileSystem()
        for number in 0..<8 { try store.commit(number) }
        let before = try #require(disk.contents(of: SampleStore.path))
        try store.sample.store.checkpoint()
        try await store.backUp()
        try await replica(store, files).update()
        var options = store.options(files)
        options.isReadOnly = true
        let open = try LogStore.open(path: Self.path, options: options)
        try? store.sample.store.close()
        disk.setContents(of: SampleStore.path, to: before)
        try store.sample.reopen()
        for number in 8..<20 {
            try store.commit(number)
            #expect(try await store.backUp().baseArchives == 0)
            let status = try await replica(store, files).update()
            #expect(status.sequence == store.sequence && status.replacements == (number == 8 ? 1 : 0))
            #expect(try difference(store, files) == nil, "commit \(store.sequence)")
            _ = try open.refresh()
            #expect(open.snapshot().sequence == store.sequence)
            #expect(try store.difference(open, store.sequence) == nil, "a handle, commit \(store.sequence)")
        }
        try await store.check(store.sequence, "restored")
    }

    @Test
    func `A follower finds its line once, and ends once the replica is promoted or its task is cancelled`() async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem(), shown = Watched<UInt64>(0)
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        let replica = replica(store, files)
        @Sendable func follow() -> Task<Void, any Error> {
            Task { try await replica.follow(every: .milliseconds(2)) { status in shown.withLock { $0 = status.sequence } } }
        }
        func wait(_ sequence: UInt64) async {
            #expect(await shown.wait { $0 >= sequence })
            #expect(shown.withLock { $0 } == sequence)
        }
        var task = follow()
        for number in 4..<8 {
            try store.commit(number)
            try await store.backUp()
            await wait(store.sequence)
        }
        task.cancel()
        try await task.value
        task = follow()
        try store.commit(8)
        try await store.backUp()
        await wait(store.sequence)
        try LogStore.promote(path: Self.path, options: store.options(files))
        await #expect { try await task.value } throws: { ($0 as? BackupError)?.code == .exists }
    }

    @Test
    func `A replica that is promoted while its replacement is fetched stays the promoted store`() async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem(), probe = ProbedDestination(store.destination)
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        try await replica(store, files).update()
        _ = try store.sample.store.compact()
        try store.commit(4)
        try await store.backUp()
        let isDone = Mutex(false), options = store.options(files)
        probe.before { operation in
            guard case .get = operation, isDone.withLock({ done in defer { done = true }; return !done }) else { return }
            try LogStore.promote(path: Self.path, options: options)
        }
        await #expect { try await replica(store, files, from: probe).update() } throws: { ($0 as? BackupError)?.code == .exists }
        let opened = try LogStore.open(path: Self.path, options: options)
        #expect(try Lineage(of: opened.snapshot()).id != store.sample.store.storeID)
        #expect(files.contents(of: Self.path + RestoreFile.suffix) == nil)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `After a promotion loses power the file is a replica that follows, or a store that can be promoted again`(seed: UInt64) async throws {
        let store = try BackedUpStore(), early = DirectoryDestination(path: BackedUpStore.folder, fileSystem: MemoryFileSystem())
        for number in 0..<6 { try store.commit(number) }
        try await StoreBackup(of: SampleStore.path, to: early, options: store.sample.options).run()
        let wanted = store.sequence
        // Behind the store by one commit.
        func made() async throws -> SimulatedFileSystem {
            let files = SimulatedFileSystem(seed: 4)
            try await replica(store, files, from: early).update()
            return files
        }
        let counted = try await made(), before = counted.operationCount
        try LogStore.promote(path: Self.path, options: store.options(counted))
        try store.commit(6)
        try await store.backUp()
        for call in before..<counted.operationCount {
            let files = try await made(), label = "seed \(seed), call \(call)"
            files.fail(at: call)
            _ = try? LogStore.promote(path: Self.path, options: store.options(files))
            for after in [files.afterPowerLoss(seed: seed), files.afterPowerLoss(seed: seed + 100)] {
                do {
                    #expect(try await replica(store, after).update().sequence == store.sequence, "\(label)")
                    #expect(try difference(store, after) == nil, "\(label)")
                } catch let error as BackupError where error.code == .exists {
                    let lineage = try LogStore.promote(path: Self.path, options: store.options(after))
                    let opened = try LogStore.open(path: Self.path, options: store.options(after))
                    let difference = try store.difference(opened, wanted), found = try Lineage(of: opened.snapshot())
                    #expect(difference == nil && found == lineage, "\(label): \(difference ?? ""), \(found) in place of \(lineage)")
                }
            }
        }
    }

    @Test
    func `A replica is backed up elsewhere like a store, and beside its store it is never taken for another line`() async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem()
        let elsewhere = DirectoryDestination(path: "elsewhere", fileSystem: MemoryFileSystem())
        func backUp(to destination: DirectoryDestination) async throws -> StoreBackup.Report {
            try await StoreBackup(of: Self.path, to: destination, options: store.options(files)).run()
        }
        for number in 0..<8 {
            try store.commit(number)
            if number == 4 { try store.sample.store.checkpoint() }
            try await store.backUp()
            try await replica(store, files).update()
            #expect(try await backUp(to: elsewhere).sequence == store.sequence)
            #expect(try await backUp(to: store.destination).archives == 0)
        }
        for sequence in 1...store.sequence {
            let target = MemoryFileSystem()
            try await StoreRestore(from: elsewhere, to: Self.path, options: store.options(target)).run(at: .commit(sequence))
            let opened = try LogStore.open(path: Self.path, options: store.options(target))
            #expect(try store.difference(opened, sequence) == nil, "commit \(sequence)")
        }
        try store.commit(8)
        try await store.backUp()
        await #expect { _ = try await backUp(to: store.destination) } throws: { error in
            (error as? BackupError)?.code == .busy && (error as? BackupError)?.remedy.contains("promote") == false
        }
    }
}
