import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

@Suite struct RowSetTests {
    /// Few rows are a list, more are bits, and rows far apart are in a hash table; the results are the same.
    @Test(arguments: [1, 2, 3, 4] as [UInt64], [false, true])
    func `A row set agrees with a set of the standard library, whether its rows lie close or far apart`(seed: UInt64, isRising: Bool) {
        var random = SeededGenerator(seed: seed)
        let ranges: [(close: UInt64, far: UInt64?)] = [(500, nil), (500, RowReference.rowMask), (RowReference.rowMask, nil), (1 << 26 + 20_000, nil)]
        for (close, far) in ranges {
            for count in [0, 1, 2, 60, 254, 255, 256, 257, 258, 300, 900] {
                var rows = (0..<count).map { _ in
                    RowReference(table: TableID(rawValue: UInt16.random(in: 1...3, using: &random)), row: .random(in: 1...close, using: &random))
                }
                if let far { rows.append(RowReference(table: TableID(rawValue: 2), row: far)) }
                if isRising { rows.sort { $0.rawValue < $1.rawValue } } else { rows.shuffle(using: &random) }
                check(rows, "seed \(seed), \(count) rows up to \(close), \(far ?? 0)")
            }
        }
    }

    private func check(_ rows: [RowReference], _ what: Comment) {
        var marks = RowSet(), model: Set<RowReference> = []
        // A check for each row would take most of the time.
        let unlike = rows.filter { row in marks.insert(row) != model.insert(row).inserted || marks.count != model.count }
        #expect(unlike.isEmpty, what)
        var found: [RowReference] = []
        marks.forEach { found.append($0) }
        #expect(found == model.sorted { $0.rawValue < $1.rawValue } && marks.list == found, what)
        for table in (1...4).map({ TableID(rawValue: $0) }) {
            var numbers = marks.rows(of: table), listed: [UInt64] = []
            while let row = numbers.next() { listed.append(row) }
            #expect(listed == found.filter { $0.table == table }.map(\.row), what)
            #expect(numbers.next() == nil, what)
            let asked = (Array(1...520) + rows.map(\.row)).map { RowReference(table: table, row: $0) }
            #expect(asked.filter(marks.contains) == asked.filter(model.contains), what)
        }
    }

    @Test
    func `A row set with the highest row number of many tables takes little memory`() {
        var marks = RowSet()
        for row in 1...300 as ClosedRange<UInt64> { marks.insert(RowReference(table: TableID(rawValue: 1), row: row)) }
        // Bits for all lower numbers would take terabytes.
        for table in UInt16(1)...1000 { marks.insert(RowReference(table: TableID(rawValue: table), row: RowReference.rowMask)) }
        #expect(marks.count == 1300 && marks.list.last?.row == RowReference.rowMask)
    }
}
