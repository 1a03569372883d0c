import Testing

@testable import RecordLog
@testable import RecordLogRows

/// A new layout states values that rows of older layouts have in columns that they lack, or in which they are null.
struct ColumnDefaultTests {
    private typealias Setter = @Sendable (RowBuilder, Int) -> Void

    /// Values of each type that a layout can state: the empty or least one, a short one, a long or greatest one.
    private static let values: [(type: ColumnType, setters: [Setter])] = [
        (.bool, [{ $0.set($1, bool: false) }, { $0.set($1, bool: true) }, { $0.set($1, bool: true) }]),
        (.int16, [{ $0.set($1, int64: 0) }, { $0.set($1, int64: 7) }, { $0.set($1, int64: Int64(Int16.min)) }]),
        (.int32, [{ $0.set($1, int64: 0) }, { $0.set($1, int64: -7) }, { $0.set($1, int64: Int64(Int32.max)) }]),
        (.int64, [{ $0.set($1, int64: 0) }, { $0.set($1, int64: 7) }, { $0.set($1, int64: .min) }]),
        (.float, [{ $0.set($1, double: 0) }, { $0.set($1, double: 1.5) }, { $0.set($1, double: -.infinity) }]),
        (.double, [{ $0.set($1, double: 0) }, { $0.set($1, double: -1.5) }, { $0.set($1, double: .greatestFiniteMagnitude) }]),
        (.date, [{ $0.set($1, double: 0) }, { $0.set($1, double: 1e9) }, { $0.set($1, double: -1e300) }]),
        (.uuid, [{ $0.set($1, uuid: (0, 0)) }, { $0.set($1, uuid: (1, 2)) }, { $0.set($1, uuid: (.max, .max)) }]),
        (.decimal, [
            { $0.set($1, decimal: .zero) },
            { $0.set($1, decimal: StoredDecimal(mantissa: 125, exponent: -1, isNegative: true, isNaN: false)) },
            { $0.set($1, decimal: StoredDecimal(mantissa: .max, exponent: 100, isNegative: false, isNaN: false)) },
        ]),
        (.text, [{ $0.set($1, text: "") }, { $0.set($1, text: "zwölf 🪵") }, { $0.set($1, text: String(repeating: "l", count: 1024)) }]),
        (.bytes, [
            { builder, position in [UInt8]().withUnsafeBytes { builder.set(position, bytes: $0) } },
            { builder, position in [0, 1, 255].withUnsafeBytes { builder.set(position, bytes: $0) } },
            { builder, position in [UInt8](repeating: 9, count: 1024).withUnsafeBytes { builder.set(position, bytes: $0) } },
        ]),
    ]

    private static func options(_ memory: MemoryFileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = memory
        options.segmentShift = 20
        return options
    }

    /// The key component of a column in a row, which is its value as bytes.
    private static func component(_ column: ColumnID, of row: UnsafeRowView, _ table: TableDefinition) -> [UInt8]? {
        guard let layout = table.layout(row.layoutID) else { return nil }
        let key = KeyBuilder()
        key.append(column: layout.access(of: column), of: row)
        return key.bytes
    }

    private static let null: [UInt8] = {
        let key = KeyBuilder()
        key.appendNull()
        return key.bytes
    }()

    @Test(arguments: 0..<3)
    func `A row from before has the default of each type, one from after its own value or null`(state: Int) throws {
        let memory = MemoryFileSystem(), builder = RowBuilder()
        var store = try LogStore.open(path: "defaults", options: Self.options(memory))
        let table = try store.write { try $0.defineTable(name: "t", columns: [("n", .int64), ("text", .text)]) }
        func put(_ transaction: Transaction, _ number: Int64) throws -> RowReference {
            let row = RowReference(table: table.id, row: try transaction.newRow(in: table.id))
            builder.begin(try #require(transaction.catalog.table(table.id)?.currentLayout))
            builder.set(0, int64: number)
            builder.set(1, text: "text \(number)")
            try transaction.put(row, body: builder.unsafeBody())
            return row
        }
        let (before, updated, nulled) = try store.write { (try put($0, 1), try put($0, 2), try put($0, 3)) }
        // Every second column has the default; the others stay null.
        var wanted: [ColumnID: [UInt8]] = [:]
        let after = try store.write { transaction in
            let added = Self.values.flatMap { [("d\($0.type)", $0.type), ("n\($0.type)", $0.type)] }
            let columns = table.currentLayout.columns
                + added.enumerated().map { Column(id: ColumnID(rawValue: UInt16(3 + $0.offset)), name: $0.element.0, type: $0.element.1) }
            let plain = RowLayout(id: LayoutID(rawValue: 0), columns: columns)
            builder.begin(plain)
            for (index, value) in Self.values.enumerated() { value.setters[state](builder, 2 + index * 2) }
            let body = builder.unsafeBody(), base = try #require(body.baseAddress)
            let view = UnsafeRowView(body: base, byteCount: body.count, reference: before, version: 1)
            for (position, column) in columns.enumerated().dropFirst(2) {
                let key = KeyBuilder()
                key.append(column: plain.access[position], of: view)
                wanted[column.id] = key.bytes
            }
            let asked = columns.map { Column(id: $0.id.rawValue < 3 ? $0.id : ColumnID(rawValue: 0), name: $0.name, type: $0.type) }
            let copy = Array(body)
            let layout = try copy.withUnsafeBytes { try transaction.addLayout(to: table.id, columns: asked, defaults: $0) }
            #expect(layout.columns == columns)
            for column in columns.dropFirst(2) {
                _ = try transaction.defineIndex(named: column.name, on: table.id, parts: [IndexPart(column: column.id, ascending: true)])
            }
            return try put(transaction, 4)
        }
        func change(_ transaction: Transaction, _ reference: RowReference, nulls: Bool) throws {
            let current = try #require(transaction.catalog.table(table.id))
            let row = try #require(try transaction.unsafeRow(reference)), old = try #require(current.layout(row.layoutID))
            builder.begin(current.currentLayout, copying: row, of: old)
            builder.set(0, int64: 9)
            if nulls { for position in 2..<current.currentLayout.columns.count { builder.setNull(position) } }
            try transaction.put(reference, body: builder.unsafeBody(), changing: builder.changed)
        }
        try store.write { try change($0, updated, nulls: false) }
        try store.write { try change($0, nulled, nulls: false) }
        try store.write { try change($0, nulled, nulls: true) }
        func check(_ when: String) throws {
            let snapshot = store.snapshot(), table = try #require(snapshot.catalog.table(table.id))
            for (column, value) in wanted {
                for (row, expected) in [(before, value), (updated, value), (nulled, Self.null), (after, Self.null)] {
                    let view = try #require(try snapshot.unsafeRow(row))
                    #expect(Self.component(column, of: view, table) == expected, "\(when): row \(row.row), column \(column.rawValue)")
                }
                let index = try #require(snapshot.catalog.indexes(on: table.id).first { $0.parts[0].column == column })
                var cursor = try snapshot.cursor(index.id, .prefix(value)), rows: [UInt64] = []
                while let row = try cursor.next() { rows.append(row) }
                let all = [before, updated, nulled, after].map(\.row)
                #expect(rows == (value == Self.null ? all : [before.row, updated.row]), "\(when): index \(index.name)")
            }
            for (type, _) in Self.values where type == .text {
                let typed = try table.column("d\(type)", as: String?.self)
                func read(_ row: RowReference) throws -> String? { try #require(try snapshot.row(row))[typed] }
                #expect(try read(before) == read(updated) && read(before) != nil && read(after) == nil, "\(when)")
            }
            #expect(try snapshot.unsafeRow(before)?.layoutID.rawValue == 0, "\(when): nobody writes the row")
            let verified = try StoreVerification.verify(path: "defaults", fileSystem: memory)
            #expect(verified.problems.map(\.message) == [], "\(when)")
        }
        try store.sync()
        try check("after the changes")
        store = try LogStore.open(path: "defaults", options: Self.options(memory))
        try check("after a replay")
        try store.checkpoint()
        store = try LogStore.open(path: "defaults", options: Self.options(memory))
        try check("after a checkpoint")
        _ = try store.compact()
        try check("after a compaction")
        store = try LogStore.open(path: "defaults", options: Self.options(memory))
        try check("in the compacted file")
        try store.write { try $0.rename(tables: [table.id: "other"]) }
        try check("after a renaming")
    }

    /// A store with one table of one integer column, and the rows that are in it.
    private struct Chain {
        let store: LogStore
        let table: TableID
        let builder = RowBuilder()
        var rows: [RowReference] = []

        init() throws {
            store = try LogStore.open(path: "chain", options: ColumnDefaultTests.options(MemoryFileSystem()))
            table = try store.write { try $0.defineTable(name: "t", columns: [("a", .int64)]).id }
        }

        /// Adds a row of the newest layout whose columns are null.
        mutating func addRow() throws {
            rows.append(try store.write { transaction in
                let row = RowReference(table: table, row: try transaction.newRow(in: table))
                builder.begin(try #require(transaction.catalog.table(table)?.currentLayout))
                try transaction.put(row, body: builder.unsafeBody())
                return row
            })
        }

        func addLayout(_ columns: [Column], _ defaults: [Int64?]) throws {
            try store.write { transaction in
                builder.begin(RowLayout(id: LayoutID(rawValue: 0), columns: columns))
                for (position, value) in defaults.enumerated() { if let value { builder.set(position, int64: value) } }
                _ = try transaction.addLayout(to: table, columns: columns, defaults: builder.unsafeBody())
            }
        }

        func values(_ column: UInt16) throws -> [Int64?] {
            let snapshot = store.snapshot(), table = try #require(snapshot.catalog.table(table))
            return try rows.map { reference in
                let row = try #require(try snapshot.unsafeRow(reference)), layout = try #require(table.layout(row.layoutID))
                let access = layout.access(of: ColumnID(rawValue: column))
                return access.isAbsent || row.isNull(access) ? nil : row.int64(access)
            }
        }
    }

    @Test
    func `Of several layouts that state a column's default, the first after the row's own holds`() throws {
        var chain = try Chain()
        let a = Column(id: ColumnID(rawValue: 1), name: "a", type: .int64)
        func new(_ name: String) -> Column { Column(id: ColumnID(rawValue: 0), name: name, type: .int64) }
        let b = Column(id: ColumnID(rawValue: 2), name: "b", type: .int64)
        try chain.addRow()
        try chain.addLayout([a, new("b")], [nil, 1])
        try chain.addRow()
        #expect(try chain.values(1) == [nil, nil] && chain.values(2) == [1, nil])
        try chain.addLayout([a, b], [5, 2])
        try chain.addRow()
        #expect(try chain.values(1) == [5, 5, nil] && chain.values(2) == [1, 2, nil], "a null of an older row gets the newer default")
        try chain.addLayout([a], [nil])
        try chain.addRow()
        try chain.addLayout([a, new("b")], [nil, 3])
        try chain.addRow()
        #expect(try chain.values(3) == [3, 3, 3, 3, nil], "a column that is removed and added again has another ID")
        #expect(try chain.values(1) == [5, 5, nil, nil, nil])
    }

    @Test
    func `A default that each row must have, or that an index does not know, is refused`() throws {
        let chain = try Chain()
        func refused(_ columns: [Column], _ set: (RowBuilder) -> Void) -> Bool {
            do {
                try chain.store.write { transaction in
                    chain.builder.begin(RowLayout(id: LayoutID(rawValue: 0), columns: columns))
                    set(chain.builder)
                    _ = try transaction.addLayout(to: chain.table, columns: columns, defaults: chain.builder.unsafeBody())
                }
            } catch { return (error as? StoreError)?.code == .schema }
            return false
        }
        let a = Column(id: ColumnID(rawValue: 1), name: "a", type: .int64)
        func new(_ type: ColumnType) -> Column { Column(id: ColumnID(rawValue: 0), name: "x", type: type) }
        #expect(refused([a, new(.reference)]) { $0.set(1, reference: RowReference(rawValue: 5)) })
        #expect(refused([a, new(.text)]) { $0.set(1, text: String(repeating: "l", count: 1025)) })
        try chain.store.write {
            _ = try $0.defineIndex(named: "i", on: chain.table, parts: [IndexPart(column: a.id, ascending: true)])
        }
        #expect(refused([a]) { $0.set(0, int64: 1) }, "the entries of older rows are null")
        #expect(!refused([a, new(.int64)]) { $0.set(1, int64: 1) })
    }

    @Test
    func `A catalog has version 2 only where a layout states a default, and a higher version is refused`() throws {
        let memory = MemoryFileSystem()
        let store = try LogStore.open(path: "versions", options: Self.options(memory))
        let table = try store.write { try $0.defineTable(name: "t", columns: [("a", .int64)]) }
        try store.write { _ = try $0.addColumns([("b", .text)], to: table.id) }
        #expect(store.snapshot().catalog.encoded()[0] == 1)
        let columns = try #require(store.snapshot().catalog.table(table.id)?.currentLayout.columns)
        try store.write { transaction in
            let builder = RowBuilder()
            builder.begin(RowLayout(id: LayoutID(rawValue: 0), columns: columns))
            builder.set(1, text: "default")
            _ = try transaction.addLayout(to: table.id, columns: columns, defaults: builder.unsafeBody())
        }
        let bytes = store.snapshot().catalog.encoded()
        #expect(bytes[0] == 2 && bytes.withUnsafeBytes { Catalog($0) }?.encoded() == bytes)
        for count in 0..<bytes.count { #expect(bytes[..<count].withUnsafeBytes { Catalog($0) } == nil, "\(count) bytes") }
        for position in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[position] ^= 1 << UInt8(bit)
                guard let catalog = changed.withUnsafeBytes({ Catalog($0) }) else { continue }
                #expect(catalog.encoded().withUnsafeBytes { Catalog($0) } != nil, "byte \(position), bit \(bit)")
            }
        }
        try store.write { try $0.setSystemRow(Catalog.row, [3] + bytes.dropFirst()) }
        try store.sync()
        #expect(throws: StoreError.self) { try LogStore.open(path: "versions", options: Self.options(memory)) }
        do { _ = try LogStore.open(path: "versions", options: Self.options(memory)) } catch {
            #expect(error.code == .unsupportedVersion)
        }
        do {
            _ = try StoreSalvage.salvage(path: "versions", to: "salvaged", options: Self.options(memory))
            Issue.record("a salvage took an older catalog for a newer one")
        } catch { #expect(error.code == .unsupportedVersion) }
    }
}
