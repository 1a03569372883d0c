import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Ranges of an index with any bytes as bounds, over runs of every kind.
@Suite struct KeyRangeTests {
    @Test(arguments: [false, true])
    func `A range may begin or end at one of many equal entries`(isOnDisk: Bool) throws {
        let sample = try SampleStore()
        try sample.store.write { transaction in
            for number in 1...100 as ClosedRange<UInt64> {
                try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: nil, age: 7, group: number / 50))
            }
        }
        if isOnDisk { try sample.store.checkpoint() }
        let snapshot = sample.store.snapshot()
        var cursor = try snapshot.cursor(sample.byAge)
        _ = try cursor.next()
        for row in [1, 10, 16, 17, 33, 100] as [UInt64] {
            let suffix = KeyBuilder()
            suffix.append(row: row)
            let entry = Array(cursor.unsafeKey) + suffix.bytes
            #expect(try sample.rows(snapshot, sample.byAge, KeyRange(lower: entry)) == Array(row...100))
            #expect(try sample.rows(snapshot, sample.byAge, KeyRange(upper: entry), descending: true) == Array((1..<row).reversed()))
            #expect(try snapshot.count(sample.byAge, KeyRange(lower: entry)) == 101 - Int(row))
        }
    }

    // MARK: Random runs

    /// Entries whose keys are similar in many ways; some keys begin others.
    private static func pool(_ random: inout SeededGenerator, keyLength: Int, rowMax: UInt64) -> [[UInt8]] {
        (0..<Int.random(in: 1...400, using: &random)).map { _ in
            let entry = KeyBuilder()
            switch Int.random(in: 0..<5, using: &random) {
            case 0: break
            case 1: entry.append(int64: Int64.random(in: -3...3, using: &random), descending: Bool.random(using: &random))
            case 2: entry.appendNull()
            default:
                let text = "abc".randomElement(using: &random).map(String.init) ?? ""
                let number = String(Int.random(in: 0..<200, using: &random), radix: 3)
                entry.append(text: text + String(repeating: "x", count: keyLength) + number)
                if Bool.random(using: &random) { entry.append(int64: Int64.random(in: 0...3, using: &random)) }
            }
            entry.append(row: UInt64.random(in: 1...rowMax, using: &random))
            return entry.bytes
        }
    }

    /// Bytes equal to, within or near an entry.
    private static func bound(_ pool: [[UInt8]], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = pool.randomElement(using: &random) ?? []
        if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...min(8, bytes.count), using: &random)) }
        if Int.random(in: 0..<4, using: &random) == 0 { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
        if Int.random(in: 0..<4, using: &random) == 0, let index = bytes.indices.randomElement(using: &random) {
            bytes[index] ^= UInt8.random(in: 0...3, using: &random)
        }
        return bytes
    }

    private static func ranges(_ pool: [[UInt8]], _ random: inout SeededGenerator) -> [KeyRange] {
        [.all] + (0..<40).map { round in
            switch round % 4 {
            case 0: KeyRange(lower: bound(pool, &random))
            case 1: KeyRange(upper: bound(pool, &random))
            case 2: .prefix(bound(pool, &random))
            default: KeyRange(lower: bound(pool, &random), upper: bound(pool, &random))
            }
        }
    }

    private static func isBefore(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.precedes(b) }

    private static func scan(_ runs: RunSet, _ range: KeyRange, isDescending: Bool) throws -> [[UInt8]] {
        let merged = try runs.merged(range, isDescending: isDescending)
        var found: [[UInt8]] = []
        while try merged.next() { found.append(Array(merged.entry)) }
        return found
    }

    /// Runs in memory, spilled and on disk, in which newer ones hide older entries, beside a set of the remaining entries.
    private static func runs(
        _ pool: [[UInt8]], _ scratch: ScratchFile, _ random: inout SeededGenerator
    ) throws -> (runs: RunSet, present: Set<[UInt8]>) {
        var runs = RunSet.empty, present = Set<[UInt8]>()
        for position in 0..<Int.random(in: 1...8, using: &random) {
            let buffer = Memtable()
            for _ in 0..<([1, 5, 17, 300, 1000].randomElement(using: &random) ?? 1) {
                let entry = pool.randomElement(using: &random) ?? []
                // A present entry goes, or is put anew, as by a replay. The base has no tombstones.
                let isPresent = present.contains(entry), goes = isPresent && Int.random(in: 0..<3, using: &random) > 0
                if isPresent, position == 0 { continue }
                if goes { present.remove(entry) } else { present.insert(entry) }
                entry.withUnsafeBytes {
                    if isPresent { buffer.append($0, isTombstone: true) }
                    if !goes { buffer.append($0, isTombstone: false) }
                }
            }
            let run = ImmutableMemtable([buffer])
            if position > 2, Bool.random(using: &random) {
                runs = runs.adding(.memory(run))
                continue
            }
            let written = try scratch.write(entryCount: run.count) { writer throws(StoreError) in
                for index in 0..<run.count { try writer.append(run.key(index), isTombstone: run.isTombstone(index)) }
            }
            guard let written else { continue }
            if position < 3, runs.fresh.isEmpty { runs = RunSet(disk: [written] + runs.disk) } else { runs = runs.adding(.spilled(written)) }
        }
        return (runs, present)
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `Random ranges of random runs agree with a plain set`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try SampleStore { $0.usesMemoryMapping = seed % 2 == 0 }
        let scratch = try ScratchFile(besides: sample.store.snapshot().file, sample.options)
        let pool = Self.pool(&random, keyLength: [0, 0, 260, 1000][Int(seed % 4)], rowMax: seed % 3 == 0 ? 1 << 48 - 1 : 40)
        let (runs, present) = try Self.runs(pool, scratch, &random)
        for range in Self.ranges(pool, &random) {
            let wanted = present.filter { entry in
                range.lower.map { !Self.isBefore(entry, $0) } ?? true && range.upper.map { Self.isBefore(entry, $0) } ?? true
            }.sorted(by: Self.isBefore)
            #expect(try Self.scan(runs, range, isDescending: false) == wanted, "seed \(seed), \(range)")
            #expect(try Self.scan(runs, range, isDescending: true) == wanted.reversed(), "seed \(seed), \(range)")
            #expect(try runs.count(range) == wanted.count, "seed \(seed), \(range)")
            let prefix = Self.bound(pool, &random)
            let first = present.filter { $0.starts(with: prefix) }.min(by: Self.isBefore)
            #expect(
                try prefix.withUnsafeBytes { try runs.firstRow(prefix: $0) } == first.map { $0.withUnsafeBytes(IndexEntry.row) },
                "seed \(seed), \(prefix)")
        }
    }
}
