import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Merges, verifications and listings of destinations in which archives are damaged, doubled, missing or foreign.
@Suite struct BackupArchivesFaultTests {
    private static func path(_ name: String) -> String { BackedUpStore.folder + "/" + name }

    /// A store of ten commits, each in an archive of its own.
    private static func made() async throws -> (store: BackedUpStore, files: MemoryFileSystem, archives: BackupArchives) {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        for number in 0..<10 {
            try store.commit(number)
            try await store.backUp()
        }
        return (store, files, BackupArchives(at: store.destination))
    }

    private func objects(_ store: BackedUpStore) async throws -> [BackupObject] { try await store.archives() }

    @Test
    func `A merge never takes a damaged archive of its own name for the merged one, and the next merge makes it anew`() async throws {
        let (store, files, archives) = try await Self.made(), before = try await objects(store)
        // A merge that was interrupted before it deleted anything, and whose archive then went bad. The listing does not show it yet.
        try await archives.merge()
        let made = try #require(try await archives.list()[0].archives.last).name
        var bytes = try #require(files.contents(of: Self.path(made)))
        bytes[300] ^= 1
        files.setContents(of: Self.path(made), to: bytes)
        for object in before where files.contents(of: Self.path(object.name)) == nil { try await putAgain(object.name, store) }
        let stale = ProbedDestination(store.destination)
        stale.changeListing { $0.filter { $0.name != made } }
        #expect(try await BackupArchives(at: stale).merge().made == 0)
        for sequence in 1...store.sequence { try await store.check(sequence, "a damaged merge") }
        #expect(try await archives.merge().made == 1)
        #expect(try await archives.verify().isEmpty)
        #expect(try await objects(store).count == 2)
        for sequence in 1...store.sequence { try await store.check(sequence, "merged anew") }
    }

    /// Puts the archive of a name again, from the store's file.
    private func putAgain(_ text: String, _ store: BackedUpStore) async throws {
        let name = try #require(ArchiveName(text)), source = try BackupSource(path: SampleStore.path, options: store.sample.options)
        let published = try source.superblock()
        var scan = source.scan(from: .start, published), position = LogPosition.start
        while position.sequence < name.first - 1, try scan.next() != nil {
            position = LogPosition(sequence: scan.sequence, checksum: scan.commitChecksum, end: scan.end)
        }
        var finder = LogRangeFinder(source, after: position, published: published, lineage: try source.lineage())
        let range = try #require(try finder.next(bytesMax: 1))
        #expect(ArchiveName(range.header) == name)
        let upload = LogArchiveUpload(range, from: source)
        try await store.destination.put(text, size: upload.length, upload)
    }

    @Test(arguments: [false, true])
    func `A merge deletes small archives that an interrupted merge has left beside the large one, unless the large one is damaged`(
        isDamaged: Bool
    ) async throws {
        let (store, files, archives) = try await Self.made(), before = try await objects(store)
        try await archives.merge()
        let large = try #require(try await archives.list()[0].archives.last).name
        for object in before where files.contents(of: Self.path(object.name)) == nil { try await putAgain(object.name, store) }
        #expect(try await objects(store).count == before.count + 1)
        if isDamaged {
            var bytes = try #require(files.contents(of: Self.path(large)))
            bytes[300] ^= 1
            files.setContents(of: Self.path(large), to: bytes)
        }
        let report = try await archives.merge()
        #expect(report.covered == (isDamaged ? 0 : before.count - 1))
        for sequence in 1...store.sequence { try await store.check(sequence, "damaged: \(isDamaged)") }
        if !isDamaged { #expect(try await archives.list()[0].archives.count == 2) }
    }

    @Test
    func `A verification names archives that do not follow each other, foreign names and damage, each once`() async throws {
        let (store, files, archives) = try await Self.made()
        #expect(try await archives.verify().isEmpty)
        // The same commits of a copy that went on by itself.
        let copy = MemoryFileSystem()
        copy.setContents(of: SampleStore.path, to: try #require(store.files as? MemoryFileSystem).contents(of: SampleStore.path) ?? [])
        let other = try SampleStore(fileSystem: copy) { $0.segmentShift = 16 }
        try other.insert(.init(name: "another", age: 1, group: 1))
        try store.commit(0)
        try await store.backUp()
        let source = try BackupSource(path: SampleStore.path, options: other.options), newest = store.sequence
        var scan = source.scan(from: .start, try source.superblock()), position = LogPosition.start
        while position.sequence < newest - 1, try scan.next() != nil {
            position = LogPosition(sequence: scan.sequence, checksum: scan.commitChecksum, end: scan.end)
        }
        var finder = LogRangeFinder(source, after: position, published: try source.superblock(), lineage: try source.lineage())
        let range = try #require(try finder.next(bytesMax: 1)), upload = LogArchiveUpload(range, from: source)
        #expect(range.header.last == newest)
        try await store.destination.put(ArchiveName(range.header).text, size: upload.length, upload)
        var problems = try await archives.verify()
        #expect(problems.count == 1 && problems[0].message.contains("different lines"), "\(problems)")
        try await store.destination.delete(ArchiveName(range.header).text)
        let names = try await objects(store).map(\.name)
        files.setContents(of: Self.path("copy of " + "archive.hwlog"), to: [1])
        files.setContents(of: Self.path("x/archive.hwlog"), to: [1])
        files.setContents(of: Self.path("notes.txt"), to: [1])
        problems = try await archives.verify()
        #expect(problems.map(\.code) == [.foreign] && problems[0].location.hasSuffix("x/archive.hwlog"))
        files.setContents(of: Self.path(names[3]), to: [])
        #expect(try await archives.verify().map(\.code) == [.foreign, .damaged])
    }

    @Test
    func `Archives whose contents were exchanged are named, and no restore takes them for each other`() async throws {
        let (store, files, archives) = try await Self.made(), all = try await archives.list()[0].archives
        let first = Self.path(all[3].name), second = Self.path(all[5].name)
        let bytes = (try #require(files.contents(of: first)), try #require(files.contents(of: second)))
        files.setContents(of: first, to: bytes.1)
        files.setContents(of: second, to: bytes.0)
        let problems = try await archives.verify()
        #expect(problems.map(\.code) == [.foreign, .foreign], "\(problems)")
        for sequence in 1..<all[3].commits.lowerBound { try await store.check(sequence, "before the exchange") }
        await #expect { _ = try await store.restore() } throws: { error in
            let error = error as? BackupError
            return error?.code == .damaged && error?.message.contains("commits 1 to \(all[3].commits.lowerBound - 1)") == true
                && error?.message.contains(all[3].name) == true
        }
    }

    @Test(arguments: 0..<10)
    func `Gaps are named wherever archives are missing: at the beginning, between and at the end`(missing: Int) async throws {
        let (store, _, archives) = try await Self.made(), all = try await archives.list()[0].archives
        try await store.destination.delete(all[missing].name)
        let line = try await archives.list()[0], newest = line.newest
        let first = all[missing].commits.lowerBound
        switch missing {
        case 0: #expect(line.restorable.isEmpty && line.gaps == [all[1].commits.lowerBound...newest])
        case 9: #expect(line.gaps == [first...line.acknowledged] && newest == first - 1)
        default: #expect(line.gaps == [first...newest] && line.restorable == [1...first - 1])
        }
        let standing = try await StoreBackup(of: SampleStore.path, to: store.destination, options: store.sample.options).standing()
        let times = try store.footers()
        #expect(standing.storeSequence == store.sequence && standing.sequence == (missing == 0 ? 0 : first - 1))
        #expect(standing.behindSince == times[missing == 0 ? 1 : first])
        // The next backup closes the gap.
        try await store.backUp()
        #expect(try await archives.list()[0].gaps.isEmpty)
        for sequence in 1...store.sequence { try await store.check(sequence, "archive \(missing)") }
    }

    @Test
    func `The standing of a backup tells the commits that it lacks and since when, also where the store was compacted`() async throws {
        let store = try BackedUpStore()
        func standing() async throws -> StoreBackup.Standing {
            try await StoreBackup(of: SampleStore.path, to: store.destination, options: store.sample.options).standing()
        }
        try store.commit(0)
        var found = try await standing()
        var times = try store.footers()
        #expect(found.sequence == 0 && found.storeSequence == store.sequence && found.behindSince == times[1])
        try await store.backUp()
        found = try await standing()
        #expect(found.sequence == store.sequence && found.behindSince == nil && found.lineage == store.sample.store.storeID)
        let last = store.sequence
        for number in 1..<5 { try store.commit(number) }
        times = try store.footers()
        #expect(try await standing().behindSince == times[last + 1])
        _ = try store.sample.store.compact()
        try store.commit(5)
        found = try await standing()
        #expect(found.sequence == last && found.behindSince != nil && found.storeSequence == store.sequence)
        #expect(try await store.archives().count == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `A listing of twenty thousand archives, some of them twice, is planned in seconds`() async throws {
        let id = StoredUUID(words: (1, 2))
        let names = (0..<20_000 as Range<UInt64>).map { number in
            var name = ArchiveName.sample(id)
            (name.first, name.last, name.isBase) = (number + 1, number + 1, number == 0)
            return ListedArchive(name: name, size: 1000)
        }
        let catalog = BackupCatalog(storeID: id, archives: names + names.prefix(10)), parts = catalog.parts(of: Lineage(of: id))
        #expect(parts.count == 20_000)
        #expect(RestorePlan(for: 19_999, of: parts)?.steps.count == 19_999)
        #expect(RestorePlan.coverage(parts) == [1...20_000])
        #expect(BackupArchives.runs(names.filter { !$0.name.isBase }, bytesMax: 1_000_000).count == 20)
    }
}

extension ArchiveName {
    /// A name of an archive of one commit.
    fileprivate static func sample(_ id: StoredUUID) -> ArchiveName {
        let one = String(repeating: "0", count: 19) + "1"
        let text = "\(Self.text(id))/\(Self.text(id))/\(hex(7))-\(one)-\(one)-\(hex(5))-\(hex(6)).hwlog"
        return ArchiveName(text) ?? { preconditionFailure("the sample is a name") }()
    }
}
