import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

@Suite struct BackupArchivesTests {
    @Test
    func `A merge of small increments keeps each commit's number, time and state`() async throws {
        let store = try BackedUpStore()
        for number in 0..<20 {
            try store.commit(number)
            if number % 6 == 5 { try store.sample.store.checkpoint() }
            try await store.backUp()
        }
        let archives = BackupArchives(at: store.destination), times = try store.footers()
        func commits() async throws -> [UInt64: Int64] {
            var found: [UInt64: Int64] = [:]
            for archive in try await archives.list().flatMap(\.archives) {
                for commit in try await archives.commits(of: archive) { found[commit.sequence] = commit.time }
            }
            return found
        }
        #expect(try await commits() == times)
        let report = try await archives.merge(bytesMax: 20_000)
        #expect(report.merged > report.made && report.made > 1)
        #expect(try await archives.list().flatMap(\.archives).count == 20 - report.merged + report.made)
        let all = try await archives.merge()
        #expect(all.made == 1)
        #expect(try await archives.list().flatMap(\.archives).count == 2)
        #expect(try await commits() == times)
        #expect(try await archives.verify().isEmpty)
        for sequence in 1...store.sequence { try await store.check(sequence, "after merging") }
        #expect(try await archives.merge().made == 0)
        try store.commit(3)
        #expect(try await store.backUp().archives == 1)
        try await store.check(store.sequence, "behind what was merged")
    }

    @Test(arguments: [1, 2, 5])
    func `A prune keeps the states that the policy names restorable, and the newest one`(last: Int) async throws {
        let store = try BackedUpStore()
        var ends: [UInt64] = []
        for number in 0..<24 {
            try store.commit(number)
            try await store.backUp()
            ends.append(store.sequence)
            if number % 5 == 4 {
                _ = try store.sample.store.compact()
                try await store.backUp()
            }
        }
        let archives = BackupArchives(at: store.destination)
        let before = try await archives.list().flatMap(\.archives).count
        var policy = RetentionPolicy()
        policy.last = last
        let trial = try await archives.prune(keeping: policy, isTrial: true)
        #expect(try await archives.list().flatMap(\.archives).count == before)
        let report = try await archives.prune(keeping: policy)
        #expect(report.deleted == trial.deleted && !report.deleted.isEmpty && report.broken.isEmpty)
        #expect(try await archives.list().flatMap(\.archives).count == before - report.deleted.count)
        for sequence in ends.suffix(last) { try await store.check(sequence, "the last \(last) states") }
        #expect(try await archives.prune(keeping: policy).deleted.isEmpty)
        try store.commit(1)
        #expect(try await store.backUp().baseArchives == 0)
        try await store.check(store.sequence, "behind a prune")
    }

    @Test
    func `A prune leaves the archives of a running restore alone, until the pin expires`() async throws {
        let store = try BackedUpStore()
        for number in 0..<4 { try store.commit(number) }
        try await store.backUp()
        let old = store.sequence
        for number in 4..<8 { try store.commit(number) }
        _ = try store.sample.store.compact()
        try await store.backUp()
        let catalog = try await BackupCatalog.list(store.destination, storeID: store.sample.store.storeID)
        let parts = catalog.parts(of: Lineage(id: store.sample.store.storeID, fork: nil))
        let plan = try #require(RestorePlan(for: old, of: parts))
        let clock = SimulatedFileSystem()
        let pin = BackupPin(plan, store.sample.store.storeID, at: store.destination, clock)
        try await pin.renew()
        var options = StoreOptions()
        options.fileSystem = clock
        let archives = BackupArchives(at: store.destination, options: options)
        let report = try await archives.prune(keeping: RetentionPolicy())
        #expect(report.deleted.isEmpty && report.pinned.count == 1)
        try await store.check(old, "while a pin holds")
        await pin.remove()
        #expect(try await archives.prune(keeping: RetentionPolicy()).deleted.count == 1)
        await #expect(throws: BackupError.self) { _ = try await store.restore(at: .commit(old)) }
        try await store.check(store.sequence, "after the prune")
        #expect(try await store.destination.list(prefix: BackupPin.Name.folder(of: store.sample.store.storeID)).isEmpty)
    }

    @Test
    func `A prune deletes nothing of a line whose newest commit cannot be restored`() async throws {
        let store = try BackedUpStore()
        for number in 0..<6 {
            try store.commit(number)
            try await store.backUp()
        }
        let archives = BackupArchives(at: store.destination)
        let all = try await archives.list().flatMap(\.archives)
        try await store.destination.delete(all[all.count - 2].name)
        let report = try await archives.prune(keeping: RetentionPolicy())
        #expect(report.deleted.isEmpty && report.broken == [store.sample.store.storeID])
        #expect(try await archives.list()[0].gaps.count == 1)
    }

    @Test
    func `Hours, days, weeks and months are those of the calendar`() {
        let hour: Int64 = 3_600_000_000, day = 24 * hour
        // 2024-02-29 12:00 UTC, a Thursday, is day 19782.
        let leap = 19782 * day + 12 * hour
        #expect(RetentionPolicy.day(leap) == 19782 && RetentionPolicy.hour(leap) == 19782 * 24 + 12)
        #expect(RetentionPolicy.month(leap) == 2024 * 12 + 1 && RetentionPolicy.month(leap + day) == 2024 * 12 + 2)
        #expect(RetentionPolicy.month(0) == 1970 * 12 && RetentionPolicy.month(-1) == 1970 * 12 - 1)
        // Weeks begin on Monday: 1969-12-29 and 1970-01-05.
        #expect(RetentionPolicy.week(0) == RetentionPolicy.week(3 * day) && RetentionPolicy.week(4 * day) == RetentionPolicy.week(0) + 1)
        #expect(RetentionPolicy.week(-3 * day) == RetentionPolicy.week(0) && RetentionPolicy.week(-4 * day) == RetentionPolicy.week(0) - 1)
    }

    @Test
    func `Of each period the last state is kept, and of periods as many as the policy says`() {
        let hour: Int64 = 3_600_000_000
        let states = (0..<100 as Range<Int64>).map { RetentionPolicy.State(sequence: UInt64($0 + 1), time: $0 * hour / 4) }
        var policy = RetentionPolicy()
        policy.hourly = 3
        #expect(policy.kept(of: states).map(\.sequence).sorted() == [92, 96, 100])
        policy.daily = 2
        #expect(policy.kept(of: states).map(\.sequence).sorted() == [92, 96, 100])
        policy.hourly = 0
        #expect(policy.kept(of: states).map(\.sequence).sorted() == [96, 100])
        policy.last = 4
        #expect(policy.kept(of: states).map(\.sequence).sorted() == [96, 97, 98, 99, 100])
        #expect(RetentionPolicy().kept(of: states).map(\.sequence) == [100])
        #expect(RetentionPolicy().kept(of: []).isEmpty)
    }
}
