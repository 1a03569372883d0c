import Foundation
import Testing

@testable import RecordLog

/// Every small row, made and changed in every small way, beside `PlainRow`.
///
/// Random rows once missed that two texts set to null in one change gave their bytes to the texts behind them. Rows of a few columns, each of them
/// null, empty, short and long, find such a fault at once. `HEARTWOOD_ROW_COLUMNS=5` sets the number of variable columns.
@Suite struct RowCombinationTests {
    private static let columnsMax = ProcessInfo.processInfo.environment["HEARTWOOD_ROW_COLUMNS"].flatMap { Int($0) } ?? 4

    /// Variable columns of each type, with fixed ones before, between and after them.
    private static func space(variables: Int, cells: (UInt16) -> [PlainCell] = Cells.variable) -> RowSpace {
        let types: [ColumnType] = [.text, .value, .bytes, .text, .value, .text]
        var columns: [(id: UInt16, type: ColumnType, cells: [PlainCell])] = []
        func addFixed(_ type: ColumnType) {
            let id = UInt16(columns.count)
            columns.append((id, type, Cells.fixed(id, type)))
        }
        addFixed(.int32)
        for index in 0..<variables {
            if index == 2 { addFixed(.uuid) }
            let id = UInt16(columns.count)
            columns.append((id, types[index % types.count], cells(id)))
        }
        addFixed(.bool)
        return RowSpace(columns)
    }

    /// - Returns: the number of compared rows.
    private func compare(
        _ space: RowSpace, from old: RowSpace? = nil, rows: [[Int]], sequences: [[(column: Int, choice: Int)]],
        carried: ([Int]) -> [Int] = { $0 }
    ) -> Int {
        let builder = RowBuilder()
        for row in rows {
            let start = carried(row)
            for sequence in sequences {
                space.begin(copying: row, of: old ?? space, in: builder)
                var expected = start, changed = old == nil ? ColumnSet.none : .all
                for (column, choice) in sequence {
                    space.set(column, to: choice, in: builder)
                    expected[column] = choice
                    changed.insert(column)
                }
                let isEqual = space.isEqual(builder.unsafeBody(), to: expected)
                guard isEqual, builder.changed == changed else {
                    Issue.record("row \(row), changes \(sequence): \(isEqual ? "other columns are said to be changed" : "another body")")
                    return 0
                }
            }
        }
        return rows.count * sequences.count
    }

    @Test(arguments: 0...columnsMax)
    func `A copy with up to two changes is what the reference makes`(variables: Int) {
        let space = Self.space(variables: variables)
        // The first fixed column is null in half of the rows; the others are set.
        let rows = space.rows.filter { row in row.indices.dropFirst().allSatisfy { space.layout.columns[$0].type.slotSize == nil || row[$0] == 1 } }
        #expect(compare(space, rows: rows, sequences: space.sequences(upTo: 2)) >= rows.count)
    }

    @Test(arguments: 1...max(3, columnsMax - 1))
    func `A copy with up to three changes is what the reference makes`(variables: Int) {
        let columns = (0..<UInt16(variables)).map { ($0, $0 == 1 ? ColumnType.value : .text, Cells.variable($0)) }
        let space = RowSpace(columns)
        #expect(compare(space, rows: space.rows, sequences: space.sequences(upTo: 3)) > 1)
    }

    @Test
    func `A copy changes its width of end offsets as its columns grow and shrink`() {
        let columns = (0..<UInt16(2)).map { ($0 * 2, ColumnType.text, Cells.wide($0 * 2)) }
        let space = RowSpace([columns[0], (1, .double, Cells.fixed(1, .double)), columns[1]])
        #expect(compare(space, rows: space.rows, sequences: space.sequences(upTo: 2)) > 1)
    }

    /// A new row has only nulls; a second value for a column replaces the first one.
    @Test(arguments: 0...3)
    func `A new row with up to three columns set, in any order and twice, is what the reference makes`(variables: Int) {
        let space = Self.space(variables: variables), builder = RowBuilder()
        let empty = space.cells.map { _ in 0 }
        for sequence in space.sequences(upTo: 3) {
            var expected = empty
            builder.begin(space.layout)
            for (column, choice) in sequence {
                space.set(column, to: choice, in: builder)
                expected[column] = choice
            }
            let isEqual = space.isEqual(builder.unsafeBody(), to: expected)
            #expect(isEqual, "changes \(sequence)")
            guard isEqual else { return }
        }
    }

    @Test
    func `A row becomes any other row, its columns copied from there or set to null, from the front and from the back`() {
        let space = Self.space(variables: 3), builder = RowBuilder()
        let rows = space.rows.filter { $0[0] == $0[$0.count - 1] }
        for row in rows {
            let target = space.body(row)
            target.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                let view = UnsafeRowView(body: start, byteCount: bytes.count, reference: RowReference(rawValue: 2), version: 1)
                for other in rows {
                    for columns in [Array(row.indices), row.indices.reversed()] {
                        space.begin(copying: other, of: space, in: builder)
                        for column in columns {
                            if row[column] == 0 { builder.setNull(column) } else { builder.copy(column, from: view, space.layout.access[column]) }
                        }
                        let isEqual = space.isEqual(builder.unsafeBody(), to: row)
                        #expect(isEqual, "row \(other) becomes \(row)")
                        guard isEqual else { return }
                    }
                }
            }
        }
    }

    /// The difference between a later layout and the first: the columns that it keeps, and those that it adds.
    enum Version: CaseIterable {
        case oneMoreInFront, oneMoreBehind, firstGone, middleGone, lastGone, reversed, sameNumber, otherType
    }

    @Test(arguments: Version.allCases)
    func `A row copied to another layout keeps its columns, and up to two changes of it are what the reference makes`(version: Version) {
        typealias SpaceColumn = (id: UInt16, type: ColumnType, cells: [PlainCell])
        let first: [SpaceColumn] = [
            (0, .text, Cells.variable(0)), (1, .int16, Cells.fixed(1, .int16)), (2, .value, Cells.variable(2)), (3, .text, Cells.variable(3)),
        ]
        let more: SpaceColumn = (9, .bytes, Cells.variable(9))
        let columns: [SpaceColumn] = switch version {
        case .oneMoreInFront: [more] + first
        case .oneMoreBehind: first + [more]
        case .firstGone: Array(first[1...])
        case .middleGone: first.filter { $0.id != 2 }
        case .lastGone: first.dropLast()
        case .reversed, .sameNumber: first.reversed()
        case .otherType: first.map { $0.id == 2 ? (2, .text, Cells.variable(2)) : $0 }
        }
        // Each table numbers its layouts, so different layouts of two tables may have one number.
        let old = RowSpace(first), space = RowSpace(layoutID: version == .sameNumber ? 3 : 4, columns)
        let sources = columns.map { column in first.firstIndex { $0.id == column.id && $0.type == column.type } }
        let compared = compare(space, from: old, rows: old.rows, sequences: space.sequences(upTo: 2)) { row in
            sources.map { source in source.map { row[$0] } ?? 0 }
        }
        #expect(compared > 1)
    }
}
