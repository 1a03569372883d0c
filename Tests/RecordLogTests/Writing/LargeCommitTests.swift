import Testing

@testable import RecordLog

@Suite struct LargeCommitTests {
    /// The zeroes written ahead of a commit's last, small piece once overwrote the pieces flushed before it.
    @Test
    func `A commit of several writes is complete`() throws {
        let sample = try SampleStore { $0.checkpointAfterBytes = 1 << 30 }
        let name = String(repeating: "x", count: 400)
        var people: [UInt64: SampleStore.Person] = [:]
        try sample.store.write { transaction in
            for number in 0..<12_100 {
                let row = try transaction.newRow(in: sample.table.id)
                people[row] = .init(name: "\(name)\(number)", age: Int64(number), group: UInt64(number % 7))
                try sample.put(transaction, row, people[row]!)
            }
        }
        #expect(sample.store.statistics.bytesAppended > UInt64(FrameAppender.flushSize))
        try sample.reopenAfterCrash()
        #expect(try sample.contents(sample.store.snapshot()) == people)
        // The same holds for the pages and runs of a large checkpoint.
        try sample.store.checkpoint()
        try sample.reopenAfterCrash()
        #expect(try sample.contents(sample.store.snapshot()) == people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    /// The next commit of a bulk load would only overwrite them.
    @Test
    func `Zeroes are not written ahead of large commits and checkpoints`() throws {
        let sample = try SampleStore { $0.zeroAheadBytes = 4096 }
        let file = sample.store.log.file.storage
        try sample.insert(.init(name: "small", age: 1, group: 1))
        #expect(try file.size() > sample.store.log.end)
        try sample.insert(.init(name: String(repeating: "x", count: 8000), age: 1, group: 1))
        #expect(try file.size() == sample.store.log.end)
        try sample.store.checkpoint()
        #expect(try file.size() == sample.store.log.end)
    }

    /// The footer once named the pad before the commit as its first frame, so that no replay followed it.
    @Test
    func `A commit behind a pad is replayed`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        for number in 0..<12 {
            try sample.insert(.init(name: String(repeating: "x", count: 7000), age: Int64(number), group: 1))
        }
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    @Test
    func `A transaction that throws leaves nothing`() throws {
        struct Stop: Error {}
        let sample = try SampleStore()
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        let before = sample.store.snapshot().sequence
        #expect(throws: Stop.self) {
            try sample.store.write { transaction in
                for _ in 0..<20_000 {
                    let row = try transaction.newRow(in: sample.table.id)
                    try sample.put(transaction, row, .init(name: String(repeating: "y", count: 300), age: 1, group: 1))
                }
                throw Stop()
            }
        }
        #expect(sample.store.snapshot().sequence == before)
        try sample.insert(.init(name: "after", age: 2, group: 2))
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }
}
