import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// The list of a log's commits.
@Suite struct CommitLogTests {
    private func entries(_ store: LogStore, _ filter: CommitLog.Filter = CommitLog.Filter(), limit: Int = .max) throws -> [CommitLog.Entry] {
        var entries: [CommitLog.Entry] = []
        try CommitLog(store).forEach(filter) { entry in
            entries.append(entry)
            return entries.count < limit
        }
        return entries
    }

    private func reader(_ store: BackedUpStore, _ past: PastCommit? = nil) throws -> LogStore {
        var options = store.options(store.files)
        options.isReadOnly = true
        options.asOf = past
        return try LogStore.open(path: SampleStore.path, options: options)
    }

    @Test(arguments: [1, 4, 100])
    func `Every commit is listed once, newest first, with its rows and bytes`(commitsBetweenCheckpoints: Int) throws {
        let store = try BackedUpStore()
        for number in 0..<18 {
            try store.commit(number)
            if number % commitsBetweenCheckpoints == 0 { try store.sample.store.checkpoint() }
        }
        let log = try reader(store), found = try entries(log)
        #expect(found.map(\.sequence) == (1...store.sequence).reversed())
        for entry in found {
            let commit = try #require(try log.commit(entry.sequence))
            #expect(entry.offset == commit.offset && entry.byteCount == commit.byteCount && entry.timestamp == commit.timestamp)
            let deleted = commit.changes.filter(\.isDeletion).count
            #expect(entry.changes.values.reduce(0) { $0 + $1.deleted } == deleted)
            #expect(entry.changes.values.reduce(0) { $0 + $1.written } == commit.changes.count - deleted)
        }
        for limit in [1, 2, 7] { #expect(try entries(log, limit: limit).map(\.sequence) == found.prefix(limit).map(\.sequence)) }
    }

    @Test
    func `Commits are chosen by table, by row and by time`() throws {
        let store = try BackedUpStore()
        for number in 0..<12 { try store.commit(number) }
        let log = try reader(store), all = try entries(log), table = store.sample.table.id
        var filter = CommitLog.Filter()
        filter.tables = [table]
        #expect(try entries(log, filter).map(\.sequence) == all.filter { $0.changes[table] != nil }.map(\.sequence))
        filter.tables = [TableID(rawValue: 999)]
        #expect(try entries(log, filter).isEmpty)
        let row = store.sample.reference(1)
        filter = CommitLog.Filter()
        filter.row = row
        let wanted = try all.filter { entry in try log.commit(entry.sequence)?.changes.contains { $0.reference == row } ?? false }
        #expect(try entries(log, filter).map(\.sequence) == wanted.map(\.sequence) && !wanted.isEmpty)
        filter = CommitLog.Filter()
        filter.times = all[5].timestamp...all[3].timestamp
        #expect(try entries(log, filter).map(\.sequence) == all.filter { filter.times.contains($0.timestamp) }.map(\.sequence))
        filter.times = .min ... -1
        #expect(try entries(log, filter).isEmpty)
    }

    @Test
    func `A large commit is listed without its rows, and a listed row is one that the commit changed`() throws {
        let store = try BackedUpStore()
        for number in 0..<12 { try store.commit(number) }
        let log = try reader(store), all = try entries(log)
        var filter = CommitLog.Filter()
        // Some commits of a large value have more bytes.
        filter.readBytesMax = try #require(all.filter { $0.rows >= 3 }.map(\.byteCount).max())
        filter.firstMax = 3
        let found = try entries(log, filter)
        #expect(found.map(\.sequence) == all.map(\.sequence) && found.map(\.rows) == all.map(\.rows))
        for entry in found {
            let isRead = entry.byteCount <= filter.readBytesMax
            let changes = try #require(try log.commit(entry.sequence)).changes
            #expect(entry.rows == changes.count && entry.changes.isEmpty == !(isRead && entry.rows > 0))
            #expect(entry.first.map(\.reference) == (isRead ? changes.prefix(3).map(\.reference) : []))
            #expect(entry.first.map(\.isDeletion) == (isRead ? changes.prefix(3).map(\.isDeletion) : []))
        }
        #expect(found.contains { $0.first.count == 3 } && found.contains { $0.rows > 0 && $0.changes.isEmpty })
        // A filter by row has to read it.
        filter.row = store.sample.reference(1)
        #expect(try entries(log, filter).allSatisfy { !$0.changes.isEmpty })
    }

    @Test
    func `A past handle lists the commits up to its own, and a compacted store those that it kept`() throws {
        let store = try BackedUpStore()
        for number in 0..<12 { try store.commit(number) }
        #expect(try entries(try reader(store, .number(5))).map(\.sequence) == [5, 4, 3, 2, 1])
        _ = try store.sample.store.compact(keeping: .commits(3))
        let last = store.sequence
        try store.commit(12)
        #expect(try entries(try reader(store)).map(\.sequence) == (last - 3...last + 1).reversed())
    }

    @Test
    func `A damaged commit is an error after the commits behind it`() throws {
        let memory = MemoryFileSystem(), store = try BackedUpStore(files: memory)
        for number in 0..<12 {
            try store.commit(number)
            if number == 7 { try store.sample.store.checkpoint() }
        }
        let commit = try #require(try store.sample.store.commit(3)), log = try reader(store)
        let file = try memory.open(SampleStore.path, .readWrite)
        try [UInt8](repeating: 0xA5, count: 16).withUnsafeBytes { try file.write($0, at: commit.offset + 40) }
        var seen: [UInt64] = []
        #expect {
            try CommitLog(log).forEach { entry in
                seen.append(entry.sequence)
                return true
            }
        } throws: { ($0 as? StoreError)?.code == .corrupt }
        #expect(!seen.isEmpty && seen == Array((store.sequence - UInt64(seen.count) + 1...store.sequence).reversed()))
    }
}
