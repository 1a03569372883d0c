import RecordLog
import TestSupport
import Testing

@testable import Heartwood

@Suite struct RowMarksTests {
    /// Few rows are a list, more are bits; nobody can tell.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aSetOfRowsIsAsASetOfTheStandardLibrarys(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for count in [0, 1, 15, 16, 17, 18, 60, 500] {
            var marks = RowMarks(), model: Set<RowReference> = []
            for _ in 0..<count {
                let row = RowReference(table: TableID(rawValue: UInt16.random(in: 1...3, using: &random)), row: .random(in: 1...200, using: &random))
                #expect(marks.insert(row) == model.insert(row).inserted, "seed \(seed)")
                #expect(marks.count == model.count)
            }
            var found: [RowReference] = []
            marks.forEach { found.append($0) }
            #expect(found == model.sorted { $0.rawValue < $1.rawValue }, "seed \(seed)")
            for table in 1...4 as ClosedRange<UInt16> {
                for row in 1...220 as ClosedRange<UInt64> {
                    let reference = RowReference(table: TableID(rawValue: table), row: row)
                    #expect(marks.contains(reference) == model.contains(reference), "seed \(seed)")
                }
            }
        }
    }
}
