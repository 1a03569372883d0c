import Testing
@testable import RecordLog
@testable import RecordLogRows

struct TypedRowTests {
    @Test
    func `have each value of each type beside each value of every other, in the transaction, in a snapshot and in a reopened store`() throws {
        let typed = try TypedStore(), cells = try TypedCell.all(typed.table)
        var rows: [(reference: RowReference, cells: [TypedCell])] = []
        for (position, first) in cells.enumerated() {
            for second in cells[(position + 1)...] where second.column != first.column { rows.append((RowReference(rawValue: 0), [first, second])) }
        }
        try typed.store.write { transaction in
            for index in rows.indices {
                rows[index].reference = try transaction.insert(into: typed.table) { row in
                    for cell in rows[index].cells { try cell.set(&row) }
                }
            }
            for (reference, cells) in rows { try check(try transaction.row(reference), cells) }
        }
        let other = try typed.reopened()
        for snapshot in [typed.store.snapshot(), other.snapshot()] {
            for (reference, cells) in rows { try check(try snapshot.row(reference), cells) }
        }
    }

    private func check(_ row: Row?, _ cells: [TypedCell], _ location: SourceLocation = #_sourceLocation) throws {
        let row = try #require(row, sourceLocation: location)
        for cell in cells { #expect(try cell.isIn(row), "\(cells.map(\.name))", sourceLocation: location) }
        for column in TypedStore.columns where !cells.contains(where: { $0.column == column.name }) && column.type == .text {
            #expect(try row[column.name, as: String?.self] == nil, sourceLocation: location)
        }
    }

    @Test
    func `change from each value of a column to each other, and the columns beside it stay`() throws {
        let typed = try TypedStore(), cells = try TypedCell.all(typed.table)
        let beside = try [#require(cells.last { $0.column == "text" }), #require(cells.last { $0.column == "int32" })]
        try typed.store.write { transaction in
            for old in cells {
                let others = beside.filter { $0.column != old.column }
                for new in cells where new.column == old.column {
                    let reference = try transaction.insert(into: typed.table) { row in
                        for cell in others + [old] { try cell.set(&row) }
                    }
                    try transaction.update(reference) { try new.set(&$0) }
                    let row = try #require(try transaction.row(reference))
                    #expect(row.version == 2)
                    for cell in others + [new] { #expect(try cell.isIn(row), "\(old.name) to \(new.name)") }
                }
            }
        }
    }

    @Test
    func `are read while they are changed`() throws {
        let typed = try TypedStore()
        let count = try typed.column(.int32, as: Int32.self), text = try typed.column(.text, as: String?.self)
        let reference = try typed.store.write { transaction in
            try transaction.insert(into: typed.table) { row in
                #expect(throws: RowError.self) { try row[count] }
                try row.set(count, to: 41)
                #expect(try row[count] == 41 && row[text] == nil)
                try row.set(text, to: "a")
                try row.set(text, to: row[text].map { $0 + "b" })
            }
        }
        try typed.store.write { transaction in
            try transaction.update(reference) { row in
                try row.set(count, to: row[count] + 1)
                try row.set(text, to: row[text].map { $0 + "c" })
                #expect(try row[count] == 42 && row[text] == "abc")
            }
        }
        let row = try #require(try typed.store.snapshot().row(reference))
        #expect(try row[count] == 42 && row[text] == "abc")
    }

    @Test
    func `of older layouts have null in the columns that the table got later; typed columns read rows of every layout`() throws {
        let typed = try TypedStore()
        let text = try typed.column(.text, as: String.self)
        let old = try typed.store.write { transaction in
            try ["first", "middle", "last"].map { name in try transaction.insert(into: typed.table) { try $0.set(text, to: name) } }
        }
        let newTable = try typed.store.write { try $0.addColumns([("rating", .int32), ("note", .text)], to: typed.table.id) }
        let rating = try newTable.column("rating", as: Int32?.self), note = try newTable.column("note", as: String.self)
        let new = try typed.store.write { transaction in
            // The older definition of the table is still good for writing.
            try transaction.insert(into: typed.table) { row in
                try row.set(text, to: "new")
                try row.set(rating, to: 5)
                try row.set(note, to: "")
            }
        }
        let before = typed.store.snapshot()
        try typed.store.write { transaction in
            try transaction.update(old[1]) { try $0.set(rating, to: 1) }
        }
        let after = typed.store.snapshot()
        for (snapshot, ratings) in [(before, [nil, nil, nil, 5]), (after, [nil, 1, nil, 5])] as [(Snapshot, [Int32?])] {
            var names: [String] = [], found: [Int32?] = [], rows = snapshot.rows(in: newTable)
            while let row = try rows.next() {
                names.append(try row[text])
                found.append(try row[rating])
            }
            #expect(names == ["first", "middle", "last", "new"] && found == ratings)
        }
        let oldest = try #require(try after.row(old[0])), newest = try #require(try after.row(new))
        #expect(oldest.columns.count == TypedStore.columns.count && newest.columns.count == TypedStore.columns.count + 2)
        #expect(try newest[note] == "")
        #expect(#expect(throws: RowError.self) { try oldest[note] }?.code == .isNull)
        #expect(#expect(throws: RowError.self) { try typed.table.column("rating", as: Int32.self) }?.code == .noSuchColumn)
        let error = #expect(throws: StoreError.self) { try typed.store.write { try $0.addColumns([("note", .int32)], to: typed.table.id) } }
        #expect(error?.code == .schema)
    }

    @Test(arguments: [0, 1, 2])
    func `stay as they were while others change, delete and compact`(_ position: Int) throws {
        let typed = try TypedStore(), text = try typed.column(.text, as: String.self)
        let rows = try typed.store.write { transaction in
            try ["first", "middle", "last"].map { name in try transaction.insert(into: typed.table) { try $0.set(text, to: name) } }
        }
        let snapshot = typed.store.snapshot(), held = try #require(try snapshot.row(rows[position])), name = try held[text]
        try typed.store.write { transaction in
            try transaction.update(rows[position]) { try $0.set(text, to: "changed") }
            #expect(try transaction.row(rows[position])?[text] == "changed" && transaction.base.row(rows[position])?[text] == name)
            #expect(try typed.store.snapshot().row(rows[position])?[text] == name)
        }
        #expect(try typed.store.snapshot().row(rows[position])?[text] == "changed" && held[text] == name)
        #expect(try typed.store.snapshot().row(rows[position], version: 1)?[text] == name)
        try typed.store.write { transaction in
            let isDeleted = try transaction.delete(rows[position])
            #expect(isDeleted)
            #expect(try transaction.row(rows[position]) == nil)
            #expect(#expect(throws: RowError.self) { try transaction.update(rows[position]) { _ in } }?.code == .noSuchRow)
        }
        try typed.store.compact()
        let newest = typed.store.snapshot()
        #expect(try newest.row(rows[position]) == nil && held[text] == name && snapshot.row(rows[position])?[text] == name)
        for other in rows where other != rows[position] { #expect(try newest.row(other) != nil) }
    }

    @Test(arguments: [0, 1, 2, 3, 7, 64, 65, 200])
    func `of a table come in the order of insertion, for any number of them and with any of them deleted`(_ count: Int) throws {
        let typed = try TypedStore(), number = try typed.column(.int64, as: Int.self)
        let rows = try typed.store.write { transaction in
            try (0..<count).map { value in try transaction.insert(into: typed.table) { try $0.set(number, to: value) } }
        }
        for gone in [nil, 0, count / 2, count - 1] as [Int?] {
            if let gone, rows.indices.contains(gone) { try typed.store.write { _ = try $0.delete(rows[gone]) } }
            let snapshot = typed.store.snapshot()
            let expected = try rows.filter { try snapshot.contains($0) }.map { Int($0.row) - 1 }
            var found: [Int] = [], cursor = snapshot.rows(in: typed.table)
            while let row = try cursor.next() { found.append(try row[number]) }
            #expect(found == expected && found.count == snapshot.rowCount(typed.table.id))
        }
    }
}
