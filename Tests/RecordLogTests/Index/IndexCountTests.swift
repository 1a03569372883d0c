import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct IndexCountTests {
    /// A range's entries and rows agree with a cursor's, and iteration stops when the body wants no more.
    private func checkScanAgainstCursor(_ snapshot: Snapshot, _ index: IndexID, _ range: KeyRange, upTo limit: Int) throws {
        var expected: [[UInt8]] = [], rows: [UInt64] = []
        var cursor = try snapshot.cursor(index, range)
        while let row = try cursor.next() {
            expected.append(Array(cursor.unsafeKey))
            rows.append(row)
        }
        var keys: [[UInt8]] = [], found: [UInt64] = []
        try snapshot.entries(index, range) { key, row in
            keys.append(Array(key))
            found.append(row)
            return true
        }
        #expect(keys == expected && found == rows)
        var taken = 0
        try snapshot.entries(index, range) { _, _ in
            taken += 1
            return taken < limit
        }
        #expect(taken == min(max(limit, 1), rows.count))
        found = []
        let all = try snapshot.rows(index, range) { row in
            found.append(row.reference.row)
            return true
        }
        #expect(found == rows && all == (rows.count, false))
        taken = 0
        let some = try snapshot.rows(index, range) { _ in
            taken += 1
            return taken < limit
        }
        #expect(some.count == taken && some.isEnded == (limit <= rows.count && !rows.isEmpty))
        let first = try snapshot.rows(index, range, limit: limit) { _ in true }
        #expect(first == (limit, false))
        struct Stop: Error {}
        if !rows.isEmpty { #expect(throws: Stop.self) { try snapshot.entries(index, range) { _, _ in throw Stop() } } }
    }

    /// Counts by blocks, with entries and tombstones over them, agree with a scan.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `A count of a range agrees with a scan`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore()
        func name() -> String? { Int.random(in: 0..<4, using: &random) == 0 ? nil : "name \(Int.random(in: 0..<500, using: &random))" }
        func change(_ count: Int) throws {
            try sample.store.write { transaction in
                for _ in 0..<count {
                    let known = sample.people.keys.sorted()
                    switch known.isEmpty ? 0 : Int.random(in: 0..<4, using: &random) {
                    case 2:
                        let row = known.randomElement(using: &random)!
                        _ = try transaction.delete(sample.reference(row))
                        sample.people[row] = nil
                    case 3:
                        let row = known.randomElement(using: &random)!
                        let person = SampleStore.Person(name: name(), age: Int64.random(in: 0..<40, using: &random), group: 1)
                        try sample.put(transaction, row, person)
                        sample.people[row] = person
                    default:
                        let person = SampleStore.Person(
                            name: name(), age: Int64.random(in: 0..<40, using: &random), group: UInt64.random(in: 1..<5, using: &random))
                        let row = try transaction.newRow(in: sample.table.id)
                        try sample.put(transaction, row, person)
                        sample.people[row] = person
                    }
                }
            }
        }
        func bound(_ index: IndexID) -> [UInt8]? {
            guard Int.random(in: 0..<6, using: &random) > 0 else { return nil }
            let key = KeyBuilder()
            if index == sample.byName { key.append(textPrefix: "name \(Int.random(in: 0..<60, using: &random))") }
            if index == sample.byAge { key.append(int64: Int64.random(in: -1..<41, using: &random), descending: true) }
            if index == sample.byGroup {
                key.append(reference: RowReference(table: TableID(rawValue: 9), row: UInt64.random(in: 0..<6, using: &random)))
            }
            return key.bytes
        }
        for round in 0..<5 {
            try change(round == 0 ? 600 : 12)
            if round < 3 { try sample.store.checkpoint() }
            let snapshot = sample.store.snapshot()
            for index in [sample.byName, sample.byAge, sample.byGroup] {
                #expect(try snapshot.count(index, .all) == sample.people.count, "seed \(seed), round \(round)")
                for _ in 0..<20 {
                    let range = KeyRange(lower: bound(index), upper: bound(index))
                    let scanned = try sample.rows(snapshot, index, range).count
                    #expect(try snapshot.count(index, range) == scanned, "seed \(seed), round \(round), \(range)")
                    #expect(try snapshot.estimate(index, range) >= scanned, "seed \(seed), round \(round), \(range)")
                    #expect(!range.isEmpty || scanned == 0)
                    try checkScanAgainstCursor(snapshot, index, range, upTo: Int.random(in: 0...scanned, using: &random))
                }
            }
        }
    }

    @Test
    func `A part of a table is scanned by row numbers`() throws {
        let sample = try SampleStore()
        try sample.store.write { transaction in
            for number in 0..<9000 {
                try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: nil, age: Int64(number), group: 1))
            }
        }
        try sample.store.checkpoint()
        let snapshot = sample.store.snapshot()
        #expect(snapshot.rowLimit(sample.table.id) == 9001)
        for rows in [0..<1, 0..<4096, 1..<2, 4096..<8192, 4090..<4100, 8192..<20000, 5..<5] as [Range<UInt64>] {
            for first in [Int.max, 1, 0, 100] {
                var found: [UInt64] = []
                try snapshot.scanBatches(sample.table.id, rows: rows, first: first) { batch in
                    found += batch.map(\.reference.row)
                    return true
                }
                #expect(found == Array(rows.clamped(to: 1..<9001)), "\(rows)")
            }
        }
    }

    @Test
    func `A scan that stops early reads few rows`() throws {
        let sample = try SampleStore()
        try sample.store.write { transaction in
            for number in 0..<1000 {
                try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: nil, age: Int64(number), group: 1))
            }
        }
        let snapshot = sample.store.snapshot()
        var sizes: [Int] = []
        try snapshot.scanBatches(sample.table.id, first: 3) { batch in
            sizes.append(batch.count)
            return sizes.reduce(0, +) < 40
        }
        #expect(sizes == [3, 6, 12, 24])
        sizes = []
        try snapshot.scanBatches(sample.table.id) { batch in
            sizes.append(batch.count)
            return true
        }
        #expect(sizes == Array(repeating: 128, count: 7) + [104])
    }

    /// Each component of a key ends where the next begins, and truncated keys have no end.
    @Test
    func `Components of a key have distinct boundaries`() {
        let parts: [(ColumnType, (KeyBuilder, Bool) -> Void)] = [
            (.bool, { $0.append(bool: true, descending: $1) }), (.int32, { $0.append(int64: -7, descending: $1) }),
            (.date, { $0.append(double: 2.5, descending: $1) }),
            (.uuid, { $0.append(uuid: (1, .max), descending: $1) }), (.text, { $0.append(text: "a\u{0}b\u{1}\u{7F}ÿ", descending: $1) }),
            (.text, { $0.append(text: "", descending: $1) }),
            (.decimal, { $0.append(decimal: StoredDecimal(mantissa: 105, exponent: -1, isNegative: false, isNaN: false), descending: $1) }),
            (.decimal, { $0.append(decimal: StoredDecimal(mantissa: 105, exponent: -1, isNegative: true, isNaN: false), descending: $1) }),
            (.decimal, { $0.append(decimal: .zero, descending: $1) }), (.int64, { $0.appendNull(descending: $1) }),
            (.reference, { $0.append(reference: RowReference(rawValue: 77), descending: $1) }),
        ]
        for isDescending in [false, true] {
            let key = KeyBuilder()
            var ends: [Int] = []
            for (_, append) in parts {
                append(key, isDescending)
                ends.append(key.count)
            }
            var at = 0
            for (index, part) in parts.enumerated() {
                let end = KeyBuilder.componentEnd(at: at, in: key.unsafeBuffer, part.0, descending: isDescending)
                #expect(end == ends[index], "\(part.0)")
                let cut = UnsafeRawBufferPointer(rebasing: key.unsafeBuffer[..<(ends[index] - 1)])
                #expect(KeyBuilder.componentEnd(at: at, in: cut, part.0, descending: isDescending) == nil, "\(part.0)")
                at = ends[index]
            }
        }
    }
}
