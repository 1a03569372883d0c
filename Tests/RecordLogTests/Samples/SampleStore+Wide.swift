import HeartwoodTestSupport

@testable import RecordLog

/// The columns and indexes of a wide store, values for them, and changes in the stack's manner.
extension SampleStore {
    static let name = ColumnID(rawValue: 1), age = ColumnID(rawValue: 2), group = ColumnID(rawValue: 3), picture = ColumnID(rawValue: 4)
    /// Indexed, so that these columns stay.
    private static let title = ColumnID(rawValue: 5), small = ColumnID(rawValue: 6)

    /// Several variable columns between fixed ones.
    static let moreColumns: [(String, ColumnType)] = [
        ("title", .text), ("small", .int16), ("note", .text), ("code", .bytes), ("isOpen", .bool), ("file", .value), ("end", .text),
    ]

    static func defineMoreIndex(_ table: TableDefinition, _ transaction: Transaction) throws {
        _ = try transaction.defineIndex(
            named: "more", on: table.id, parts: [IndexPart(column: title, ascending: true), IndexPart(column: small, ascending: true)])
    }

    static func moreIndex(_ catalog: Catalog, _ table: TableID) -> IndexID? {
        catalog.indexes(on: table).first { $0.name == "more" }?.id
    }

    static func appendMore(_ key: KeyBuilder, _ person: Person) {
        if case .text(let title)? = person.more[title] { key.append(text: title) } else { key.appendNull() }
        if case .integer(let small)? = person.more[small] { key.append(int64: small) } else { key.appendNull() }
    }

    func definition(_ catalog: Catalog) -> TableDefinition { catalog.table(table.id) ?? table }

    func access(_ column: ColumnID, of row: UnsafeRowView, _ catalog: Catalog) -> ColumnAccess? {
        guard let layout = definition(catalog).layout(row.layoutID), let position = layout.position(of: column) else { return nil }
        return layout.access[position]
    }

    // MARK: Values

    /// A person that differs from `old` in some columns, or in all of them for nil.
    func draw(
        _ catalog: Catalog, from old: Person? = nil, _ domain: ValueDomain, hasPictures: Bool = true, _ random: inout SeededGenerator
    ) -> Person {
        var person = Person.draw(from: old, domain, hasPictures: hasPictures, &random)
        for column in definition(catalog).currentLayout.columns where column.id.rawValue > Self.picture.rawValue {
            if let old, Bool.random(using: &random) {
                person.more[column.id] = old.more[column.id]
            } else {
                // An index key has at most an eighth of a segment.
                let domain = column.id == Self.title ? ValueDomain(longest: min(domain.longest, 4000)) : domain
                person.more[column.id] = domain.draw(column: column.type, from: old?.more[column.id], &random)
            }
        }
        return person
    }

    /// The values of the `value` columns, which belong to one row each.
    func values(of person: Person, _ transaction: Transaction) throws -> [ColumnID: LargeValue] {
        var values: [ColumnID: LargeValue] = [:]
        for column in definition(transaction.catalog).currentLayout.columns where column.type == .value {
            if case .bytes(let bytes)? = person.more[column.id] { values[column.id] = try bytes.withUnsafeBytes { try transaction.writeValue($0) } }
        }
        return values
    }

    /// Sets a column of another type than `value`, unless it is null.
    func set(_ position: Int, _ column: Column, of person: Person) {
        switch column.id {
        case Self.name: if let name = person.name { builder.set(position, text: name) }
        case Self.age: builder.set(position, int64: person.age)
        case Self.group: builder.set(position, reference: RowReference(table: TableID(rawValue: 9), row: person.group))
        default: person.more[column.id]?.set(position, in: builder)
        }
    }

    private func isNull(_ column: ColumnID, of person: Person) -> Bool {
        switch column {
        case Self.name: person.name == nil
        case Self.age, Self.group: false
        case Self.picture: person.picture == nil
        default: person.more[column] == nil
        }
    }

    private func isSame(_ column: ColumnID, _ a: Person, _ b: Person) -> Bool {
        switch column {
        case Self.name: a.name == b.name
        case Self.age: a.age == b.age
        case Self.group: a.group == b.group
        case Self.picture: a.picture == b.picture
        default: a.more[column] == b.more[column]
        }
    }

    // MARK: Changes

    /// Writes the next version of a row as the stack does: in a copy, it sets the changed columns, or sets them to null, in any order, and some of
    /// the unchanged ones.
    func revise(_ transaction: Transaction, _ row: UInt64, from old: Person, to person: Person, _ random: inout SeededGenerator) throws {
        let table = definition(transaction.catalog), layout = table.currentLayout
        var changed = person
        for column in layout.columns where column.type == .value && isSame(column.id, old, person) { changed.more[column.id] = nil }
        var values = try values(of: changed, transaction)
        if let picture = person.picture, picture != old.picture {
            values[Self.picture] = try picture.withBytes { try transaction.writeValue($0) }
        }
        guard let current = try transaction.unsafeRow(reference(row)), let before = table.layout(current.layoutID) else {
            throw StoreError(.corrupt, path: "", "a row that is to be changed is not there", remedy: "")
        }
        builder.begin(layout, copying: current, of: before)
        for position in layout.columns.indices.shuffled(using: &random) {
            let column = layout.columns[position], stays = isSame(column.id, old, person)
            if stays, Int.random(in: 0..<3, using: &random) > 0 { continue }
            if isNull(column.id, of: person) {
                builder.setNull(position)
            } else if column.type != .value {
                set(position, column, of: person)
            } else if let value = values[column.id] {
                builder.set(position, value: value)
            }
        }
        try transaction.put(reference(row), body: builder.unsafeBody(), changing: builder.changed)
    }

    /// Adds a layout to the table, with a column less, a column more, or all of them in another order. It may state a default of the new column,
    /// or of one that has been there. Rows keep their layout until they are written.
    func addLayout(_ transaction: Transaction, _ people: inout [UInt64: Person], _ random: inout SeededGenerator) throws {
        let table = definition(transaction.catalog)
        var columns = table.currentLayout.columns
        let free = columns.indices.filter { columns[$0].id.rawValue > Self.small.rawValue }
        switch (Int.random(in: 0..<3, using: &random), free.randomElement(using: &random)) {
        case (0, let index?):
            let gone = columns.remove(at: index).id
            for row in people.keys { people[row]?.more[gone] = nil }
        case (1, _) where free.count < 9:
            let types: [ColumnType] = [.text, .text, .bytes, .value, .int64, .double, .uuid]
            let column = Column(id: ColumnID(rawValue: 0), name: "x\(table.layouts.count)", type: types.randomElement(using: &random) ?? .text)
            columns.insert(column, at: Int.random(in: 0...columns.count, using: &random))
        default: columns.shuffle(using: &random)
        }
        let stated = columns.indices.filter { index in
            let column = columns[index]
            return (column.id.rawValue == 0 || column.id.rawValue > Self.small.rawValue) && column.type != .value
        }.randomElement(using: &random)
        let short = ValueDomain(longest: 300)
        guard let stated, Bool.random(using: &random), let value = short.draw(column: columns[stated].type, &random) else {
            _ = try transaction.addLayout(to: table.id, columns: columns)
            return
        }
        builder.begin(RowLayout(id: LayoutID(rawValue: 0), columns: columns))
        value.set(stated, in: builder)
        let layout = try transaction.addLayout(to: table.id, columns: columns, defaults: builder.unsafeBody())
        let column = layout.columns[stated].id
        for (row, person) in people where person.more[column] == nil { people[row]?.more[column] = value }
    }
}

extension SampleStore.Person {
    /// A value for any sample store. Ages and groups are few, so that keys are repeated; ages may be at the ends of their type too.
    static func draw(
        from old: Self? = nil, _ domain: ValueDomain, hasPictures: Bool = true, _ random: inout SeededGenerator
    ) -> Self {
        var person = old ?? Self(name: nil, age: 0, group: 0)
        func changes() -> Bool { old == nil || Bool.random(using: &random) }
        if changes() {
            let name = ValueDomain(longest: min(domain.longest, 4000)).draw(.text, from: old?.name.map(SampleValue.text), &random)
            if case .text(let text)? = name { person.name = text } else { person.name = nil }
        }
        if changes(), case .integer(let age) = domain.something(.integer(bits: 32), &random) {
            person.age = Int.random(in: 0..<3, using: &random) == 0 ? age : Int64.random(in: -3...3, using: &random)
        }
        if changes() { person.group = UInt64.random(in: 0..<5, using: &random) }
        if changes() { person.picture = hasPictures && Int.random(in: 0..<4, using: &random) == 0 ? .random(&random) : nil }
        return person
    }
}

extension SampleValue {
    /// The bytes of a `value` column.
    init(_ value: ValueReader) throws {
        var bytes = [UInt8](repeating: 0, count: Int(value.count))
        _ = try bytes.withUnsafeMutableBytes { try value.read(into: $0) }
        self = .bytes(bytes)
    }
}
