import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Keeps the appended frames in a list.
private final class ListSink: FrameSink {
    private(set) var payloads: [[UInt8]] = []
    let payloadMax = 1 << 20

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        payloads.append(Array(payload))
        return FrameTicket(number: payloads.count - 1)
    }
}

struct IndexBlockTests {
    private func bytes(_ key: [UInt8], _ row: UInt64) -> [UInt8] {
        key + (0..<6).map { UInt8(truncatingIfNeeded: row >> UInt64(40 - 8 * $0)) }
    }

    private func encode(
        _ entries: [(key: [UInt8], row: UInt64)], tombstones: Set<Int> = [], isPacked: Bool = false
    ) throws -> [UInt8] {
        let sink = ListSink()
        let encoder = IndexBlockEncoder(isPacked: isPacked)
        for (index, (key, row)) in entries.enumerated() {
            bytes(key, row).withUnsafeBytes { encoder.append($0, isTombstone: tombstones.contains(index)) }
        }
        _ = try encoder.emit(to: sink)
        return sink.payloads[0]
    }

    private func find(_ key: [UInt8], in payload: [UInt8]) throws -> UInt64? {
        try payload.withUnsafeBytes { bytes in
            let block = try #require(IndexBlock(bytes))
            return key.withUnsafeBytes { key in
                guard case .found(_, _, let entry, let matched) = block.lowerBound(key), matched >= key.count else { return nil }
                return entry.row
            }
        }
    }

    @Test
    func `Every key of a block is found, with any common prefix of the keys`() throws {
        for count in [1, 2, 15, 16, 17, 33, 200] {
            for prefix in [0, 1, 7, 8, 9, 40] {
                let head = [UInt8](repeating: 7, count: prefix)
                let entries: [(key: [UInt8], row: UInt64)] = (0..<count).map { index in
                    let rest: [UInt8] = [UInt8(index / 16), UInt8(index % 16 * 3), 1]
                    return (key: head + rest, row: UInt64(index + 1))
                }
                for isPacked in [false, true] {
                    let payload = try encode(entries, isPacked: isPacked)
                    for (key, row) in entries { #expect(try find(key, in: payload) == row) }
                    #expect(try find([255], in: payload) == nil)
                }
            }
        }
    }

    /// What a block has, read from its first entry to its last: bytes with a row number, and whether it is a tombstone.
    private func decode(_ payload: [UInt8]) throws -> [[UInt8]] {
        try payload.withUnsafeBytes { payload in
            let block = try #require(IndexBlock(payload))
            var result: [[UInt8]] = [], key: [UInt8] = [], row = IndexEntry.noRow, at = block.entriesStart
            while at < block.count {
                let isFirst = result.count % block.entriesPerInterval == 0
                if isFirst {
                    #expect(block.start(ofInterval: result.count / block.entriesPerInterval) == at)
                    (key, row) = ([], IndexEntry.noRow)
                }
                let entry = try #require(block.entry(at: at, after: key.count, row))
                key.removeLast(key.count - entry.shared)
                key += UnsafeRawBufferPointer(start: block.bytes + entry.restStart, count: entry.restCount)
                (row, at) = (entry.row, entry.next)
                result.append(bytes(Array(block.common) + key, row) + [entry.isTombstone ? 1 : 0])
            }
            #expect(result.count == block.entryCount)
            return result
        }
    }

    private func bound(_ key: [UInt8], in payload: [UInt8]) throws -> [UInt64]? {
        try payload.withUnsafeBytes { bytes in
            let block = try #require(IndexBlock(bytes))
            switch key.withUnsafeBytes(block.lowerBound) {
            case .found(let start, let skipped, let entry, let matched):
                let interval = (0..<block.intervalCount).first { block.start(ofInterval: $0) == start } ?? -1
                return [UInt64(interval * block.entriesPerInterval + skipped), entry.row, matched >= key.count ? 1 : 0, entry.isTombstone ? 1 : 0]
            case .none: return nil
            case .malformed:
                Issue.record("the block is malformed")
                return nil
            }
        }
    }

    @Test
    func `A packed block has the entries that it was made from, and finds each key as a plain block does`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let steps: [UInt64] = [1, 2, 31, 32, 33, 4095, 4096, 524_287, 524_288, 1 << 40]
        // How many rows a term has: all, one, some.
        for termRows in [1000, 1, 2, 31, 32, 33, 0] {
            for count in [1, 2, 3, 31, 32, 33, 63, 64, 65, 300] {
                var entries: [(key: [UInt8], row: UInt64)] = [], term = 0, left = 0, row: UInt64 = 0
                for _ in 0..<count {
                    if left == 0 {
                        term += 1
                        left = termRows == 0 ? Int.random(in: 1...80, using: &random) : termRows
                        row = 0
                    }
                    left -= 1
                    row = min(row + (steps.randomElement(using: &random) ?? 1), RowReference.rowMask - UInt64(count) + UInt64(entries.count))
                    // Terms of which one begins another, too.
                    let letters = String(term, radix: 3).utf8.map { $0 - 47 }
                    entries.append(([1] + Array(letters) + [0], row))
                }
                entries.sort { bytes($0.key, $0.row).lexicographicallyPrecedes(bytes($1.key, $1.row)) }
                let tombstones = Set((0..<count).filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
                let plain = try encode(entries, tombstones: tombstones), packed = try encode(entries, tombstones: tombstones, isPacked: true)
                let expected = entries.enumerated().map { bytes($1.key, $1.row) + [tombstones.contains($0) ? 1 : 0] }
                #expect(try decode(plain) == expected, "seed \(seed)")
                #expect(try decode(packed) == expected, "seed \(seed)")
                var keys: [[UInt8]] = [[], [0], [1], [255]]
                for (key, row) in entries {
                    keys += [key, Array(key.dropLast()), key + [255]]
                    for near in [row - 1, row, row + 1] { keys.append(bytes(key, near)) }
                    keys.append(Array(bytes(key, row).dropLast(2)))
                }
                for key in keys { #expect(try bound(key, in: packed) == bound(key, in: plain), "seed \(seed), \(key)") }
                if termRows == 1000, count == 300 { #expect(packed.count * 2 < plain.count) }
            }
        }
    }

    @Test
    func `Damage to a packed block is found, or gives other entries; it never traps`() throws {
        let entries: [(key: [UInt8], row: UInt64)] = (0..<70).map { number -> (key: [UInt8], row: UInt64) in
            let letter: UInt8 = number < 40 ? 5 : 6
            return (key: [1, letter, 0], row: UInt64(number * 300 + 1))
        }
        let payload = try encode(entries, isPacked: true)
        for position in payload.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF, payload[position] ^ 1] as [UInt8] {
                var damaged = payload
                damaged[position] = value
                damaged.withUnsafeBytes { bytes in
                    guard let block = IndexBlock(bytes) else { return }
                    for (key, row) in entries { _ = self.bytes(key, row).withUnsafeBytes(block.lowerBound) }
                }
            }
        }
    }

    /// Keys made from values never have this form; a merge may copy such keys from a damaged file.
    @Test
    func `A block with a key that begins another is encoded`() throws {
        for isPacked in [false, true] {
            let entries: [(key: [UInt8], row: UInt64)] = [([5, 5, 5, 1], 1), ([5], 0x05_05_05_05_05_05), ([5, 5, 5, 9], 2)]
            let payload = try encode(entries, isPacked: isPacked)
            #expect(try find([5, 5, 5, 1], in: payload) == 1)
        }
    }
}

/// Index keys with long common beginnings, whose separators are as long.
struct LongKeyTests {
    /// The root has every separator. It once was larger than a frame, so that no checkpoint could be written.
    @Test(arguments: [100, 255, 257, 5000, 40_000])
    func `Keys with long common beginnings leave the root small`(length: Int) throws {
        let sample = try SampleStore()
        let beginnings = ["a", "bc"].map { $0 + String(repeating: "x", count: length) }
        for part in 0..<8 {
            try sample.store.write { transaction in
                for number in part * 100..<part * 100 + 100 {
                    try sample.put(
                        transaction, try transaction.newRow(in: sample.table.id),
                        .init(name: beginnings[number % 2] + "\(number)", age: Int64(number), group: 1))
                }
            }
            try sample.store.checkpoint()
        }
        _ = try sample.store.compact()
        try sample.reopen()
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem)
        #expect(report.isSound && report.rows == 800, "\(report.problems)")
        let runs = try #require(sample.store.snapshot().indexes[Int(sample.byName.rawValue)]?.disk)
        for run in runs {
            let root = try run.blocks()
            let separators = (0..<root.count).reduce(0) { $0 + root.wholeSeparator($1).count }
            #expect(separators <= max(256 * root.count, 800 * length / 32), "\(separators) bytes in \(root.count) blocks")
        }
        for number in stride(from: 0, to: 800, by: 7) {
            let key = KeyBuilder()
            key.append(text: beginnings[number % 2] + "\(number)")
            #expect(try sample.rows(sample.store.snapshot(), sample.byName, .prefix(key.bytes)).count == 1)
        }
    }

    private func put(_ count: Int, _ sample: SampleStore, _ name: (Int) -> String) throws {
        for start in stride(from: 0, to: count, by: 500) {
            try sample.store.write { transaction in
                for number in start..<min(start + 500, count) {
                    let row = try transaction.newRow(in: sample.table.id)
                    sample.people[row] = .init(name: name(number), age: 1, group: 1)
                    try sample.put(transaction, row, .init(name: name(number), age: 1, group: 1))
                }
            }
        }
    }

    /// Blocks of the usual size would have separators of half a MiB in total, and a frame has room for 56 KiB.
    @Test
    func `Blocks grow if the root has no room for all separators`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        try put(12_000, sample) { String(format: "%08d", $0 / 130) + String(repeating: "x", count: 1000) + String(format: "%08d", $0) }
        try sample.store.checkpoint()
        try sample.store.compact()
        let runs = try #require(sample.store.snapshot().indexes[Int(sample.byName.rawValue)])
        #expect(runs.fresh.isEmpty && runs.disk.count == 1)
        try sample.reopen()
        #expect(sample.store.statistics.bytesReplayed == 0)
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }

    /// Blocks cannot be larger than a frame.
    @Test
    func `An index without room for its root is left out of the checkpoint`() throws {
        let sample = try SampleStore { $0.segmentShift = 16 }
        try put(1000, sample) { ($0 % 2 == 0 ? "a" : "b") + String(repeating: "x", count: 7000) + String(format: "%04d", $0) }
        for _ in 0..<2 {
            try sample.store.checkpoint()
            try sample.check(sample.store.snapshot(), sample.people)
        }
        let runs = try #require(sample.store.snapshot().indexes[Int(sample.byName.rawValue)])
        #expect(!runs.fresh.isEmpty && runs.disk.isEmpty)
        try sample.store.compact()
        try sample.check(sample.store.snapshot(), sample.people)
        try sample.reopen()
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem).isSound)
    }
}
