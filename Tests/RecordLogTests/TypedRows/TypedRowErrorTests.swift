import Testing
@testable import RecordLog
@testable import RecordLogRows

struct TypedRowErrorTests {
    private enum Genre: Int16, ColumnValue {
        case drama = 1, comedy = 2
    }

    private struct Celsius: ColumnValueConvertible, Equatable {
        var degrees: Double

        init(degrees: Double) { self.degrees = degrees }
        init?(storedValue: Double) {
            guard storedValue >= -273.15 else { return nil }
            degrees = storedValue
        }
        var storedValue: Double { degrees }
    }

    private func code(_ body: () throws -> Void) -> RowError.Code? {
        do { try body() } catch { return (error as? RowError)?.code }
        return nil
    }

    @Test
    func `A typed column is made for the column types that hold the value's type, and for no other`() throws {
        let table = try TypedStore().table
        func check<Value: ColumnValue>(_ type: Value.Type, _ accepted: Set<ColumnType>) {
            for column in ColumnType.allCases {
                let expected: RowError.Code? = accepted.contains(column) ? nil : .typeDiffers
                #expect(code { _ = try table.column("\(column)", as: Value.self) } == expected, "\(Value.self) in \(column)")
                #expect(code { _ = try table.column("\(column)", as: Value?.self) } == expected, "\(Value.self)? in \(column)")
            }
        }
        check(Bool.self, [.bool])
        check(Int16.self, [.int16])
        check(Int32.self, [.int32])
        check(Int64.self, [.int64])
        check(Int.self, [.int16, .int32, .int64])
        check(Float.self, [.float])
        check(Double.self, [.double])
        check(StoredDate.self, [.date])
        check(StoredUUID.self, [.uuid])
        check(RowReference.self, [.reference])
        check(StoredDecimal.self, [.decimal])
        check(String.self, [.text])
        check([UInt8].self, [.bytes])
        check(Genre.self, [.int16])
        check(Celsius.self, [.double])
        for column in ColumnType.allCases {
            #expect(code { _ = try table.largeColumn("\(column)") } == (column == .value ? nil : .typeDiffers))
        }
        #expect(code { _ = try table.column("none", as: Int.self) } == .noSuchColumn)
        #expect(code { _ = try table.largeColumn("none") } == .noSuchColumn)
    }

    @Test
    func `An integer that the column is too small for is refused, and the row keeps its value`() throws {
        let typed = try TypedStore()
        try typed.store.write { transaction in
            for (type, least, greatest) in [
                (.int16, Int(Int16.min), Int(Int16.max)), (.int32, Int(Int32.min), Int(Int32.max)), (.int64, .min, .max),
            ] as [(ColumnType, Int, Int)] {
                let column = try typed.column(type, as: Int.self)
                let row = try transaction.insert(into: typed.table) { row in
                    for value in [least, greatest, 0, 7] { try row.set(column, to: value) }
                    guard type != .int64 else { return }
                    for value in [least - 1, greatest + 1, .min, .max] {
                        #expect(code { try row.set(column, to: value) } == .doesNotFit)
                    }
                }
                #expect(try transaction.row(row)?[column] == 7)
            }
        }
    }

    @Test
    func `Raw values and converted values are written and read; one of no case is an error`() throws {
        let typed = try TypedStore()
        let genre = try typed.column(.int16, as: Genre?.self), raw = try typed.column(.int16, as: Int16.self)
        let warmth = try typed.column(.double, as: Celsius?.self), number = try typed.column(.double, as: Double.self)
        try typed.store.write { transaction in
            let row = try transaction.insert(into: typed.table) { row in
                try row.set(genre, to: .comedy)
                try row.set(warmth, to: Celsius(degrees: 20))
            }
            let found = try #require(try transaction.row(row))
            #expect(try found[genre] == .comedy && found[raw] == 2 && found[warmth] == Celsius(degrees: 20))
            let other = try transaction.insert(into: typed.table) { row in
                try row.set(raw, to: 3)
                try row.set(number, to: -300)
            }
            let strange = try #require(try transaction.row(other))
            #expect(code { _ = try strange[genre] } == .doesNotFit && code { _ = try strange[warmth] } == .doesNotFit)
        }
    }

    @Test
    func `Another table's column is refused in reading and in writing, and so is a table that the store does not have`() throws {
        let typed = try TypedStore()
        let other = try typed.store.write { try $0.defineTable(name: "other", columns: TypedStore.columns) }
        let own = try typed.column(.text, as: String?.self), theirs = try other.column("text", as: String?.self)
        let large = try other.largeColumn("value")
        try typed.store.write { transaction in
            let row = try transaction.insert(into: typed.table) { row in
                #expect(code { try row.set(theirs, to: "") } == .otherTable && code { try row.set(large, to: nil) } == .otherTable)
                #expect(code { _ = try row[theirs] } == .otherTable)
                try row.set(own, to: "mine")
            }
            let found = try #require(try transaction.row(row))
            #expect(code { _ = try found[theirs] } == .otherTable && code { _ = try found.value(of: large) } == .otherTable)
            #expect(try found[own] == "mine")
            try transaction.dropTable(other.id)
            #expect(code { try transaction.insert(into: other) { _ in } } == .noSuchTable)
            #expect(code { try transaction.update(RowReference(table: other.id, row: 1)) { _ in } } == .noSuchTable)
            #expect(code { try transaction.update(RowReference(table: .system, row: 1)) { _ in } } == .noSuchTable)
            #expect(code { try transaction.update(RowReference(table: typed.table.id, row: 99)) { _ in } } == .noSuchRow)
        }
        let snapshot = typed.store.snapshot()
        #expect(try snapshot.row(RowReference(table: .system, row: 1)) == nil && snapshot.row(RowReference(table: other.id, row: 1)) == nil)
        #expect(code { _ = try snapshot.table(named: "other") } == .noSuchTable)
        #expect(try snapshot.table(named: "values").id == typed.table.id)
        var rows = snapshot.rows(in: other)
        #expect(try rows.next() == nil)
    }

    @Test
    func `A column that the newest layout lacks reads from older rows, and cannot be set`() throws {
        let typed = try TypedStore(), text = try typed.column(.text, as: String?.self), number = try typed.column(.int64, as: Int64?.self)
        let old = try typed.store.write { transaction in try transaction.insert(into: typed.table) { try $0.set(text, to: "old") } }
        try typed.store.write { transaction in
            _ = try transaction.addLayout(to: typed.table.id, columns: typed.table.currentLayout.columns.filter { $0.name != "text" })
            let new = try transaction.insert(into: typed.table) { row in
                #expect(code { try row.set(text, to: "new") } == .noSuchColumn)
                try row.set(number, to: 1)
            }
            #expect(try transaction.row(old)?[text] == "old" && transaction.row(new)?[text] == nil)
        }
    }

    @Test
    func `A column whose type changed reads from rows of its type, and is an error in others`() throws {
        let typed = try TypedStore(), text = try typed.column(.text, as: String?.self)
        let old = try typed.store.write { transaction in try transaction.insert(into: typed.table) { try $0.set(text, to: "old") } }
        try typed.store.write { transaction in
            let columns = typed.table.currentLayout.columns.map { $0.name == "text" ? Column(id: $0.id, name: "text", type: .bytes) : $0 }
            _ = try transaction.addLayout(to: typed.table.id, columns: columns)
            let bytes = try transaction.table(named: "values").column("text", as: [UInt8]?.self)
            let new = try transaction.insert(into: typed.table) { row in
                #expect(code { try row.set(text, to: "new") } == .typeDiffers)
                try row.set(bytes, to: [1])
            }
            #expect(try transaction.row(old)?[text] == "old" && transaction.row(new)?[bytes] == [1])
            #expect(code { _ = try transaction.row(old)?[bytes] } == .typeDiffers && code { _ = try transaction.row(new)?[text] } == .typeDiffers)
        }
    }

    private struct Stop: Error {}

    @Test
    func `A closure that throws inserts and changes nothing, and the transaction goes on`() throws {
        let typed = try TypedStore(), text = try typed.column(.text, as: String?.self)
        try typed.store.write { transaction in
            let row = try transaction.insert(into: typed.table) { try $0.set(text, to: "kept") }
            #expect(throws: Stop.self) {
                try transaction.insert(into: typed.table) { row in
                    try row.set(text, to: "gone")
                    throw Stop()
                }
            }
            #expect(throws: Stop.self) {
                try transaction.update(row) { row in
                    try row.set(text, to: "gone")
                    throw Stop()
                }
            }
            #expect(try transaction.row(row)?[text] == "kept")
        }
        #expect(typed.store.snapshot().rowCount(typed.table.id) == 1)
    }

    @Test
    func `Insertions and updates nest, also of one row, and the indexes agree with the rows`() throws {
        let typed = try TypedStore()
        let text = try typed.column(.text, as: String?.self), number = try typed.column(.int64, as: Int64?.self)
        try typed.store.write { _ = try $0.defineIndex(named: "byText", on: typed.table.id, parts: [text.ascending]) }
        let rows = try typed.store.write { transaction in
            var inner = RowReference(rawValue: 0)
            let outer = try transaction.insert(into: typed.table) { row in
                try row.set(text, to: "outer")
                inner = try transaction.insert(into: typed.table) { try $0.set(text, to: "inner") }
                try row.set(number, to: Int64(inner.row))
            }
            try transaction.update(outer) { row in
                try row.set(number, to: 7)
                try transaction.update(outer) { try $0.set(text, to: "lost: the outer update is the later one") }
            }
            return [inner, outer]
        }
        let snapshot = typed.store.snapshot(), byText = try snapshot.index(named: "byText", on: typed.table)
        #expect(try snapshot.row(rows[1])?[number] == 7)
        for (row, name) in zip(rows, ["inner", "outer"]) {
            #expect(try snapshot.row(row)?[text] == name && byText.equal(to: name).first()?.reference == row)
        }
        #expect(try byText.count() == 2)
    }
}
