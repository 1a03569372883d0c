import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Rows of one entity that get values in the same columns, for one statement.
struct RowColumns {
    /// The bytes of values behind which a statement is full.
    private static let bytesMax = 16 << 20

    let entity: BoundEntity
    private let family: FamilyTable
    private let layout: PostgreSQLLayout
    private let places: [Int]
    private var numbers = PostgreSQLArray(of: .int8)
    private var versions = PostgreSQLArray(of: .int4)
    private var columns: [ColumnArray] = []

    /// - Parameter places: of the fields.
    init(_ entity: BoundEntity, _ places: [Int], _ layout: PostgreSQLLayout) {
        (self.entity, self.places, self.layout) = (entity, places, layout)
        family = layout.families[entity.family]
        for place in places {
            let field = entity.fields[place]
            columns.append(ColumnArray(family.columns[field.column]))
            if let beside = field.target?.entityColumn { columns.append(ColumnArray(family.columns[beside])) }
        }
    }

    var count: Int { numbers.count }
    var isFull: Bool { columns.reduce(0) { $0 + $1.byteCount } > Self.bytesMax }

    mutating func add(_ key: ObjectKey, version: UInt32, _ value: (Int) throws -> ManagedValue) throws {
        numbers.addInt64(Int64(key.row))
        versions.addInt32(Int32(bitPattern: version))
        var column = 0
        for place in places {
            let field = entity.fields[place], value = try value(place)
            try columns[column].add(value, entity.table.runtime.entity)
            column += 1
            guard field.target?.entityColumn != nil else { continue }
            if case .reference(let target) = value, let other = layout.entity(of: target) {
                columns[column].add(number: Int64(other.number))
            } else {
                columns[column].addNull()
            }
            column += 1
        }
    }

    private func parameters() throws -> PostgreSQLParameters {
        var parameters = PostgreSQLParameters()
        try parameters.add(numbers)
        try parameters.add(versions)
        for column in columns { try parameters.add(column.array) }
        return parameters
    }

    private var source: String {
        let lists = (1...columns.count + 2).map { "$\($0)" }, names = (0..<columns.count).map { ", c\($0)" }
        return "unnest(\(lists.joined(separator: ", "))) AS u(number, version\(names.joined()))"
    }

    func addInsertion(to batch: inout PostgreSQLBatch) throws {
        let names = [FamilyTable.number, FamilyTable.entity, FamilyTable.version] + columns.map(\.column.quoted)
        let values = ["u.number", "\(entity.number)", "u.version"] + (0..<columns.count).map { "u.c\($0)" }
        let text = "INSERT INTO \(family.quoted) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM \(source)"
        batch.add(PostgreSQLStatement(text), try parameters())
    }

    func addUpdate(to batch: inout PostgreSQLBatch) throws {
        let sets = ["\(FamilyTable.version) = u.version"] + columns.enumerated().map { "\($1.column.quoted) = u.c\($0)" }
        let text = "UPDATE \(family.quoted) t SET \(sets.joined(separator: ", ")) FROM \(source) WHERE t.\(FamilyTable.number) = u.number"
        batch.add(PostgreSQLStatement(text), try parameters())
    }

    /// Sets the columns to null first, so that rows may exchange unique values.
    func addClearing(to batch: inout PostgreSQLBatch) throws {
        let sets = columns.map { "\($0.column.quoted) = NULL" }
        var parameters = PostgreSQLParameters()
        try parameters.add(numbers)
        batch.add(
            PostgreSQLStatement("UPDATE \(family.quoted) SET \(sets.joined(separator: ", ")) WHERE \(FamilyTable.number) = ANY($1)"), parameters)
    }
}

/// Rows that get values, with as few statements as possible.
struct RowGroups {
    private struct Shape: Hashable {
        let entity: Int16
        let places: [Int]
    }

    private let layout: PostgreSQLLayout
    private var places: [Shape: Int] = [:]
    private(set) var list: [RowColumns] = []

    init(_ layout: PostgreSQLLayout) { self.layout = layout }

    /// - Parameter fields: the places of the fields that the statement sets.
    mutating func add(_ row: SavedRow, _ fields: [Int]) throws {
        let shape = Shape(entity: row.entity.number, places: fields)
        if places[shape].map({ list[$0].isFull }) ?? true {
            places[shape] = list.count
            list.append(RowColumns(row.entity, fields, layout))
        }
        try list[places[shape] ?? 0].add(row.key, version: row.version, row.value)
    }

    /// Adds the statements that change rows. Rows that get other unique values lose theirs first.
    static func add(changes rows: [SavedRow], _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch) throws {
        var cleared = RowGroups(layout), changed = RowGroups(layout)
        for row in rows where !row.values.isEmpty {
            try changed.add(row, row.values.map(\.place))
            let columns = Set(layout.families[row.entity.family].constraints.flatMap(\.columns))
            let unique = row.values.map(\.place).filter { columns.contains(row.entity.fields[$0].column) }
            if !unique.isEmpty { try cleared.add(row, unique) }
        }
        for group in cleared.list where group.count > 1 || cleared.list.count > 1 { try group.addClearing(to: &batch) }
        for group in changed.list { try group.addUpdate(to: &batch) }
    }

    static func add(deletions keys: [ObjectKey], _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch) throws {
        for (family, keys) in layout.byFamily(keys) {
            var parameters = PostgreSQLParameters()
            let condition = try PostgreSQLView.numbers(keys, &parameters)
            batch.add(PostgreSQLStatement("DELETE FROM \(family.quoted) WHERE \(FamilyTable.number) \(condition)"), parameters)
        }
    }

    static func add(insertions rows: [SavedRow], _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch) throws {
        var new = RowGroups(layout)
        for row in rows { try new.add(row, Array(row.entity.fields.indices)) }
        for group in new.list { try group.addInsertion(to: &batch) }
    }
}
