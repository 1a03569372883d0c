import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// A destination knows the newest commit that was acknowledged, and a restore that cannot bring it back says so.
@Suite struct BackupHeadTests {
    private static func path(_ name: String) -> String { BackedUpStore.folder + "/" + name }

    /// A store with a backup after each commit: a base archive, then increments of one commit.
    private static func store(_ files: MemoryFileSystem, commits: Int = 8) async throws -> BackedUpStore {
        let store = try BackedUpStore(destination: files)
        for number in 0..<commits {
            try store.commit(number)
            try await store.backUp()
        }
        return store
    }

    private static func names(_ store: BackedUpStore, _ suffix: String) async throws -> [String] {
        try await store.destination.list(prefix: "").map(\.name).filter { $0.hasSuffix(suffix) }
    }

    private static func newestArchive(_ store: BackedUpStore) async throws -> String {
        let names = try await names(store, ArchiveName.suffix).compactMap { ArchiveName($0) }
        return try #require(names.max { $0.last < $1.last }).text
    }

    /// The error of an operation.
    private static func error(_ operation: () async throws -> Void) async -> BackupError? {
        do {
            try await operation()
            return nil
        } catch {
            return error as? BackupError
        }
    }

    private static func standing(_ store: BackedUpStore) async throws -> StoreBackup.Standing {
        try await StoreBackup(of: SampleStore.path, to: store.destination, options: store.sample.options).standing()
    }

    enum Harm: CaseIterable {
        case deleted, cut, flipped, emptied, headerFlipped

        func apply(to path: String, _ files: MemoryFileSystem) throws {
            var bytes = try #require(files.contents(of: path))
            switch self {
            case .deleted: return try files.remove(path)
            case .cut: bytes.removeLast(bytes.count / 3)
            case .flipped: bytes[bytes.count / 2] ^= 1
            case .emptied: bytes = []
            case .headerFlipped: bytes[20] ^= 1
            }
            files.setContents(of: path, to: bytes)
        }
    }

    @Test
    func `One head is there after each backup, and names the newest commit; an older reader sees archives only`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files)
        let heads = try await Self.names(store, BackupHead.suffix)
        #expect(heads.count == 1 && BackupHead(heads[0])?.last == store.sequence)
        #expect(files.contents(of: Self.path(heads[0])) == Array((heads[0] + "\n").utf8))
        #expect(ArchiveName(heads[0]) == nil)
        #expect(try await BackupArchives(at: store.destination).list().map(\.acknowledged) == [store.sequence])
    }

    @Test(arguments: Harm.allCases)
    func `A restore never gives an older state than it was asked for, whatever has happened to the newest archive; a backup puts it again`(
        harm: Harm
    ) async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), newest = store.sequence
        try harm.apply(to: Self.path(try await Self.newestArchive(store)), files)
        let footers = try store.footers()
        for point in [StoreRestore.Point.newest, .commit(newest), .time(.max), .time(try #require(footers[newest]))] {
            let target = MemoryFileSystem()
            let error = await Self.error { _ = try await store.restore(at: point, to: target) }
            #expect(error?.available == newest - 1, "\(point): \(String(describing: error))")
            #expect(error?.remedy.contains("--commit \(newest - 1)") == true)
            #expect(error?.code == (harm == .deleted ? .notCovered : .damaged))
            #expect(target.contents(of: SampleStore.path) == nil)
        }
        try await store.check(newest - 1, "\(harm)")
        let before = try await store.restore(at: .time(try #require(footers[newest - 2])))
        #expect(before.report.sequence == newest - 2)
        let standing = try await Self.standing(store)
        #expect(standing.sequence == newest - 1 && standing.storeSequence == newest && standing.behindSince == footers[newest])
        #expect(standing.acknowledged == newest && standing.damaged.isEmpty == (harm == .deleted))
        #expect(try await BackupArchives(at: store.destination).verify().count == 1)
        #expect(try await BackupArchives(at: store.destination).list().first?.gaps.isEmpty == (harm != .deleted))
        // The same command again.
        #expect(try await store.backUp().archives == 1)
        try await store.check(newest, "\(harm), backed up again")
        #expect(try await store.restore().report.sequence == newest)
        #expect(try await Self.standing(store).sequence == newest)
        #expect(try await BackupArchives(at: store.destination).verify().isEmpty)
    }

    @Test
    func `Of a damaged archive the commits before the damage come back, and the error names the last of them`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files) { $0.segmentShift = 22 }
        try store.commit(0)
        try await store.backUp()
        for number in 0..<300 {
            try store.sample.insert(.init(name: "large", age: Int64(number), group: 1, picture: .init(fill: UInt8(number & 255), count: 9000)))
            store.note()
        }
        try await store.backUp()
        let name = try await Self.newestArchive(store), path = Self.path(name)
        var bytes = try #require(files.contents(of: path))
        #expect(bytes.count > 2 << 20)
        bytes[bytes.count - 400_000] ^= 1
        files.setContents(of: path, to: bytes)
        let target = MemoryFileSystem()
        let error = await Self.error { _ = try await store.restore(to: target) }
        let available = try #require(error?.available)
        #expect((200..<store.sequence).contains(available) && error?.code == .damaged)
        // It goes on with what the failed one has fetched.
        let destination = ProbedDestination(store.destination)
        let again = StoreRestore(from: destination, to: SampleStore.path, options: store.options(target))
        #expect(try await again.run(at: .commit(available)).sequence == available)
        #expect(destination.counts.bytesGot < 3 << 19, "\(destination.counts.bytesGot)")
        let opened = try LogStore.open(path: SampleStore.path, options: store.options(target))
        #expect(try store.difference(opened, available) == nil)
        for sequence in [1, 2, 3, 100, available] { try await store.check(sequence, "before the damage") }
    }

    @Test
    func `A damaged archive in the middle is no hindrance where another one has its commits, and is told`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), archives = BackupArchives(at: store.destination)
        let small = try await Self.names(store, ArchiveName.suffix).compactMap { ArchiveName($0) }.filter { !$0.isBase }
        let kept = small.compactMap { name in files.contents(of: Self.path(name.text)).map { (name, $0) } }
        #expect(try await archives.merge().made == 1)
        for (name, bytes) in kept { files.setContents(of: Self.path(name.text), to: bytes) }
        let merged = try #require(try await Self.names(store, ArchiveName.suffix).compactMap { ArchiveName($0) }
            .first { !$0.isBase && $0.last - $0.first > 0 })
        try Harm.flipped.apply(to: Self.path(merged.text), files)
        let (opened, report) = try await store.restore()
        #expect(report.sequence == store.sequence && report.skipped.count <= 1)
        #expect(try store.difference(opened, store.sequence) == nil)
    }

    @Test
    func `A destination of an older tool, which has no head, is restored as before, and gets a head with the next backup`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files)
        for head in try await Self.names(store, BackupHead.suffix) { try files.remove(Self.path(head)) }
        #expect(try await store.restore().report.sequence == store.sequence)
        #expect(try await BackupArchives(at: store.destination).list().map(\.acknowledged) == [0])
        let report = try await store.backUp()
        #expect(report.archives == 0 && report.sequence == store.sequence)
        #expect(try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last } == [store.sequence])
    }

    @Test
    func `A backup that ends between an archive and its head is finished by the next one, and an older head never hides commits`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), destination = ProbedDestination(store.destination)
        destination.before { operation in
            if case .put(let name) = operation, name.hasSuffix(BackupHead.suffix) { throw ProbedDestination.error(.unreachable) }
        }
        let old = store.sequence
        try store.commit(1)
        let backup = StoreBackup(of: SampleStore.path, to: destination, options: store.sample.options)
        #expect(await Self.error { _ = try await backup.run() }?.code == .unreachable)
        #expect(try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last } == [old])
        #expect(try await store.restore().report.sequence == store.sequence)
        destination.before(nil)
        #expect(try await backup.run().archives == 0)
        #expect(try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last } == [store.sequence])
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `Two backups of one store by turns never put the head back, and leave one`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        try store.commit(0)
        let runs = (0..<2).map { _ in BackupRun(of: SampleStore.path, to: store.destination, store.sample.options) }
        var acknowledged: UInt64 = 0
        for number in 1..<40 {
            try store.commit(number)
            if Int.random(in: 0..<12, using: &random) == 0 { _ = try store.sample.store.compact(keeping: .commits(1)) }
            var report = StoreBackup.Report()
            try await runs[Int.random(in: 0..<2, using: &random)].pass(bytesMax: 3000, headAfter: Int.random(in: 1..<3, using: &random), &report)
            let heads = try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last }, greatest = heads.max() ?? 0
            #expect(greatest >= acknowledged && greatest <= store.sequence, "seed \(seed)")
            acknowledged = greatest
        }
        try await store.backUp()
        _ = try await BackupArchives(at: store.destination).prune(keeping: RetentionPolicy())
        #expect(try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last } == [store.sequence])
        #expect(try await store.restore().report.sequence == store.sequence)
    }

    @Test
    func `A listing that sees a head and not yet the archives before it is made again`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), destination = ProbedDestination(store.destination)
        let newest = try await Self.newestArchive(store), listings = Mutex(0)
        destination.changeListing { objects in
            listings.withLock { $0 += 1 }
            return listings.withLock { $0 } % 2 == 1 ? objects.filter { $0.name != newest } : objects
        }
        let restore = StoreRestore(from: destination, to: SampleStore.path, options: store.options(MemoryFileSystem()))
        #expect(try await restore.run().sequence == store.sequence)
    }

    @Test
    func `A backup that follows puts a head for each tenth archive, and when it has nothing else to do`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files), destination = ProbedDestination(store.destination)
        let run = BackupRun(of: SampleStore.path, to: destination, store.sample.options), heads = Mutex(0)
        destination.before { operation in
            if case .put(let name) = operation, name.hasSuffix(BackupHead.suffix) { heads.withLock { $0 += 1 } }
        }
        var report = StoreBackup.Report()
        for number in 0..<40 {
            try store.commit(number)
            try await run.pass(bytesMax: 64 << 20, headAfter: 10, &report)
        }
        #expect(heads.withLock { $0 } == 4)
        try store.commit(0)
        for _ in 0..<5 { try await run.pass(bytesMax: 64 << 20, headAfter: 10, &report) }
        #expect(heads.withLock { $0 } == 5)
        #expect(try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last } == [store.sequence])
    }

    @Test
    func `A prune deletes nothing of a line whose newest archive is gone, and heads that others have passed`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        for number in 0..<12 {
            try store.commit(number)
            try await store.backUp()
            if number == 6 { _ = try store.sample.store.compact() }
        }
        let newest = try await Self.newestArchive(store), bytes = try #require(files.contents(of: Self.path(newest)))
        try files.remove(Self.path(newest))
        let archives = BackupArchives(at: store.destination), before = try await Self.names(store, ArchiveName.suffix)
        let report = try await archives.prune(keeping: RetentionPolicy())
        #expect(report.broken == [store.sample.store.storeID] && report.deleted.isEmpty)
        #expect(try await Self.names(store, ArchiveName.suffix) == before)
        files.setContents(of: Self.path(newest), to: bytes)
        var passed = try #require(ArchiveName(newest))
        passed.last -= 1
        passed.first -= 1
        files.setContents(of: Self.path(BackupHead(passed).text), to: [1])
        #expect(try await archives.prune(keeping: RetentionPolicy()).broken.isEmpty)
        #expect(try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0)?.last } == [store.sequence])
        try await store.check(store.sequence, "pruned")
    }

    @Test(arguments: [false, true])
    func `Prunes and merges at each of whose steps a backup puts more keep the newest commit of both lines, and their heads`(
        merges: Bool
    ) async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files, commits: 5), copy = MemoryFileSystem()
        let (restored, report) = try await store.restore(at: .commit(3), to: copy)
        let child = try #require(SampleStore(reading: restored))
        let other = StoreBackup(of: SampleStore.path, to: store.destination, options: store.options(copy))
        for age in 0..<4 {
            try child.insert(.init(name: "child", age: Int64(age), group: 2))
            try await other.run()
        }
        _ = try store.sample.store.compact()
        for number in 5..<9 {
            try store.commit(number)
            try await store.backUp()
        }
        nonisolated(unsafe) let run = BackupRun(of: SampleStore.path, to: store.destination, store.sample.options), source = store
        let destination = ProbedDestination(store.destination), steps = Mutex(0)
        let hook: ProbedDestination.Hook = { operation in
            switch operation {
            case .delete, .put: break
            case .list, .get: return
            }
            let number = steps.withLock { count in
                count += 1
                return count
            }
            try source.commit(number)
            var report = StoreBackup.Report()
            try await run.pass(bytesMax: 64 << 20, &report)
        }
        destination.before(hook)
        destination.after(hook)
        let archives = BackupArchives(at: destination)
        if merges { #expect(try await archives.merge().made > 0) } else { #expect(try await archives.prune(keeping: RetentionPolicy()).broken.isEmpty) }
        #expect(steps.withLock { $0 } > 2)
        destination.before(nil)
        destination.after(nil)
        try await store.check(store.sequence, "cared for")
        #expect(try await store.restore(lineage: store.sample.store.storeID).report.sequence == store.sequence)
        #expect(try await store.restore(lineage: report.lineage).report.sequence == restored.snapshot().sequence)
        let heads = try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0) }
        #expect(Set(heads.map(\.last)) == [store.sequence, restored.snapshot().sequence])
        #expect(try await BackupArchives(at: store.destination).verify().isEmpty)
    }

    @Test
    func `A line whose archives are all gone is not passed over for an older one, and neither is a store`() async throws {
        let destination = MemoryFileSystem(), store = try await Self.store(destination), files = MemoryFileSystem()
        let (restored, report) = try await store.restore(at: .commit(4), to: files)
        let sample = try #require(SampleStore(reading: restored))
        for age in 0..<3 { try sample.insert(.init(name: "child", age: Int64(age), group: 2)) }
        let backup = StoreBackup(of: SampleStore.path, to: store.destination, options: store.options(files))
        try await backup.run()
        for name in try await Self.names(store, ArchiveName.suffix) where ArchiveName(name)?.lineage == report.lineage {
            try destination.remove(Self.path(name))
        }
        let error = await Self.error { _ = try await store.restore() }
        #expect(error?.code == .notCovered && error?.available == 4, "\(String(describing: error))")
        #expect(try await store.restore(lineage: store.sample.store.storeID).report.sequence == store.sequence)
        let line = try await BackupArchives(at: store.destination).list().first { $0.lineage == report.lineage }
        #expect(line?.archives.isEmpty == true && line?.acknowledged == restored.snapshot().sequence && line?.gaps.isEmpty == false)
        #expect(try await BackupArchives(at: store.destination).verify().map(\.code) == [.notCovered])
        try await backup.run()
        #expect(try await store.restore().report.sequence == restored.snapshot().sequence)
    }

    @Test
    func `A promotion between two backups leaves a head for each line, and a store older than a lost archive is refused`() async throws {
        let destination = MemoryFileSystem(), files = MemoryFileSystem(), store = try BackedUpStore(files: files, destination: destination)
        for number in 0..<4 { try store.commit(number) }
        let run = BackupRun(of: SampleStore.path, to: store.destination, store.sample.options)
        var report = StoreBackup.Report()
        try await run.pass(bytesMax: 64 << 20, &report)
        let older = try #require(files.contents(of: SampleStore.path))
        for number in 4..<6 { try store.commit(number) }
        let fork = store.sequence
        try store.sample.store.close()
        try LogStore.promote(path: SampleStore.path, options: store.options(files))
        try await run.pass(bytesMax: 64 << 20, &report)
        let heads = try await Self.names(store, BackupHead.suffix).compactMap { BackupHead($0) }
        #expect(heads.map(\.last).sorted() == [fork, fork + 1] && Set(heads.map(\.line.id)).count == 2)
        // The line that was left.
        let names = try await Self.names(store, ArchiveName.suffix).compactMap { ArchiveName($0) }
        for name in names where name.lineage == store.sample.store.storeID && name.first > 1 { try destination.remove(Self.path(name.text)) }
        let error = await Self.error { _ = try await store.restore(lineage: store.sample.store.storeID) }
        #expect(error?.available == fork - 2)
        files.setContents(of: SampleStore.path, to: older)
        #expect(await Self.error { try await store.backUp() }?.code == .diverged)
    }

    @Test(arguments: [Harm.deleted, .flipped])
    func `A replica takes what it can have, and says what it lacks`(harm: Harm) async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), target = MemoryFileSystem(), newest = store.sequence
        let path = Self.path(try await Self.newestArchive(store)), bytes = try #require(files.contents(of: path))
        try harm.apply(to: path, files)
        let replica = StoreReplica(from: store.destination, at: "replica", options: store.options(target))
        func sequence() throws -> UInt64 {
            var options = store.options(target)
            options.isReadOnly = true
            return try LogStore.open(path: "replica", options: options).snapshot().sequence
        }
        for _ in 0..<2 {
            let error = await Self.error { try await replica.update() }
            #expect(error?.code == (harm == .deleted ? .notCovered : .damaged))
            #expect(try sequence() == newest - 1)
        }
        files.setContents(of: path, to: bytes)
        #expect(try await replica.update().sequence == newest)
        #expect(try sequence() == newest)
    }

    @Test
    func `A time at which a commit was made that no archive has is not answered with an earlier state`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files, commits: 9), footers = try store.footers()
        let names = try await Self.names(store, ArchiveName.suffix).compactMap { ArchiveName($0) }
        let middle = try #require(names.first { !$0.isBase && $0.first == 5 && $0.last == 5 })
        try files.remove(Self.path(middle.text))
        for (sequence, time) in footers.sorted(by: { $0.key < $1.key }) {
            let restored = try? await store.restore(at: .time(time)).report.sequence
            #expect(restored == (sequence < 4 ? sequence : nil), "commit \(sequence)")
        }
        #expect(await Self.error { _ = try await store.restore(at: .time(footers[5] ?? 0)) }?.available == 4)
    }

    @Test
    func `Names of heads are read as they are written, and nothing else is one`() throws {
        let id = StoredUUID(words: (1, 2)), parent = StoredUUID(words: (3, 4))
        for line in [ArchiveName.Line(id: id, parent: nil, fork: 0), .init(id: id, parent: parent, fork: 7)] {
            var name = try #require(ArchiveName(
                "\(ArchiveName.folder(of: parent))\(line.text)/0000000000000001-00000000000000000008-00000000000000000009-"
                    + "8000000000000000-7fffffffffffffff.hwlog"))
            let head = BackupHead(name)
            #expect(BackupHead(head.text) == head && head.line == line && head.last == 9)
            name.last = 10
            #expect(head < BackupHead(name))
            for wrong in ["x" + head.text, head.text + "x", head.text.replacingOccurrences(of: "-7", with: "_7"), "a/" + head.text, ""] {
                #expect(BackupHead(wrong) == nil, "\(wrong)")
            }
        }
        #expect(BackupHead("\(ArchiveName.folder(of: id))\(ArchiveName.text(id))/99999999999999999999-0000000000000000.head") == nil)
    }
}
