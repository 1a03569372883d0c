import Dispatch
import Synchronization
import Testing

@testable import RecordLog

/// Threads that are the first to read a segment of a file, at once.
@Suite struct SegmentMappingTests {
    /// A row in a frame of its own.
    private func makeFile() throws -> (storage: any StorageFile, identity: FileIdentity, address: UInt64) {
        let storage = try MemoryFileSystem().open("store", .create)
        let identity = FileIdentity(segmentShift: 16, storeID: StoredUUID(words: (1, 2)), fileID: 3)
        let file = LogFile(storage: storage, path: "store", identity: identity, maps: true, counters: Counters())
        let appender = FrameAppender(file: file, at: FileFormat.dataStart, sequence: 1, counters: Counters())
        let body: [UInt8] = [0, 0, 0xFE, 1]
        let address = try body.withUnsafeBytes { body in
            try appender.appendRow(.put, RowReference(table: TableID(rawValue: 1), row: 1), body: body, version: 1, previous: 0)
        }
        _ = try appender.appendFooter(
            CommitFooter(sequence: 1, previousChecksum: 0, start: FileFormat.dataStart, timestamp: 0, durableSequence: 0, rowCount: 1, authorLength: 0),
            author: [])
        try appender.flush()
        return (storage, identity, address)
    }

    /// A thread may see the mapping that another thread has just made. The bits of verified frames must be there by then.
    @Test(arguments: [true, false])
    func `Threads that read a segment for the first time at once all find its rows`(maps: Bool) throws {
        let (storage, identity, address) = try makeFile(), size = try storage.size(), threads = 3
        let errors = Mutex<[String]>([])
        for _ in 0..<10_000 {
            let file = LogFile(storage: storage, path: "store", identity: identity, maps: maps, counters: Counters())
            file.extendReadable(to: size)
            let arrived = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: threads) { _ in
                arrived.add(1, ordering: .relaxed)
                // For a while only: the pool may have no second thread.
                for _ in 0..<2000 where arrived.load(ordering: .relaxed) < threads {}
                do {
                    let (record, _) = try file.record(at: address, end: size)
                    if record.reference.row != 1 { errors.withLock { $0.append("another row") } }
                } catch {
                    errors.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(errors.withLock { $0 } == [])
    }
}
