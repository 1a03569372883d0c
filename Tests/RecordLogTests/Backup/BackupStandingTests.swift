import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// What a status tells of the archives behind the newest one.
@Suite struct BackupStandingTests {
    /// Archives of a file, then of the one that a compaction has put in its place: a base and increments each.
    private static func store(_ files: MemoryFileSystem) async throws -> BackedUpStore {
        let store = try BackedUpStore(destination: files)
        for number in 0..<10 {
            try store.commit(number)
            try await store.backUp()
            if number == 4 { _ = try store.sample.store.compact() }
        }
        return store
    }

    private static func standing(_ store: BackedUpStore, _ destination: (any BackupDestination)? = nil) async throws -> StoreBackup.Standing {
        try await StoreBackup(of: SampleStore.path, to: destination ?? store.destination, options: store.sample.options).standing()
    }

    private static func names(_ store: BackedUpStore) async throws -> [ArchiveName] {
        try await store.archives().compactMap { ArchiveName($0.name) }.sorted { ($0.last, $0.first) < ($1.last, $1.first) }
    }

    private static func path(_ name: ArchiveName) -> String { BackedUpStore.folder + "/" + name.text }

    /// Commits that cannot be restored are told, and no others.
    private static func check(_ store: BackedUpStore, _ standing: StoreBackup.Standing, _ label: String) async throws {
        // What is older than every archive is no gap.
        for sequence in (try await names(store).map(\.first).min() ?? 1)...store.sequence {
            let isRestored = (try? await store.restore(at: .commit(sequence))) != nil
            #expect(isRestored == !standing.gaps.contains { $0.contains(sequence) }, "\(label), commit \(sequence): \(standing)")
        }
    }

    @Test(arguments: [BackupHeadTests.Harm.deleted, .cut, .emptied, .headerFlipped])
    func `A deleted, cut or emptied archive anywhere is told with the commits that cannot be restored; what the store still has is put again`(
        harm: BackupHeadTests.Harm
    ) async throws {
        let count = try await Self.names(Self.store(MemoryFileSystem())).count
        var withGaps = 0
        for number in 0..<count {
            let files = MemoryFileSystem(), store = try await Self.store(files)
            let whole = try await Self.standing(store), name = try await Self.names(store)[number], label = "\(harm), archive \(number)"
            #expect(whole.isSound && whole.gaps.isEmpty && whole.archives == count && whole.isNewestRead)
            let isOfOldFile = try await Self.names(store).last?.fileID != name.fileID
            try harm.apply(to: Self.path(name), files)
            let found = try await Self.standing(store)
            // Nothing follows the last archive of the old file: only its name could tell of it.
            let next = try await Self.names(store).first { $0.fileID == name.fileID && $0.first > name.last }
            let isUntold = harm == .deleted && isOfOldFile && next == nil
            #expect(found.lost == (isUntold ? [] : found.gaps), "\(label): \(found)")
            #expect(found.isSound == (harm == .deleted && found.lost.isEmpty), "\(label): \(found)")
            withGaps += found.gaps.isEmpty ? 0 : 1
            #expect(found.damaged.isEmpty == (harm == .deleted), "\(label): \(found.damaged)")
            #expect((found.behindSince != nil) == !isOfOldFile, "\(label)")
            let archives = BackupArchives(at: store.destination)
            #expect(try await archives.list(without: archives.verify()).map(\.gaps) == [found.gaps], "\(label)")
            try await Self.check(store, found, label)
            // As the command says: moved elsewhere, then another backup.
            if harm != .deleted { try files.remove(Self.path(name)) }
            try await store.backUp()
            let mended = try await Self.standing(store)
            #expect(mended.damaged.isEmpty && mended.sequence == store.sequence, "\(label): \(mended)")
            #expect(isOfOldFile || mended.gaps.isEmpty, "\(label): \(mended)")
            try await Self.check(store, mended, "\(label), mended")
        }
        // The full copy of the new file has the last commit of the old one, too.
        #expect(withGaps == count - 1)
    }

    @Test
    func `A backup puts the commits of an emptied archive again by itself`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), name = try await Self.names(store)[7]
        try BackupHeadTests.Harm.emptied.apply(to: Self.path(name), files)
        #expect(try await Self.standing(store).lost == [name.first...store.sequence])
        #expect(try await store.backUp().archives == 1)
        let found = try await Self.standing(store)
        #expect(found.sequence == store.sequence && found.gaps.isEmpty && found.damaged.count == 1, "\(found)")
        for sequence in 1...store.sequence { try await store.check(sequence, "emptied") }
        try files.remove(Self.path(name))
        #expect(try await Self.standing(store).isSound)
    }

    @Test
    func `A status reads both ends of each archive and all of the newest; verify sees damage in the middle of an older one`() async throws {
        let files = MemoryFileSystem(), store = try await Self.store(files), destination = ProbedDestination(store.destination)
        let all = try await Self.names(store), newest = try #require(all.last)
        let least = UInt64(LogArchiveHeader.Layout.size + LogArchiveTrailer.Layout.size)
        let newestBytes = UInt64(try #require(files.contents(of: Self.path(newest))).count)
        #expect(try await Self.standing(store, destination).isSound)
        let got = destination.counts.bytesGot
        // The one that the next backup would follow is read to find the place, and once more for its bytes.
        #expect(got <= least * UInt64(all.count) + 2 * newestBytes, "\(got)")
        try BackupHeadTests.Harm.flipped.apply(to: Self.path(all[2]), files)
        #expect(try await Self.standing(store).isSound)
        #expect(try await BackupArchives(at: store.destination).verify().count == 1)
    }

    /// A status and a backup took such a store for an older state of itself, and proposed a promotion.
    @Test
    func `A store that lost its newest superblock with the power, and that no writer has opened since, is the one that was backed up`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(files: files)
        for number in 0..<3 { try store.commit(number) }
        let headers = try #require(files.contents(of: SampleStore.path)).prefix(Int(FileFormat.dataStart))
        for number in 3..<5 { try store.commit(number) }
        let newest = store.sequence
        try await store.backUp()
        try store.sample.store.close()
        let bytes = try #require(files.contents(of: SampleStore.path))
        files.setContents(of: SampleStore.path, to: Array(headers + bytes.dropFirst(headers.count)))
        let standing = try await Self.standing(store)
        #expect(standing.isSound && standing.storeSequence == newest && standing.sequence == newest, "\(standing)")
        let report = try await store.backUp()
        #expect(report.archives == 0 && report.sequence == newest && report.storeSequence == newest)
        // A loss of power may take both.
        var torn = bytes
        for offset in FileFormat.superblockOffsets { torn[Int(offset) + 20] ^= 1 }
        files.setContents(of: SampleStore.path, to: torn)
        let without = try await Self.standing(store)
        #expect(without.isSound && without.storeSequence == newest && without.sequence == newest, "\(without)")
        #expect(try await store.backUp().archives == 0)
        // A store that lacks the commit is an older one all the same.
        let end = Int(try standingEnd(bytes, headers))
        files.setContents(of: SampleStore.path, to: Array(headers + bytes[headers.count..<end]))
        await #expect(throws: BackupError.self) { try await store.backUp() }
    }

    /// The end of the log as the superblocks of some headers have it.
    private func standingEnd(_ bytes: [UInt8], _ headers: ArraySlice<UInt8>) throws -> UInt64 {
        let identity = try HeaderReader(path: SampleStore.path).identity(Array(headers), count: headers.count, size: UInt64(bytes.count))
        return try #require(HeaderReader.newestSuperblock(Array(headers), fileID: identity.fileID)).end
    }
}
