import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Rows of one entity that get values in the same columns, for one statement.
struct RowColumns {
    /// The bytes of values behind which a statement is full. The server inserts the rows of one statement while the client makes the next.
    static let bytesMax = 64 << 10

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

    /// The statement for several rows takes arrays and makes rows of them. The statement for one row takes plain values, and the server keeps its plan.
    private var isOne: Bool { numbers.count == 1 }

    private func parameters() throws -> PostgreSQLParameters {
        var parameters = PostgreSQLParameters()
        for array in [numbers, versions] + columns.map(\.array) {
            if isOne { parameters.add(only: array) } else { try parameters.add(array) }
        }
        return parameters
    }

    private var source: String {
        let lists = (1...columns.count + 2).map { "$\($0)" }, names = (0..<columns.count).map { ", c\($0)" }
        return "unnest(\(lists.joined(separator: ", "))) AS u(number, version\(names.joined()))"
    }

    func addInsertion(to batch: inout PostgreSQLBatch) throws {
        let key = WritingStatements.Key.insertion(entity: entity.number, places: places, isOne: isOne)
        batch.add(layout.writing.statement(key) { insertion }, try parameters())
    }

    private var insertion: String {
        let names = [FamilyTable.number, FamilyTable.entity, FamilyTable.version] + columns.map(\.column.quoted)
        let head = "INSERT INTO \(family.quoted) (\(names.joined(separator: ", "))) "
        guard !isOne else { return head + "VALUES (\((["$1", "\(entity.number)", "$2"] + columns.indices.map { "$\($0 + 3)" }).joined(separator: ", ")))" }
        let values = ["u.number", "\(entity.number)", "u.version"] + columns.indices.map { "u.c\($0)" }
        return head + "SELECT \(values.joined(separator: ", ")) FROM \(source)"
    }

    func addUpdate(to batch: inout PostgreSQLBatch) throws {
        let key = WritingStatements.Key.update(entity: entity.number, places: places, isOne: isOne)
        batch.add(layout.writing.statement(key) { update }, try parameters())
    }

    private var update: String {
        func sets(_ version: String, _ value: (Int) -> String) -> String {
            (["\(FamilyTable.version) = \(version)"] + columns.enumerated().map { "\($1.column.quoted) = \(value($0))" }).joined(separator: ", ")
        }
        guard !isOne else { return "UPDATE \(family.quoted) SET \(sets("$2") { "$\($0 + 3)" }) WHERE \(FamilyTable.number) = $1" }
        return "UPDATE \(family.quoted) t SET \(sets("u.version") { "u.c\($0)" }) FROM \(source) WHERE t.\(FamilyTable.number) = u.number"
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
    /// Takes a group that is full.
    private let take: (RowColumns) throws -> Void

    /// - Parameter take: gets the groups that are full; those that are left are in `list`.
    private init(_ layout: PostgreSQLLayout, take: @escaping (RowColumns) throws -> Void) { (self.layout, self.take) = (layout, take) }

    /// - Parameter fields: the places of the fields that the statement sets.
    mutating func add(_ row: SavedRow, _ fields: [Int]) throws {
        let shape = Shape(entity: row.entity.number, places: fields)
        guard let place = places[shape] else {
            places[shape] = list.count
            list.append(RowColumns(row.entity, fields, layout))
            return try list[list.count - 1].add(row.key, version: row.version, row.value)
        }
        if list[place].isFull {
            try take(list[place])
            list[place] = RowColumns(row.entity, fields, layout)
        }
        try list[place].add(row.key, version: row.version, row.value)
    }

    /// Adds the statements of all groups.
    /// - Parameter connection: sends statements ahead where they have many bytes, so that the server works on them meanwhile, and a save of large
    ///   values does not have all of them in memory twice.
    private static func add(
        _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch, _ connection: PostgreSQLConnection,
        _ statement: @escaping (RowColumns, inout PostgreSQLBatch) throws -> Void, _ fill: (inout RowGroups) throws -> Void
    ) throws {
        var made = batch
        batch = PostgreSQLBatch()
        func take(_ group: RowColumns) throws {
            try statement(group, &made)
            guard made.byteCount > RowColumns.bytesMax else { return }
            try connection.send(made)
            made = PostgreSQLBatch()
        }
        var groups = RowGroups(layout, take: take)
        try fill(&groups)
        for group in groups.list { try take(group) }
        batch = made
    }

    /// Adds the statements that change rows. Rows that get other unique values lose theirs first.
    static func add(
        changes rows: [SavedRow], _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch, _ connection: PostgreSQLConnection
    ) throws {
        let rows = rows.filter { !$0.values.isEmpty }
        var cleared: [(row: SavedRow, places: [Int])] = []
        for row in rows {
            let columns = Set(layout.families[row.entity.family].constraints.flatMap(\.columns))
            let unique = row.values.map(\.place).filter { columns.contains(row.entity.fields[$0].column) }
            if !unique.isEmpty { cleared.append((row, unique)) }
        }
        if cleared.count > 1 {
            try add(layout, to: &batch, connection, { try $0.addClearing(to: &$1) }) { for (row, places) in cleared { try $0.add(row, places) } }
        }
        try add(layout, to: &batch, connection, { try $0.addUpdate(to: &$1) }) { for row in rows { try $0.add(row, row.values.map(\.place)) } }
    }

    static func add(deletions keys: [ObjectKey], _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch) throws {
        for (family, keys) in layout.byFamily(keys) {
            var parameters = PostgreSQLParameters()
            let condition = try PostgreSQLView.numbers(keys, &parameters)
            batch.add(PostgreSQLStatement("DELETE FROM \(family.quoted) WHERE \(FamilyTable.number) \(condition)"), parameters)
        }
    }

    static func add(
        insertions rows: [SavedRow], _ layout: PostgreSQLLayout, to batch: inout PostgreSQLBatch, _ connection: PostgreSQLConnection
    ) throws {
        try add(layout, to: &batch, connection, { try $0.addInsertion(to: &$1) }) { groups in
            for row in rows { try groups.add(row, Array(row.entity.fields.indices)) }
        }
    }
}
