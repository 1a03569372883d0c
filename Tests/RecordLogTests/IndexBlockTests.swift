import Testing

@testable import RecordLog

/// Keeps the frames that it is given.
private final class ListSink: FrameSink {
    private(set) var payloads: [[UInt8]] = []

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        payloads.append(Array(payload))
        return FrameTicket(number: payloads.count - 1)
    }

    func place() throws(StoreError) {}

    func pointer(_ ticket: FrameTicket) -> FramePointer { .none }
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

    @Test func everyKeyOfABlockIsFoundWhateverTheyHaveInCommon() throws {
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

    /// Keys made from values never do that; what a merge copies from a damaged file may.
    @Test func aBlockWhereOneKeyIsTheStartOfOthersIsEncoded() throws {
        let payload = try encode([(key: [5, 5, 5, 1], row: 1), (key: [5], row: 0x05_05_05_05_05_05), (key: [5, 5, 5, 9], row: 2)])
        #expect(try find([5, 5, 5, 1], in: payload) == 1)
    }
}
