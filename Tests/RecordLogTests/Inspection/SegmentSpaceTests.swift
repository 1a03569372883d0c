import Testing

@testable import RecordLog

/// Where a log's bytes are: by segment, by value, and what is known without its frames.
@Suite struct SegmentSpaceTests {
    /// Segments of 64 KiB. The first ones have rows that are changed later.
    private static func sample() throws -> SampleStore {
        let sample = try SampleStore { $0.segmentShift = 16 }
        for number in 0..<40 {
            try sample.insert(.init(name: String(repeating: "n", count: 100), age: Int64(number), group: 1, picture: .init(fill: 7, count: 2000 + number)))
        }
        for row in Array(sample.people.keys.sorted().prefix(20)) {
            try sample.store.write { transaction in
                try sample.put(transaction, row, .init(name: "changed", age: 1, group: 2, picture: .init(fill: 8, count: 3000)))
            }
        }
        return sample
    }

    @Test(arguments: [false, true])
    func `The segments have all bytes of the log, and those whose rows were changed have the dead ones`(hasCheckpoint: Bool) throws {
        let sample = try Self.sample()
        if hasCheckpoint { try sample.store.checkpoint() }
        let found = try sample.store.segmentSpace().segments, inspection = try StoreInspector(store: sample.store).inspect()
        #expect(found.count > 2 && found.reduce(0) { $0 + $1.bytes } == inspection.logBytes)
        // Each row's share is rounded down once in a segment.
        let live = found.reduce(0) { $0 + $1.rows }
        #expect(live <= inspection.liveBytes && live + UInt64(found.count * 2) >= inspection.liveBytes)
        #expect(found.reduce(0) { $0 + $1.indexes } <= inspection.indexBytes)
        #expect((found.reduce(0) { $0 + $1.indexes } > 0) == hasCheckpoint)
        #expect(found[0].dead > found[0].bytes / 2, "twenty of its rows have newer versions behind it")
        #expect(found[0].dead > found[1].dead)
    }

    @Test
    func `The largest values are named, the largest first`() throws {
        let sample = try Self.sample()
        let table = try #require(try StoreInspector(store: sample.store).inspect().tables.first { $0.id == sample.table.id.rawValue })
        #expect(table.values?.count == 40 && table.largest.count == 20)
        #expect(table.largest.allSatisfy { $0.bytes == 3000 && $0.column == sample.table.currentLayout.columns[3].name })
        #expect(Set(table.largest.map(\.row)) == Set(sample.people.keys.sorted().prefix(20)))
    }

    @Test
    func `A survey reads no frame and knows what a checkpoint knows`() throws {
        let sample = try Self.sample()
        try sample.store.checkpoint()
        let survey = try StoreInspector(store: sample.store).survey(), whole = try StoreInspector(store: sample.store).inspect()
        #expect(survey.commits == 0 && whole.commits == 61 && survey.newestCommitOffset == nil)
        #expect(survey.deadBytes == whole.deadBytes && survey.sequence == whole.sequence)
        #expect(survey.tables.map(\.rows) == whole.tables.map(\.rows) && survey.tables.allSatisfy { $0.values == nil })
    }
}
