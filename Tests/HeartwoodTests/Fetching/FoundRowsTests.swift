import RecordLog
import Testing

@testable import Heartwood

/// The merged results of a scan's threads.
struct FoundRowsTests {
    private func row(_ number: UInt64) -> UnsafeRowView {
        UnsafeRowView(body: UnsafeRawPointer(bitPattern: 8)!, byteCount: 0, reference: RowReference(rawValue: number), version: 0)
    }

    private func append(_ rows: [UInt64], _ stretch: Int, to found: FoundRows) {
        var views = rows.map(row)
        views.withUnsafeMutableBufferPointer { found.append($0, stretch) }
    }

    @Test
    func `Found rows come in the order of their ranges and are forgotten`() {
        let threads = [FoundRows(), FoundRows(), FoundRows()]
        for window in 0..<3 as Range<UInt64> {
            append([1, 2].map { $0 + window }, 0, to: threads[1])
            append([10], 1, to: threads[0])
            append([20], 2, to: threads[1])
            append([21], 2, to: threads[1])
            append([30, 31], 4, to: threads[0])
            var seen: [UInt64] = []
            #expect(FoundRows.forEach(of: threads) { row in
                seen.append(row.reference.rawValue)
                return true
            })
            #expect(seen == [1 + window, 2 + window, 10, 20, 21, 30, 31])
        }
        #expect(FoundRows.forEach(of: threads) { _ in false })
    }

    @Test
    func `A body that has stopped is not called again`() {
        let found = FoundRows()
        append([1, 2, 3], 0, to: found)
        var asked = 0
        let isWhole = FoundRows.forEach(of: [found]) { _ in
            asked += 1
            return asked < 2
        }
        #expect(!isWhole && asked == 2)
        #expect(FoundRows.forEach(of: [found]) { _ in false }, "what was not asked for is forgotten")
    }
}
