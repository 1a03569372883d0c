import Foundation
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
    private func encode(_ entries: [(key: [UInt8], row: UInt64)]) throws -> [UInt8] {
        let sink = ListSink()
        let encoder = IndexBlockEncoder()
        for (key, row) in entries {
            let suffix = (0..<6).map { UInt8(truncatingIfNeeded: row >> UInt64(40 - 8 * $0)) }
            (key + suffix).withUnsafeBytes { encoder.append($0, isTombstone: false) }
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

    @Test("Every key of a block is found, with any common prefix of the keys") func everyKeyIsFoundWithAnyCommonPrefix() throws {
        for count in [1, 2, 15, 16, 17, 33, 200] {
            for prefix in [0, 1, 7, 8, 9, 40] {
                let head = [UInt8](repeating: 7, count: prefix)
                let entries: [(key: [UInt8], row: UInt64)] = (0..<count).map { index in
                    let rest: [UInt8] = [UInt8(index / 16), UInt8(index % 16 * 3), 1]
                    return (key: head + rest, row: UInt64(index + 1))
                }
                let payload = try encode(entries)
                for (key, row) in entries { #expect(try find(key, in: payload) == row) }
                #expect(try find([255], in: payload) == nil)
            }
        }
    }

    /// Keys made from values never have this form; a merge may copy such keys from a damaged file.
    @Test("A block with a key that begins another is encoded") func aBlockWhereOneKeyIsTheStartOfOthersIsEncoded() throws {
        let payload = try encode([(key: [5, 5, 5, 1], row: 1), (key: [5], row: 0x05_05_05_05_05_05), (key: [5, 5, 5, 9], row: 2)])
        #expect(try find([5, 5, 5, 1], in: payload) == 1)
    }
}

/// Index keys with long common beginnings, whose separators are as long.
struct LongKeyTests {
    /// The root has every separator. It once was larger than a frame, so that no checkpoint could be written.
    @Test("Keys with long common beginnings leave the root small", arguments: [100, 255, 257, 5000, 40_000])
    func keysThatBeginAlikeForLongLeaveTheRootSmall(length: Int) throws {
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
    @Test("Blocks grow if the root has no room for all separators") func blocksGrowWhereTheRootHasNoRoomForAllSeparators() throws {
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
    @Test("An index without room for its root is left out of the checkpoint") func anIndexWithoutRoomForItsRootIsLeftOutOfTheCheckpoint() throws {
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
