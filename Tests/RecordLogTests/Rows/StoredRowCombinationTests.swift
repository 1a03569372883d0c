import Testing

@testable import RecordLog

/// Rows of a store that are changed by copies and read back through every path of the engine, beside plain values.
///
/// The store has a row for each start and each change of up to two columns. The starts are all combinations of null, empty and short texts; a value
/// that is null, in the row, or in frames of its own; and a number that is set or null.
@Suite struct StoredRowCombinationTests {
    private struct Values: Hashable {
        var texts: [[UInt8]?]
        var number: Int64?
        var value: [UInt8]?
    }

    private static let path = "combinations.heartwood"
    /// Positions in the layout: texts at 0, 2 and 4, a number at 1, a value at 3.
    private static let textPositions = [0, 2, 4]
    private static let valueCounts: [Int?] = [nil, 3, 1100]

    private static func text(_ column: Int, _ choice: Int) -> [UInt8]? {
        [nil, [], [UInt8(0x61 + column), UInt8(0x78)]][choice]
    }

    /// The number of choices for a change of each column.
    private static let choices = [3, 3, 3, 2, 3]

    private static func set(_ column: Int, to choice: Int, in values: inout Values) {
        switch column {
        case 0..<3: values.texts[column] = text(column, choice)
        case 3: values.number = choice == 0 ? nil : 5
        default: values.value = valueCounts[choice].map { [UInt8](repeating: 7, count: $0) }
        }
    }

    private static var starts: [Values] {
        var all = [Values(texts: [nil, nil, nil], number: nil, value: nil)]
        for column in choices.indices {
            all = all.flatMap { values in
                (0..<choices[column]).map { choice in
                    var values = values
                    set(column, to: choice, in: &values)
                    return values
                }
            }
        }
        return all
    }

    /// Every change of no column, of one, and of two.
    private static var changes: [[(column: Int, choice: Int)]] {
        let single = choices.indices.flatMap { column in (0..<choices[column]).map { (column: column, choice: $0) } }
        return [[]] + single.map { [$0] }
            + single.flatMap { first in single.filter { $0.column > first.column }.map { [first, $0] } }
    }

    private static func put(_ column: Int, _ values: Values, _ builder: RowBuilder, _ transaction: Transaction) throws {
        switch column {
        case 0..<3:
            guard let text = values.texts[column] else { return builder.setNull(textPositions[column]) }
            text.withUnsafeBytes { builder.set(textPositions[column], bytes: $0) }
        case 3:
            guard let number = values.number else { return builder.setNull(1) }
            builder.set(1, int64: number)
        default:
            guard let value = values.value else { return builder.setNull(3) }
            builder.set(3, value: try value.withUnsafeBytes { try transaction.writeValue($0) })
        }
    }

    private static func values(_ row: UnsafeRowView, _ layout: RowLayout, _ snapshot: Snapshot) throws -> Values {
        let access = layout.access
        return Values(
            texts: textPositions.map { row.isNull(access[$0]) ? nil : Array(row.bytes(access[$0])) },
            number: row.isNull(access[1]) ? nil : row.int64(access[1]),
            value: try snapshot.value(access[3], of: row).map(bytes))
    }

    private static func bytes(_ value: ValueReader) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try value.forEachChunk { chunk in
            bytes += chunk
            return true
        }
        return bytes
    }

    private static func isBefore(_ a: [UInt8]?, _ b: [UInt8]?) -> Bool? {
        switch (a, b) {
        case (nil, nil): nil
        case (nil, _): true
        case (_, nil): false
        case (let a?, let b?): a == b ? nil : a.lexicographicallyPrecedes(b)
        }
    }

    /// Row numbers in the order of an index over a text, or over the number and the text; null comes first.
    private static func order(_ rows: [UInt64: Values], _ column: Int, isByNumber: Bool) -> [UInt64] {
        rows.sorted { a, b in
            if isByNumber, a.value.number != b.value.number { return a.value.number ?? .min < b.value.number ?? .min }
            return isBefore(a.value.texts[column], b.value.texts[column]) ?? (a.key < b.key)
        }.map(\.key)
    }

    private static func check(_ store: LogStore, _ expected: [UInt64: Values], _ orders: [[UInt64]], _ when: String) throws {
        let snapshot = store.snapshot()
        let table = try #require(snapshot.catalog.table(named: "T"))
        var found: [UInt64: Values] = [:]
        try snapshot.scan(table.id) { row in
            found[row.reference.row] = try values(row, table.currentLayout, snapshot)
            return true
        }
        #expect(found.count == expected.count, "\(when)")
        let wrong = expected.first { found[$0.key] != $0.value }
        #expect(wrong == nil, "\(when): the store has \(wrong.flatMap { found[$0.key] } as Any)")
        for (index, order) in zip(snapshot.catalog.indexes(on: table.id), orders) {
            var cursor = try snapshot.cursor(index.id, .all, descending: false), rows: [UInt64] = []
            while let row = try cursor.next() { rows.append(row) }
            let isEqual = rows == order
            #expect(isEqual, "\(when): the index \(index.name)")
        }
    }

    @Test
    func `Each change of up to two columns is read back by scans and indexes, after opening, a checkpoint, a compaction and a salvage`() throws {
        let fileSystem = MemoryFileSystem()
        var options = StoreOptions()
        options.fileSystem = fileSystem
        options.segmentShift = 16
        options.checkpointsInBackground = false
        options.compaction = nil
        let store = try LogStore.open(path: Self.path, options: options), builder = RowBuilder()
        let table = try store.write { transaction in
            let table = try transaction.defineTable(
                name: "T", columns: [("a", .text), ("number", .int32), ("b", .text), ("value", .value), ("c", .text)])
            let ids = table.currentLayout.columns.map(\.id)
            for (name, columns) in [("a", [0]), ("number, b", [1, 2]), ("c", [4])] {
                _ = try transaction.defineIndex(
                    named: name, on: table.id, parts: columns.map { IndexPart(column: ids[$0], ascending: true) })
            }
            return table
        }
        let layout = table.currentLayout
        var expected: [UInt64: Values] = [:]
        var pending: [(row: UInt64, change: [(column: Int, choice: Int)])] = []
        try store.write { transaction in
            for start in Self.starts {
                for change in Self.changes {
                    let row = try transaction.newRow(in: table.id)
                    builder.begin(layout)
                    for column in Self.choices.indices { try Self.put(column, start, builder, transaction) }
                    try transaction.put(RowReference(table: table.id, row: row), body: builder.unsafeBody())
                    expected[row] = start
                    pending.append((row, change))
                }
            }
        }
        try store.write { transaction in
            for (row, change) in pending where !change.isEmpty {
                let reference = RowReference(table: table.id, row: row)
                let view = try #require(try transaction.unsafeRow(reference))
                builder.begin(layout, copying: view, of: layout)
                for (column, choice) in change {
                    Self.set(column, to: choice, in: &expected[row, default: Values(texts: [], number: nil, value: nil)])
                    try Self.put(column, try #require(expected[row]), builder, transaction)
                }
                try transaction.put(reference, body: builder.unsafeBody(), changing: builder.changed)
            }
        }
        let orders = [(0, false), (1, true), (2, false)].map { Self.order(expected, $0, isByNumber: $1) }
        try Self.check(store, expected, orders, "after the commit")
        try store.close()
        let replayed = try LogStore.open(path: Self.path, options: options)
        try Self.check(replayed, expected, orders, "after a replay")
        try replayed.checkpoint()
        try Self.check(replayed, expected, orders, "after a checkpoint")
        try replayed.compact()
        try Self.check(replayed, expected, orders, "after a compaction")
        try replayed.close()
        #expect(try StoreVerification.verify(path: Self.path, fileSystem: fileSystem).isSound)
        let salvaged = Self.path + ".salvaged"
        _ = try StoreSalvage.salvage(path: Self.path, to: salvaged, options: options)
        try Self.check(LogStore.open(path: salvaged, options: options), expected, orders, "after a salvage")
    }
}
