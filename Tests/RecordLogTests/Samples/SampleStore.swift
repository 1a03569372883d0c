import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// A store with one table and three indexes, beside a dictionary of the expected content. A wide one has more columns, and an index over two of
/// them: `SampleStore+Wide.swift`. It may have an index of terms: `SampleStore+Terms.swift`.
final class SampleStore {
    static let path = "sample.heartwood"

    struct Person: Equatable {
        var name: String?
        var age: Int64
        var group: UInt64
        var picture: Picture?
        /// The further columns of a wide store, by column ID; null columns have no entry.
        var more: [ColumnID: SampleValue] = [:]
    }

    /// A large value, represented by its generator's parameters, so that a model of many takes little memory.
    struct Picture: Equatable {
        var fill: UInt8
        var count: Int

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try withUnsafeTemporaryAllocation(byteCount: max(count, 1), alignment: 8) { bytes in
                memset(bytes.baseAddress!, Int32(fill), max(count, 1))
                return try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }

        /// The parameters of a value; nil if it is not a picture.
        init?(_ value: ValueReader) throws {
            self.init(fill: value.count > 0 ? try value.unsafeChunk(0)[0] : 0, count: value.count)
            guard try withBytes({ try value.elementsEqual($0) }) else { return nil }
        }

        init(fill: UInt8, count: Int) {
            self.fill = count > 0 ? fill : 0
            self.count = count
        }

        /// Sizes with different storage in segments of 64 KiB: in the row, in one chunk, in several.
        static func random(_ random: inout SeededGenerator) -> Picture {
            let sizes = [0...1, 900...1030, 1025...1300, 1025...1300, 1025...1300, 8100...9000]
            let size = sizes.randomElement(using: &random) ?? 0...1
            return Picture(fill: UInt8.random(in: 0...255, using: &random), count: Int.random(in: size, using: &random))
        }
    }

    let fileSystem: any FileSystem
    var options: StoreOptions
    private(set) var store: LogStore
    private(set) var table: TableDefinition
    private(set) var byName: IndexID
    private(set) var byGroup: IndexID
    private(set) var byAge: IndexID
    var people: [UInt64: Person] = [:]
    let builder = RowBuilder()

    /// - Parameters:
    ///   - isWide: whether to make a wide store, if it has no table yet.
    ///   - hasTerms: whether it then has an index of terms.
    init(
        fileSystem: any FileSystem = MemoryFileSystem(), path: String = SampleStore.path, isWide: Bool = false, hasTerms: Bool = false,
        _ configure: (inout StoreOptions) -> Void = { _ in }
    ) throws {
        self.fileSystem = fileSystem
        var options = StoreOptions()
        options.fileSystem = fileSystem
        options.segmentShift = 20
        // Operations then come in the same order at every run.
        options.checkpointsInBackground = false
        options.compaction = nil
        options.extractors = Self.extractors
        configure(&options)
        self.options = options
        store = try LogStore.open(path: path, options: options)
        (table, byName, byGroup, byAge) = try Self.define(store, isWide: isWide, hasTerms: hasTerms)
    }

    /// Reads an open store without writing; nil if the table does not exist yet.
    init?(reading store: LogStore) {
        guard let table = store.snapshot().catalog.table(named: "Person") else { return nil }
        let indexes = store.snapshot().catalog.indexes(on: table.id)
        guard indexes.count >= 3 else { return nil }
        fileSystem = store.fileSystem
        options = store.options
        self.store = store
        self.table = table
        (byName, byGroup, byAge) = (indexes[0].id, indexes[1].id, indexes[2].id)
    }

    private static func define(_ store: LogStore, isWide: Bool, hasTerms: Bool) throws -> (TableDefinition, IndexID, IndexID, IndexID) {
        if let table = store.snapshot().catalog.table(named: "Person") {
            let indexes = store.snapshot().catalog.indexes(on: table.id)
            return (table, indexes[0].id, indexes[1].id, indexes[2].id)
        }
        return try store.write { transaction in
            let table = try transaction.defineTable(
                name: "Person",
                columns: [("name", .text), ("age", .int32), ("group", .reference), ("picture", .value)] + (isWide ? moreColumns : []))
            let ids = table.currentLayout.columns.map(\.id)
            let name = try transaction.defineIndex(named: "name", on: table.id, parts: [IndexPart(column: ids[0], ascending: true)])
            let group = try transaction.defineIndex(named: "group", on: table.id, parts: [IndexPart(column: ids[2], ascending: true)])
            let age = try transaction.defineIndex(
                named: "age", on: table.id,
                parts: [IndexPart(column: ids[1], ascending: false), IndexPart(column: ids[0], ascending: true)])
            if isWide { try defineMoreIndex(table, transaction) }
            if hasTerms { try definePairs(on: table, transaction) }
            return (table, name, group, age)
        }
    }

    /// Adds an index after there are rows, or drops it.
    func addOrDropLateIndex(_ transaction: Transaction) throws {
        if let late = Self.lateIndex(transaction.catalog, table.id) { return try transaction.dropIndex(late) }
        let age = IndexPart(column: Self.age, ascending: true)
        _ = try transaction.defineIndex(named: "late", on: table.id, parts: [age])
    }

    private static func lateIndex(_ catalog: Catalog, _ table: TableID) -> IndexID? {
        catalog.indexes(on: table).first { $0.name == "late" }?.id
    }

    func reopen(path: String = SampleStore.path, _ configure: (inout StoreOptions) -> Void = { _ in }) throws {
        try? store.close()
        configure(&options)
        store = try LogStore.open(path: path, options: options)
    }

    /// Opens again without closing, as after a crash of the process.
    func reopenAfterCrash() throws {
        store = try LogStore.open(path: Self.path, options: options)
    }

    func reference(_ row: UInt64) -> RowReference { RowReference(table: table.id, row: row) }

    /// Writes a row from scratch.
    func put(_ transaction: Transaction, _ row: UInt64, _ person: Person) throws {
        let layout = definition(transaction.catalog).currentLayout
        let values = try values(of: person, transaction)
        builder.begin(layout)
        if let picture = person.picture, let position = layout.position(of: Self.picture) {
            // An unchanged picture is copied, as when another column changes.
            if let old = try transaction.unsafeRow(reference(row)), let access = access(Self.picture, of: old, transaction.catalog),
                try isPicture(picture, access, of: old, transaction) {
                // Reading may have flushed the row.
                try transaction.unsafeRow(reference(row)).map { builder.copy(position, from: $0, access) }
            } else {
                builder.set(position, value: try picture.withBytes { try transaction.writeValue($0) })
            }
        }
        for (position, column) in layout.columns.enumerated() where column.id != Self.picture {
            if let value = values[column.id] { builder.set(position, value: value) } else { set(position, column, of: person) }
        }
        try transaction.put(reference(row), body: builder.unsafeBody())
    }

    private func isPicture(_ picture: Picture, _ access: ColumnAccess, of row: UnsafeRowView, _ transaction: Transaction) throws -> Bool {
        try transaction.value(access, of: row).map { try Picture($0) } == picture
    }

    @discardableResult
    func insert(_ person: Person) throws -> UInt64 {
        let row = try store.write { transaction in
            let row = try transaction.newRow(in: table.id)
            try put(transaction, row, person)
            return row
        }
        people[row] = person
        return row
    }

    /// - Parameter catalog: the catalog of the row's snapshot or transaction, if the table may have got other layouts since the opening.
    func person(
        _ row: UnsafeRowView, _ value: (ColumnAccess, UnsafeRowView) throws -> ValueReader?, in catalog: Catalog? = nil
    ) throws -> Person {
        let table = catalog.map(definition) ?? table
        guard let layout = table.layout(row.layoutID) else { throw StoreError(.corrupt, path: "", "a row of no layout", remedy: "") }
        var person = Person(name: nil, age: 0, group: 0)
        for (position, column) in layout.columns.enumerated() {
            let access = layout.access[position]
            switch column.id {
            case Self.name: person.name = row.isNull(access) ? nil : String(decoding: row.bytes(access), as: UTF8.self)
            case Self.age: person.age = row.int64(access)
            case Self.group: person.group = row.reference(access).row
            case Self.picture:
                person.picture = try value(access, row).map { stored in
                    guard let picture = try Picture(stored) else { throw StoreError(.corrupt, path: "", "another picture", remedy: "") }
                    return picture
                }
            default:
                // A column that was dropped since is missing.
                guard layout === table.currentLayout || table.currentLayout.position(of: column.id) != nil else { continue }
                person.more[column.id] = access.type == .value ? try value(access, row).map(SampleValue.init) : SampleValue(row, access)
            }
        }
        for (column, access) in zip(layout.laterColumns, layout.laterAccess) where !access.isAbsent {
            person.more[column.id] = SampleValue(row, access)
        }
        return person
    }

    /// A snapshot's whole content, by a scan.
    func contents(_ snapshot: Snapshot) throws -> [UInt64: Person] {
        var found: [UInt64: Person] = [:]
        try snapshot.scan(table.id) { row in
            found[row.reference.row] = try person(row, snapshot.value, in: snapshot.catalog)
            return true
        }
        return found
    }

    func rows(_ snapshot: Snapshot, _ index: IndexID, _ range: KeyRange = .all, descending: Bool = false) throws -> [UInt64] {
        var cursor = try snapshot.cursor(index, range, descending: descending)
        var rows: [UInt64] = []
        while let row = try cursor.next() { rows.append(row) }
        return rows
    }

    /// Compares a snapshot with the expected content, through the scan, single rows, and every index in both directions.
    func check(_ snapshot: Snapshot, _ expected: [UInt64: Person], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let mismatch = try mismatch(snapshot, expected)
        #expect(mismatch == nil, sourceLocation: sourceLocation)
    }

    /// The first difference that `check` would find; nil for none.
    func mismatch(_ snapshot: Snapshot, _ expected: [UInt64: Person]) throws -> String? {
        let found = try contents(snapshot)
        if found != expected { return "a scan finds \(found.count) rows, expected \(expected.count), or other values" }
        if snapshot.rowCount(table.id) != expected.count { return "\(snapshot.rowCount(table.id)) rows are counted, \(expected.count) there" }
        for (row, wanted) in expected
        where try snapshot.unsafeRow(reference(row)).map({ try person($0, snapshot.value, in: snapshot.catalog) }) != wanted {
            return "row \(row) is wrong"
        }
        var orders: [(IndexID, (KeyBuilder, Person) -> Void)] = [
            (byName, { key, person in if let name = person.name { key.append(text: name) } else { key.appendNull() } }),
            (byGroup, { $0.append(reference: RowReference(table: TableID(rawValue: 9), row: $1.group)) }),
            (byAge, { key, person in
                key.append(int64: person.age, descending: true)
                if let name = person.name { key.append(text: name) } else { key.appendNull() }
            }),
        ]
        if let more = Self.moreIndex(snapshot.catalog, table.id) { orders.append((more, Self.appendMore)) }
        if let late = Self.lateIndex(snapshot.catalog, table.id) { orders.append((late, { $0.append(int64: $1.age) })) }
        for (index, build) in orders {
            let keys = expected.map { row, person in
                let key = KeyBuilder()
                build(key, person)
                key.append(row: row)
                return (row, key.bytes)
            }
            let wanted = keys.sorted { a, b in a.1.withUnsafeBytes { a in b.1.withUnsafeBytes { KeyBytes.compare(a, $0) < 0 } } }.map(\.0)
            if try rows(snapshot, index) != wanted { return "index \(index.rawValue) is wrong" }
            if try rows(snapshot, index, descending: true) != wanted.reversed() { return "index \(index.rawValue) is wrong backwards" }
            if try snapshot.count(index, .all) != expected.count { return "index \(index.rawValue) counts wrongly" }
        }
        return try pairsMismatch(snapshot, expected)
    }
}
