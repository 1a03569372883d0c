import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Restores whose destination fails or is slow, pins, and archives that are hostile or newer.
@Suite struct RestoreFaultTests {
    /// A store with a base archive of several blocks, and increments.
    private static func largeStore() async throws -> BackedUpStore {
        let store = try BackedUpStore { $0.segmentShift = 20 }
        for number in 0..<500 {
            try store.sample.insert(.init(name: "large", age: Int64(number), group: 1, picture: .init(fill: UInt8(number & 255), count: 9000)))
        }
        store.note()
        try await store.backUp()
        for number in 0..<3 {
            try store.commit(number)
            try await store.backUp()
        }
        return store
    }

    private static func restore(_ store: BackedUpStore, _ destination: any BackupDestination, _ files: any FileSystem) -> StoreRestore {
        StoreRestore(from: destination, to: SampleStore.path, options: store.options(files))
    }

    @Test
    func `A restore whose destination fails in the middle of a large archive goes on with what was fetched`() async throws {
        let store = try await Self.largeStore(), destination = ProbedDestination(store.destination), files = MemoryFileSystem()
        let failsFrom: UInt64 = 3 << 20
        let sizes = try await store.destination.list(prefix: "").map(\.size), size = try #require(sizes.max())
        #expect(size > 4 << 20)
        // The trailer and the table, which are at the end, are read first.
        destination.before { operation in
            guard case .get(_, let range) = operation, (failsFrom..<size - 100_000).contains(range.lowerBound) else { return }
            throw ProbedDestination.error(.unreachable)
        }
        await #expect { try await Self.restore(store, destination, files).run() } throws: { ($0 as? BackupError)?.code == .unreachable }
        destination.before(nil)
        let got = destination.counts.bytesGot
        let report = try await Self.restore(store, destination, files).run()
        #expect(report.sequence == store.sequence)
        #expect(destination.counts.bytesGot - got < size * 3 / 4, "\(destination.counts.bytesGot - got) of \(size) bytes were fetched again")
        let opened = try LogStore.open(path: SampleStore.path, options: store.options(files))
        #expect(try store.difference(opened, store.sequence) == nil)
    }

    @Test
    func `Several requests are under way at once, and no more than eight`() async throws {
        let store = try await Self.largeStore(), destination = ProbedDestination(store.destination), files = MemoryFileSystem()
        destination.before { operation in
            // As long as a request over a network: others begin meanwhile.
            if case .get = operation { try await Task.sleep(for: .milliseconds(20)) }
        }
        try await Self.restore(store, destination, files).run()
        // Four archives are opened while the blocks of the first one come.
        #expect((3...16).contains(destination.counts.gettingMost), "\(destination.counts.gettingMost)")
        let sizes = try await store.destination.list(prefix: "").map(\.size)
        #expect(destination.counts.bytesGot < sizes.reduce(0, +) + 4096)
    }

    @Test
    func `Work is done ahead in order, and a failure is that of its element`() async throws {
        let ahead = WorkAhead((0..<20).makeIterator(), depth: 4) { number in
            // The elements end in another order than they begin.
            try await Task.sleep(for: .milliseconds(number % 3))
            if number == 7 { throw ProbedDestination.error(.notFound) }
            return number * 2
        }
        var found: [Int] = [], failures = 0
        while true {
            do {
                guard let next = try await ahead.next() else { break }
                found.append(next)
            } catch {
                failures += 1
            }
        }
        #expect(found == (0..<20).filter { $0 != 7 }.map { $0 * 2 } && failures == 1)
        #expect(try await ahead.next() == nil)
    }

    @Test
    func `A restore that fails at its end can be tried again at once`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore()
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        let destination = ProbedDestination(store.destination)
        destination.before { operation in
            if case .get = operation { files.setContents(of: SampleStore.path, to: [1, 2, 3]) }
        }
        await #expect { try await Self.restore(store, destination, files).run() } throws: { ($0 as? BackupError)?.code == .exists }
        destination.before(nil)
        try files.remove(SampleStore.path)
        #expect(try await Self.restore(store, destination, files).run().sequence == store.sequence)
    }

    // MARK: Pins

    @Test
    func `A pin is renewed while one archive is taken, and after the clock was set back`() async throws {
        let store = try await Self.largeStore(), destination = ProbedDestination(store.destination)
        final class Clock: Sendable {
            let ahead = Mutex<Int64>(0)
        }
        /// A file system whose clock the test sets.
        final class Files: FileSystem {
            let inner = MemoryFileSystem(), clock: Clock
            init(_ clock: Clock) { self.clock = clock }
            func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { try inner.open(path, mode) }
            func identity(of path: String) throws(StoreError) -> FileSystemIdentity? { try inner.identity(of: path) }
            func rename(_ old: String, to new: String) throws(StoreError) { try inner.rename(old, to: new) }
            func remove(_ path: String) throws(StoreError) { try inner.remove(path) }
            func syncDirectory(of path: String) throws(StoreError) {}
            func freeSpace(at path: String) -> UInt64? { nil }
            func now() -> Int64 { 1_700_000_000_000_000 + clock.ahead.withLock { $0 } }
            func random() -> UInt64 { inner.random() }
        }
        let clock = Clock(), pins = Mutex<[String]>([])
        destination.before { operation in
            switch operation {
            // Each block takes ten minutes; once the clock is set back by a day.
            case .get(_, let range) where range.count > 1000: clock.ahead.withLock { $0 += range.lowerBound > 2 << 20 ? 600_000_000 : 400_000_000 }
            case .put(let name) where name.hasSuffix(".pin"): pins.withLock { $0.append(name) }
            default: break
            }
        }
        try await Self.restore(store, destination, Files(clock)).run()
        #expect(pins.withLock(\.count) > 1)
        // A clock that is set back.
        pins.withLock { $0 = [] }
        let catalog = try await BackupCatalog.list(destination, storeID: store.sample.store.storeID)
        let plan = try #require(RestorePlan(for: store.sequence, of: catalog.parts(of: Lineage(of: store.sample.store.storeID))))
        let pin = BackupPin(plan, store.sample.store.storeID, at: destination, Files(clock))
        for _ in 0..<3 { try await pin.renew() }
        #expect(pins.withLock(\.count) == 1)
        clock.ahead.withLock { $0 -= 86_400_000_000 }
        for _ in 0..<3 { try await pin.renew() }
        #expect(pins.withLock(\.count) == 2)
        #expect(try await destination.list(prefix: BackupPin.Name.folder(of: store.sample.store.storeID)).count == 1)
    }

    @Test
    func `A destination that takes no pin is asked once`() async throws {
        let store = try await Self.largeStore(), destination = ProbedDestination(store.destination)
        destination.before { operation in
            if case .put = operation { throw ProbedDestination.error(.refused) }
        }
        #expect(try await Self.restore(store, destination, MemoryFileSystem()).run().sequence == store.sequence)
        #expect(destination.counts.puts == 1)
    }

    @Test
    func `A prune leaves alone what a restore pins after the prune has begun`() async throws {
        let store = try BackedUpStore(), destination = ProbedDestination(store.destination)
        for number in 0..<4 {
            try store.commit(number)
            try await store.backUp()
        }
        let old = store.sequence
        _ = try store.sample.store.compact()
        try store.commit(4)
        try await store.backUp()
        let catalog = try await BackupCatalog.list(store.destination, storeID: store.sample.store.storeID)
        let parts = catalog.parts(of: Lineage(of: store.sample.store.storeID)).filter { $0.reach <= old }
        let plan = try #require(RestorePlan(for: old, of: parts))
        nonisolated(unsafe) let pin = BackupPin(plan, store.sample.store.storeID, at: store.destination, MemoryFileSystem())
        let deleted = Mutex(0)
        destination.after { operation in
            guard case .delete = operation, deleted.withLock({ count in count += 1; return count == 1 }) else { return }
            try await pin.renew()
        }
        let report = try await BackupArchives(at: destination).prune(keeping: RetentionPolicy())
        #expect(report.deleted.count == 1 && report.pinned.count == plan.steps.count - 1)
    }

    // MARK: Hostile archives

    /// Replaces the header of an archive, with true checksums up to the header's.
    private static func rewrite(_ bytes: [UInt8], _ change: (inout LogArchiveHeader) -> Void) throws -> [UInt8] {
        var header = try LogArchiveHeader(bytes)
        change(&header)
        return header.encoded() + bytes[LogArchiveHeader.Layout.size...]
    }

    @Test
    func `A header with more commits than its frames can hold is refused, and so is a table that is too long for its commits`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        try store.commit(0)
        try await store.backUp()
        try store.commit(1)
        try await store.backUp()
        let object = try #require(try await store.archives().last)
        let bytes = try #require(files.contents(of: BackedUpStore.folder + "/" + object.name)), header = try LogArchiveHeader(bytes)
        #expect(throws: LogArchiveFault.self) { _ = try LogArchiveHeader(try Self.rewrite(bytes) { $0.last = $0.first + $0.frameBytes / 64 }) }
        #expect(throws: LogArchiveFault.self) { _ = try LogArchiveHeader(try Self.rewrite(bytes) { $0.last = .max }) }
        // An archive that is whole but for its table, which has zeroes behind the commits.
        let reader = try await LogArchiveReader(try #require(ListedArchive(object)), at: store.destination)
        let table = reader.table.encoded() + [UInt8](repeating: 0, count: Int(header.tableLengthMax))
        let checksum = LogArchiveHeader.checksum(in: bytes)
        var made = Array(bytes[..<Int(UInt64(LogArchiveHeader.Layout.size) + LogArchiveFormat.blocksLength(header.frameBytes))])
        var fold: UInt64 = 0
        for number in 0..<reader.frameBlocks {
            let frames = try await reader.frames(number)
            let block = frames.withUnsafeBytes { LogArchiveFormat.block($0, number: number, headerChecksum: checksum) }
            fold = CommitFooter.folding(fold, block.checksum)
        }
        let block = table.withUnsafeBytes { LogArchiveFormat.block($0, number: reader.frameBlocks, headerChecksum: checksum) }
        made += block.bytes
        fold = CommitFooter.folding(fold, block.checksum)
        made += LogArchiveTrailer(
            blocks: reader.frameBlocks + 1, fileLength: UInt64(made.count + LogArchiveTrailer.Layout.size), tableLength: UInt64(table.count),
            fold: fold
        ).encoded(headerChecksum: checksum)
        files.setContents(of: BackedUpStore.folder + "/" + object.name, to: made)
        let listed = ListedArchive(name: reader.name, size: UInt64(made.count))
        await #expect { _ = try await LogArchiveReader(listed, at: store.destination) } throws: { error in
            (error as? BackupError)?.message.contains("its trailer is damaged") == true
        }
    }

    @Test
    func `An archive of a store of a newer format is refused before anything is fetched`() async throws {
        let files = MemoryFileSystem(), target = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        try store.commit(0)
        let source = try BackupSource(path: SampleStore.path, options: store.sample.options)
        var finder = LogRangeFinder(source, after: .start, published: try source.superblock(), lineage: try source.lineage())
        var range = try #require(try finder.base())
        range.header.storeVersion = FileFormat.version + 1
        let upload = LogArchiveUpload(range, from: source)
        try await store.destination.put(ArchiveName(range.header).text, size: upload.length, upload)
        await #expect { try await Self.restore(store, store.destination, target).run() } throws: { error in
            (error as? StoreError)?.code == .unsupportedVersion && (error as? StoreError)?.remedy.contains("newer Heartwood") == true
        }
        #expect(target.contents(of: SampleStore.path + RestoreFile.suffix) == nil)
    }
}
