import RecordLog
import TestSupport
import Testing

@testable import Heartwood

@Suite struct RowSetTests {
    /// Few rows are a list, more are bits; the results are the same.
    @Test("A row set agrees with a set of the standard library", arguments: [1, 2, 3, 4] as [UInt64], [false, true])
    func aSetOfRowsIsAsASetOfTheStandardLibrarys(seed: UInt64, isRising: Bool) {
        var random = SeededGenerator(seed: seed)
        for count in [0, 1, 2, 60, 254, 255, 256, 257, 258, 300, 900] {
            var marks = RowSet(), model: Set<RowReference> = []
            var rows = (0..<count).map { _ in
                RowReference(table: TableID(rawValue: UInt16.random(in: 1...3, using: &random)), row: .random(in: 1...500, using: &random))
            }
            if isRising { rows.sort { $0.rawValue < $1.rawValue } }
            for row in rows {
                #expect(marks.insert(row) == model.insert(row).inserted, "seed \(seed)")
                #expect(marks.count == model.count)
            }
            var found: [RowReference] = []
            marks.forEach { found.append($0) }
            #expect(found == model.sorted { $0.rawValue < $1.rawValue } && marks.list == found, "seed \(seed)")
            for table in 1...4 as ClosedRange<UInt16> {
                for row in 1...520 as ClosedRange<UInt64> {
                    let reference = RowReference(table: TableID(rawValue: table), row: row)
                    #expect(marks.contains(reference) == model.contains(reference), "seed \(seed)")
                }
            }
        }
    }
}
