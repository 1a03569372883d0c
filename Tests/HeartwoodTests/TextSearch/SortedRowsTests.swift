import HeartwoodTestSupport
import Testing

@testable import Heartwood

@Suite struct SortedRowsTests {
    @Test(arguments: [0, 1, 2, 3, 63, 64, 65, 1000])
    func `Rows are sorted and each kept once, close together and far apart`(count: Int) {
        var random = SeededGenerator(seed: UInt64(count) + 1)
        for width in [0, 1, 63, 64, 4000, 1 << 47] as [UInt64] {
            for start in [1, 64, 1 << 40] as [UInt64] {
                let rows = (0..<count).map { _ in start + UInt64.random(in: 0...width, using: &random) }
                #expect(SortedRows.distinct(rows) == Set(rows).sorted(), "\(count) rows within \(width) from \(start)")
            }
        }
    }
}
