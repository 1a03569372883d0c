import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct StoreReplicaTests {
    private static let path = "replica.heartwood"

    private func reader(_ store: BackedUpStore, _ files: any FileSystem) throws -> LogStore {
        var options = store.options(files)
        options.isReadOnly = true
        return try LogStore.open(path: Self.path, options: options)
    }

    @Test(arguments: [false, true])
    func `A replica follows the store, and handles that have it open see each commit`(mapsFiles: Bool) async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem()
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        let replica = StoreReplica(from: store.destination, at: Self.path, options: store.options(files))
        #expect(try await replica.update().sequence == store.sequence)
        var options = store.options(files)
        options.isReadOnly = true
        options.usesMemoryMapping = mapsFiles
        let open = try LogStore.open(path: Self.path, options: options)
        #expect(try store.difference(open, store.sequence) == nil)
        for number in 4..<30 {
            try store.commit(number)
            if number % 7 == 0 { try store.sample.store.checkpoint() }
            try await store.backUp()
            if number % 3 > 0 { try await replica.update() } else { continue }
            try open.follow()
            #expect(open.snapshot().sequence == store.sequence)
            #expect(try store.difference(open, store.sequence) == nil, "commit \(store.sequence)")
            let again = try reader(store, files)
            #expect(try store.difference(again, store.sequence) == nil, "opened anew, commit \(store.sequence)")
        }
        // The store's new file replaces the replica's.
        _ = try store.sample.store.compact()
        try store.commit(3)
        try await store.backUp()
        #expect(try await replica.update().replacements == 1)
        _ = try open.refresh()
        #expect(try store.difference(open, store.sequence) == nil)
    }

    @Test
    func `Writing to a replica is refused with what to do, and a promoted one is a store of its own line`() async throws {
        let store = try BackedUpStore(), files = MemoryFileSystem()
        for number in 0..<6 { try store.commit(number) }
        try await store.backUp()
        let replica = StoreReplica(from: store.destination, at: Self.path, options: store.options(files))
        try await replica.update()
        #expect { _ = try LogStore.open(path: Self.path, options: store.options(files)) } throws: { error in
            let error = error as? StoreError
            return error?.code == .readOnly && error?.remedy.contains("heartwood promote") == true
        }
        let open = try reader(store, files), lineage = try LogStore.promote(path: Self.path, options: store.options(files))
        #expect(lineage.fork?.parent == store.sample.store.storeID && lineage.fork?.sequence == store.sequence)
        let promoted = try LogStore.open(path: Self.path, options: store.options(files))
        #expect(try store.difference(promoted, store.sequence) == nil)
        let sample = try #require(SampleStore(reading: promoted))
        sample.people = try #require(store.states[store.sequence])
        try sample.insert(.init(name: "its own", age: 1, group: 1))
        try open.follow()
        #expect(open.snapshot().sequence == store.sequence + 2)
        await #expect { try await replica.update() } throws: { ($0 as? BackupError)?.code == .exists }
        // Both lines go on at one destination.
        let report = try await StoreBackup(of: Self.path, to: store.destination, options: store.options(files)).run()
        #expect(report.lineage == lineage.id && report.baseArchives == 0 && report.archives == 1)
        try store.commit(3)
        #expect(try await store.backUp().lineage == store.sample.store.storeID)
        let (other, _) = try await store.restore(lineage: lineage.id)
        #expect(try SampleStore(reading: other)?.mismatch(other.snapshot(), sample.people) == nil)
        let (own, _) = try await store.restore(lineage: store.sample.store.storeID)
        #expect(try store.difference(own, store.sequence) == nil)
    }

    @Test
    func `A store that goes on under a promotion keeps one chain, of two lines`() async throws {
        let store = try BackedUpStore()
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        let fork = store.sequence, lineage = try LogStore.promote(path: SampleStore.path, options: store.sample.options)
        try store.sample.reopen()
        store.note()
        for number in 4..<8 { try store.commit(number) }
        let report = try await store.backUp()
        #expect(report.lineage == lineage.id && report.baseArchives == 0)
        for sequence in fork + 1...store.sequence {
            let (other, _) = try await store.restore(at: .commit(sequence))
            #expect(try store.difference(other, sequence) == nil, "commit \(sequence)")
        }
        let lines = try await BackupArchives(at: store.destination).list()
        #expect(Set(lines.map(\.lineage)) == [lineage.id, store.sample.store.storeID])
        #expect(lines.first { $0.lineage == lineage.id }?.restorable == [1...store.sequence])
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `After a loss of power a replica has whole commits, and goes on`(seed: UInt64) async throws {
        let store = try BackedUpStore(), early = DirectoryDestination(path: BackedUpStore.folder, fileSystem: MemoryFileSystem())
        for number in 0..<4 { try store.commit(number) }
        try await StoreBackup(of: SampleStore.path, to: early, options: store.sample.options).run()
        let first = store.sequence
        for number in 4..<12 {
            try store.commit(number)
            if number == 6 { try store.sample.store.checkpoint() }
            if number != 5 { try await store.backUp() }
        }
        func replica(_ destination: DirectoryDestination, _ files: SimulatedFileSystem) -> StoreReplica {
            StoreReplica(from: destination, at: Self.path, options: store.options(files))
        }
        // From nothing, and from an early state.
        for start in [nil, early] {
            func made() async throws -> SimulatedFileSystem {
                let files = SimulatedFileSystem(seed: 5)
                if let start { try await replica(start, files).update() }
                return files
            }
            let counted = try await made(), before = counted.operationCount
            try await replica(store.destination, counted).update()
            for call in before..<counted.operationCount {
                let files = try await made()
                files.fail(at: call)
                _ = try? await replica(store.destination, files).update()
                let after = files.afterPowerLoss(seed: seed)
                #expect(start == nil || after.contents(of: Self.path) != nil)
                if after.contents(of: Self.path) != nil {
                    let open = try reader(store, after), sequence = open.snapshot().sequence
                    let difference = try store.difference(open, sequence)
                    #expect(sequence >= first && difference == nil, "call \(call), commit \(sequence)")
                }
                let updated = try await replica(store.destination, after).update()
                let difference = try store.difference(try reader(store, after), store.sequence)
                #expect(updated.sequence == store.sequence && difference == nil, "call \(call)")
            }
        }
    }
}
