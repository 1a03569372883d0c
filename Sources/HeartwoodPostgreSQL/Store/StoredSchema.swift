import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// The tables of a schema on the server, and a store's own values in it.
struct StoredSchema {
    /// By table: the columns with their types.
    private(set) var tables: [String: [String: String]] = [:]
    private(set) var values: [String: Data] = [:]
    /// The numbers of the entities.
    private(set) var numbers: [String: Int16] = [:]
    /// The names of the entities' tables.
    private var tablesOfEntities: Set<String> = []

    /// Whether a store is there.
    var hasStore: Bool { values[StoreTables.Key.metadata] != nil }

    /// Whether a conversion has begun to make a store.
    var hasConversion: Bool { values[StoreTables.Key.conversion] != nil }

    init(_ connection: PostgreSQLConnection, _ location: StoreLocation) throws {
        var parameters = PostgreSQLParameters()
        try parameters.addText(location.schema)
        let columns = try connection.execute(Self.columns, parameters)
        for line in 0..<columns.count {
            let table = try columns.text(line, 0)
            tables[table, default: [:]][try columns.text(line, 1)] = try columns.text(line, 2)
        }
        guard tables[StoreTables.values] != nil, tables[StoreTables.entities] != nil else { return }
        var batch = PostgreSQLBatch()
        batch.add(PostgreSQLStatement("SELECT key, value FROM \(location.table(StoreTables.values))", isPrepared: false))
        batch.add(PostgreSQLStatement("SELECT name, number, table_name FROM \(location.table(StoreTables.entities))", isPrepared: false))
        let results = try connection.execute(batch)
        for line in 0..<results[0].count { values[try results[0].text(line, 0)] = try results[0].bytes(line, 1) }
        for line in 0..<results[1].count {
            numbers[try results[1].text(line, 0)] = try results[1].int16(line, 1)
            tablesOfEntities.insert(try results[1].text(line, 2))
        }
    }

    /// Tables, views and foreign tables. An empty table has one row of nulls.
    private static let columns = PostgreSQLStatement(
        """
        SELECT c.relname::text, coalesce(a.attname::text, ''), coalesce(format_type(a.atttypid, NULL), '')
        FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        """, isPrepared: false)

    /// The number of migrations so far, from 1.
    var version: Int { number(StoreTables.Key.version) ?? 1 }

    /// The highest number that an entity ever got.
    var highestNumber: Int16 { max(Int16(clamping: number(StoreTables.Key.numbers) ?? 0), numbers.values.max() ?? 0) }

    /// The names of the store's tables, without those of others.
    var names: [String] {
        tables.keys.filter { name in
            StoreTables.names.contains(name) || name.hasPrefix(StoreTables.markerPrefix) || tablesOfEntities.contains(name)
                || tables[name]?[LinkTable.sourceEntity] != nil && tables[name]?[LinkTable.destinationEntity] != nil
        }.sorted()
    }

    /// The names with their schema, as a statement lists them.
    func quotedNames(_ location: StoreLocation) -> String { names.map { location.table(SQLName.quoted($0)) }.joined(separator: ", ") }

    /// Removes the schema behind its tables, unless it has something of others.
    func removeSchema(_ location: StoreLocation, _ connection: PostgreSQLConnection) {
        guard tables.count == names.count else { return }
        // The server refuses to remove one with functions or types of others.
        _ = try? connection.execute(PostgreSQLStatement("DROP SCHEMA \(SQLName.quoted(location.schema))", isPrepared: false))
    }

    private func number(_ key: String) -> Int? { values[key].flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

    func metadata() throws -> [String: Any]? { try values[StoreTables.Key.metadata].map(RecordLogMetadata.decode) }

    /// The store's identifier, if there is a store and it is a UUID.
    var identity: UUID? { ((try? metadata())?[NSStoreUUIDKey] as? String).flatMap(UUID.init(uuidString:)) }

    func model() throws -> NSManagedObjectModel? {
        try values[StoreTables.Key.model].map { data in try data.withUnsafeBytes { try NSManagedObjectModel.unarchive($0) } }
    }

    /// - Throws: 134020 that names tables and columns which a layout needs and the schema lacks, or has with other types.
    func check(_ layout: PostgreSQLLayout, _ location: StoreLocation) throws {
        var faults: [String] = []
        func compare(_ table: String, _ wanted: [(name: String, type: String)]) {
            guard let found = tables[table] else { return faults.append("the table \(table) is missing") }
            for column in wanted where found[column.name] != column.type {
                faults.append("\(table).\(column.name) is \(found[column.name] ?? "missing") in place of \(column.type)")
            }
        }
        for family in layout.families {
            let own = [(FamilyTable.number, "bigint"), (FamilyTable.entity, "smallint"), (FamilyTable.version, "integer")]
            compare(family.name, own + family.columns.map { ($0.name, $0.type.name) })
        }
        for link in layout.links { compare(link.name, [(LinkTable.source, "bigint"), (LinkTable.destination, "bigint")]) }
        guard !faults.isEmpty else { return }
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError,
            "\(location.shown): the tables are not those of the store's model: \(faults.prefix(8).joined(separator: "; ")).")
    }

    /// - Throws: 134020 if the schema has tables of others.
    func checkIsEmpty(_ location: StoreLocation) throws {
        guard !tables.isEmpty else { return }
        guard !hasConversion else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError,
                "\(location.shown): a conversion into the schema \"\(location.schema)\" was cut off. Run it again, and it goes on; or drop the schema.")
        }
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError,
            "\(location.shown): the schema \"\(location.schema)\" has tables that no store made (\(tables.keys.sorted().prefix(8).joined(separator: ", "))). "
                + "A store is made in an empty schema; give another name in the URL: ?\(StoreLocation.parameter)=name.")
    }
}
