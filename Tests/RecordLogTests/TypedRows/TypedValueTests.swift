import Testing
@testable import RecordLog
@testable import RecordLogRows

struct TypedValueTests {
    private static let lengths = [0, 1, 4096, 4097, 300_000]

    private func bytes(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) } }

    @Test
    func `is null, empty, in its row or in frames, and is read in the transaction, later, and after a change of another column`() throws {
        let typed = try TypedStore()
        let value = try typed.table.largeColumn("value"), text = try typed.column(.text, as: String?.self)
        var rows: [(RowReference, Int?)] = []
        try typed.store.write { transaction in
            for length in [nil] + Self.lengths.map({ $0 }) as [Int?] {
                let row = try transaction.insert(into: typed.table) { row in
                    if let length { try row.set(value, toBytes: bytes(length)) }
                }
                rows.append((row, length))
                #expect(try transaction.row(row)?.value(of: value)?.bytes() == length.map(bytes))
            }
        }
        try check(typed.store.snapshot(), value, rows)
        let old = typed.store.snapshot()
        try typed.store.write { transaction in
            for (row, _) in rows { try transaction.update(row) { try $0.set(text, to: "changed") } }
            for (row, length) in rows { #expect(try transaction.row(row)?.value(of: value)?.bytes() == length.map(bytes)) }
        }
        try check(typed.store.snapshot(), value, rows)
        try typed.store.write { transaction in
            for (row, _) in rows { try transaction.update(row) { try $0.set(value, to: nil) } }
        }
        try check(typed.store.snapshot(), value, rows.map { ($0.0, nil) })
        try check(old, value, rows)
    }

    private func check(_ snapshot: Snapshot, _ column: LargeColumn, _ rows: [(RowReference, Int?)]) throws {
        for (row, length) in rows {
            let reader = try #require(try snapshot.row(row)).value(of: column)
            #expect(reader?.count == length)
            #expect(try reader?.bytes() == length.map(bytes))
        }
    }

    @Test
    func `that streams in belongs to one row of its transaction`() throws {
        let typed = try TypedStore(), value = try typed.table.largeColumn("value")
        var kept: LargeValue?
        let row = try typed.store.write { transaction in
            let made = try transaction.writeValue { writer in
                for _ in 0..<3 { try writer.append(bytes(100_000)) }
            }
            kept = made
            return try transaction.insert(into: typed.table) { try $0.set(value, to: made) }
        }
        #expect(try typed.store.snapshot().row(row)?.value(of: value)?.bytes() == bytes(100_000) + bytes(100_000) + bytes(100_000))
        let error = #expect(throws: StoreError.self) {
            try typed.store.write { transaction in try transaction.insert(into: typed.table) { try $0.set(value, to: kept) } }
        }
        #expect(error?.code == .invalidArgument)
        #expect(typed.store.snapshot().rowCount(typed.table.id) == 1)
    }

    @Test
    func `A value of the system table is copied`() throws {
        let typed = try TypedStore()
        try typed.store.write { try $0.setSystemValue(20, [1, 2, 3]) }
        #expect(try typed.store.snapshot().systemValue(20) == [1, 2, 3] && typed.store.snapshot().systemValue(21) == nil)
    }
}
