import Foundation
import Testing

@testable import RecordLog

/// Values in frames of their own: when they are written, and how much is read.
@Suite struct LargeValueTests {
    private func picture(_ count: Int, _ fill: UInt8 = 7) -> SampleStore.Picture { .init(fill: fill, count: count) }

    private func read(_ sample: SampleStore, _ row: UInt64) throws -> ValueReader {
        let snapshot = sample.store.snapshot()
        let view = try #require(try snapshot.unsafeRow(sample.reference(row)))
        return try #require(try snapshot.value(sample.table.currentLayout.access[3], of: view))
    }

    private func kinds(_ sample: SampleStore) throws -> [FrameKind] {
        var kinds: [FrameKind] = []
        try StoreInspector(store: sample.store).forEachFrame(upTo: sample.store.log.end) { kinds.append($0.header.kind) }
        return kinds
    }

    @Test
    func `A value is written in one piece with its row and its commit`() throws {
        let disk = SimulatedFileSystem()
        let sample = try SampleStore(fileSystem: disk) { $0.durability = .none }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let before = disk.operationCount
        try sample.insert(.init(name: "b", age: 1, group: 1, picture: picture(100_000)))
        #expect(Array(disk.operations[before...]) == [.write, .write], "the commit and its superblock")
    }

    /// The bounds of a store with segments of 64 KiB: 1024 bytes in the row, chunks of 8160.
    @Test(arguments: [0, 1, 1023, 1024, 1025, 8159, 8160, 8161, 16_320, 16_321, 100_000])
    func `A value of any length comes back`(count: Int) throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        let row = try sample.insert(.init(name: "a", age: 1, group: 1, picture: picture(count)))
        for isReopened in [false, true] {
            if isReopened { try sample.reopenAfterCrash() }
            try sample.check(sample.store.snapshot(), sample.people)
            let value = try read(sample, row)
            #expect(value.count == count && value.isInline == (count <= 1024))
            #expect(value.chunkCount == max(1, (count + 8159) / 8160))
        }
        let chunks = count <= 1024 ? 0 : (count + 8159) / 8160
        #expect(try kinds(sample).filter { $0 == .valueChunk }.count == chunks)
        #expect(try kinds(sample).filter { $0 == .valueList }.count == (chunks > 1 ? 1 : 0))
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).values == (chunks > 0 ? 1 : 0))
    }

    @Test
    func `Parts of a value are read at every position`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let row = try sample.store.write { transaction in
            let row = try transaction.newRow(in: sample.table.id)
            let builder = RowBuilder()
            builder.begin(sample.table.currentLayout)
            // In pieces of every size, some of them longer than a chunk.
            builder.set(3, value: try transaction.writeValue { writer in
                var at = 0, step = 0
                while at < bytes.count {
                    step += 1
                    let end = min(bytes.count, at + step * step * 13)
                    try bytes[at..<end].withUnsafeBytes { try writer.append($0) }
                    at = end
                    #expect(writer.count == UInt64(at))
                }
            })
            try transaction.put(sample.reference(row), body: builder.unsafeBody())
            return row
        }
        let value = try read(sample, row)
        var pieces: [UInt8] = []
        try value.forEachChunk { chunk in
            pieces += chunk
            return true
        }
        #expect(pieces == bytes)
        for (start, count) in [(0, 1), (0, 8160), (8159, 2), (8160, 8160), (1, 30_000), (49_990, 100), (50_000, 5), (60_000, 5)] {
            var buffer = [UInt8](repeating: 0, count: count)
            let found = try buffer.withUnsafeMutableBytes { try value.read(into: $0, from: start) }
            #expect(Array(buffer[..<found]) == Array(bytes[min(start, bytes.count)..<min(start + count, bytes.count)]), "\(start), \(count)")
        }
    }

    /// The cost of changing another column does not depend on the value.
    @Test
    func `A change of another column writes no value`() throws {
        let sample = try SampleStore { $0.zeroAheadBytes = 0 }
        let row = try sample.insert(.init(name: "a", age: 1, group: 1, picture: picture(5_000_000)))
        let before = sample.store.statistics
        var person = try #require(sample.people[row])
        person.age = 2
        try sample.store.write { try sample.put($0, row, person) }
        let after = sample.store.statistics
        #expect(after.bytesAppended - before.bytesAppended < 400 && after.framesAppended - before.framesAppended == 1)
        sample.people[row] = person
        try sample.check(sample.store.snapshot(), sample.people)
        // The value's bytes stay live, and only the old version's row is dead.
        let table = try #require(try StoreInspection.inspect(path: SampleStore.path, fileSystem: sample.fileSystem).tables.first)
        #expect(table.values == .init(count: 1, bytes: 5_000_000) && table.liveBytes > 5_000_000 && table.liveBytes < 5_000_200)
        // A deletion makes the value dead.
        try sample.store.write { _ = try $0.delete(sample.reference(row)) }
        let report = try StoreInspection.inspect(path: SampleStore.path, fileSystem: sample.fileSystem)
        #expect(report.liveBytes < 1000 && report.deadBytes > 5_000_000)
        #expect(try sample.store.compact().bytesAfter < 20_000)
    }

    /// A store whose tables have no such column has no extra cost: its frames are unchanged.
    @Test
    func `Tables without values have only rows`() throws {
        let fileSystem = MemoryFileSystem()
        var options = StoreOptions()
        options.fileSystem = fileSystem
        let store = try LogStore.open(path: "plain", options: options)
        try store.write { transaction in
            let table = try transaction.defineTable(name: "plain", columns: [("bytes", .bytes)])
            let builder = RowBuilder()
            builder.begin(table.currentLayout)
            let bytes = [UInt8](repeating: 1, count: 100_000)
            bytes.withUnsafeBytes { builder.set(0, bytes: $0) }
            try transaction.put(RowReference(table: table.id, row: try transaction.newRow(in: table.id)), body: builder.unsafeBody())
            #expect(!table.hasValues)
        }
        var kinds: [FrameKind] = []
        try StoreInspector(store: store).forEachFrame(upTo: store.log.end) { kinds.append($0.header.kind) }
        #expect(kinds == [.rows, .commit] || kinds == [.commit])
        #expect(store.snapshot().tables.last??.liveBytes == UInt64(RowRecord.size(ofBody: 100_000 + 3)))
    }

    // MARK: Transactions

    @Test
    func `A transaction that throws leaves nothing of a value`() throws {
        struct Stop: Error {}
        let sample = try SampleStore { $0.zeroAheadBytes = 0 }
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        let end = try sample.fileSystem.open(SampleStore.path, .readOnly).size(), logEnd = sample.store.log.end
        #expect(throws: Stop.self) {
            try sample.store.write { transaction in
                _ = try picture(9_000_000).withBytes { try transaction.writeValue($0) }
                #expect(transaction.appender.base > logEnd)
                throw Stop()
            }
        }
        #expect(try sample.fileSystem.open(SampleStore.path, .readOnly).size() == end)
        // Nor is one of a transaction without rows.
        try sample.store.write { transaction in _ = try picture(9_000_000).withBytes { try transaction.writeValue($0) } }
        #expect(try sample.fileSystem.open(SampleStore.path, .readOnly).size() == end)
        try sample.insert(.init(name: "after", age: 1, group: 1, picture: picture(3000)))
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// The stream ends early, and the transaction continues: the written bytes are dead, and nothing refers to them.
    @Test
    func `A value whose stream stops is dead`() throws {
        struct Stop: Error {}
        let sample = try SampleStore { $0.segmentShift = 16 }
        try sample.store.write { transaction in
            var kept: ValueWriter?
            #expect(throws: Stop.self) {
                _ = try transaction.writeValue { writer in
                    kept = writer
                    try picture(30_000).withBytes { try writer.append($0) }
                    throw Stop()
                }
            }
            let late = #expect(throws: StoreError.self) { try picture(1).withBytes { try kept?.append($0) } }
            #expect(late?.code == .invalidArgument)
            let row = try transaction.newRow(in: sample.table.id)
            sample.people[row] = .init(name: "a", age: 1, group: 1, picture: picture(2000))
            try sample.put(transaction, row, sample.people[row]!)
        }
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try kinds(sample).filter { $0 == .valueChunk }.count == 4)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    /// One transaction writes rows and values alternately; its rows may be read, changed and flushed meanwhile.
    @Test
    func `A transaction reads its own values`() throws {
        let sample = try SampleStore { $0.flushSize = 10_000 }
        let access = sample.table.currentLayout.access[3]
        try sample.store.write { transaction in
            for number in 0..<20 {
                let row = try transaction.newRow(in: sample.table.id)
                sample.people[row] = .init(name: "row \(number)", age: 1, group: 1, picture: picture(number * 900, UInt8(number)))
                try sample.put(transaction, row, sample.people[row]!)
            }
            for row in sample.people.keys.sorted() {
                let view = try #require(try transaction.unsafeRow(sample.reference(row)))
                let value = try #require(try transaction.value(access, of: view))
                #expect(try SampleStore.Picture(value) == sample.people[row]?.picture)
                sample.people[row]?.age = 2
                try sample.put(transaction, row, sample.people[row]!)
            }
        }
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// A value belongs to one row; a reference from elsewhere would be dangling after a compaction, or be counted twice.
    @Test
    func `A value of another row is refused`() throws {
        let sample = try SampleStore()
        let row = try sample.insert(.init(name: "a", age: 1, group: 1, picture: picture(9000)))
        let old = sample.store.snapshot()
        let builder = RowBuilder()
        func body(_ from: UnsafeRowView) -> UnsafeRawBufferPointer {
            builder.begin(sample.table.currentLayout, copying: from, of: sample.table.currentLayout)
            return builder.unsafeBody()
        }
        func isRefused(_ put: (Transaction) throws -> Void) {
            let error = #expect(throws: StoreError.self) { try sample.store.write { try put($0) } }
            #expect(error?.code == .invalidArgument && error?.remedy.contains("writeValue") == true)
        }
        let stale = try #require(try old.unsafeRow(sample.reference(row)))
        isRefused { try $0.put(sample.reference(try $0.newRow(in: sample.table.id)), body: body(stale)) }
        _ = try sample.store.compact()
        isRefused { try $0.put(sample.reference(row), body: body(stale)) }
        isRefused { transaction in
            let value = try picture(9000).withBytes { try transaction.writeValue($0) }
            for _ in 0..<2 {
                builder.begin(sample.table.currentLayout)
                builder.set(3, value: value)
                try transaction.put(sample.reference(try transaction.newRow(in: sample.table.id)), body: builder.unsafeBody())
            }
        }
        try sample.check(sample.store.snapshot(), sample.people)
        // The old snapshot reads from its own file.
        try sample.check(old, sample.people)
    }

    @Test
    func `An index over values is refused`() throws {
        let sample = try SampleStore()
        let columns = sample.table.currentLayout.columns
        let error = #expect(throws: StoreError.self) {
            let parts = [IndexPart(column: columns[3].id, ascending: true)]
            try sample.store.write { _ = try $0.defineIndex(named: "picture", on: sample.table.id, parts: parts) }
        }
        #expect(error?.code == .schema && error?.message.contains("picture") == true)
        // Nor may an indexed column change to the type.
        let changed = #expect(throws: StoreError.self) {
            try sample.store.write { _ = try $0.addLayout(to: sample.table.id, columns: [Column(id: columns[0].id, name: "name", type: .value)]) }
        }
        #expect(changed?.code == .schema)
        // A catalog with such an index is refused.
        let index = IndexDefinition(
            id: IndexID(rawValue: 1), table: sample.table.id, name: "x",
            parts: [IndexPart(column: columns[3].id, ascending: true)], extractorName: nil)
        let catalog = Catalog(tables: [sample.table], indexes: [index], nextTable: 10, nextIndex: 10)
        #expect(catalog.encoded().withUnsafeBytes { Catalog($0) } == nil)
    }

    @Test
    func `A value longer than its list can hold is refused`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        let most = ValueList.chunksMax(segmentSize: 1 << 16) * ValueChunk.sizeMax(segmentSize: 1 << 16)
        let error = #expect(throws: StoreError.self) {
            try sample.store.write { transaction in
                _ = try transaction.writeValue { writer in
                    try picture(most).withBytes { try writer.append($0) }
                    try picture(2).withBytes { try writer.append($0) }
                    try picture(9000).withBytes { try writer.append($0) }
                }
            }
        }
        #expect(error?.code == .tooLarge)
        let row = try sample.insert(.init(name: nil, age: 1, group: 1, picture: picture(most)))
        #expect(try read(sample, row).chunkCount == ValueList.chunksMax(segmentSize: 1 << 16))
    }
}
