import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// The objects in one state of a file of Core Data's, as rows of the record log's form. One thread at a time may use it, inside of `file.read`.
final class CoreDataReader {
    let file: SQLiteFile
    let contents: CoreDataContents
    let layout: CoreDataLayout
    private let schema: RecordLogSchema
    /// Notes files of transformables that are not there.
    var missingFiles: MissingValueFiles? { didSet { for rows in rows { rows?.missingFiles = missingFiles } } }
    /// By table ID.
    private var rows: [CoreDataRows?] = []
    /// By table ID and property index.
    private var members: [Int64: CoreDataMembers] = [:]
    /// By table ID; nil for a table that nobody has counted.
    private var counts: [Int?] = []
    private var destinations = IdentityTable<CoreDataDestination>()
    /// By the names of the table and the column.
    private var indexes: [String: SQLiteIndex?] = [:]
    /// The results of comparisons of indexes with their tables.
    var comparisons = IndexComparisons()
    /// By the name of the file's table; empty until the keys are learned.
    private var keys: [String: CoreDataKeys] = [:]
    /// By entity, the table ID of its rows.
    private let tableIDs: IdentityTable<TableID>

    /// - Parameter schema: of a record log for the same entities.
    init(_ file: SQLiteFile, _ contents: CoreDataContents, _ layout: CoreDataLayout, _ schema: RecordLogSchema) throws {
        self.file = file
        self.contents = contents
        self.layout = layout
        self.schema = schema
        let tables = schema.tables.compactMap { $0 }
        var tableIDs = IdentityTable<TableID>(), places = IdentityTable<CoreDataLayout.Entity>()
        for table in tables { tableIDs[table.runtime.entity] = table.id }
        for place in layout.entities.values { places[place.entity] = place }
        self.tableIDs = tableIDs
        rows = Array(repeating: nil, count: schema.tables.count)
        counts = Array(repeating: nil, count: schema.tables.count)
        for table in tables {
            guard let place = places[table.runtime.entity] else { continue }
            rows[Int(table.id.rawValue)] = try CoreDataRows(place, table, file, destination: destination)
        }
    }

    /// The tables in which objects of an entity and its subentities lie.
    func destination(_ entity: NSEntityDescription) throws -> CoreDataDestination? {
        if let known = destinations[entity] { return known }
        var members: [Int64: TableID] = [:]
        for member in entity.concreteFamily {
            if let number = contents.numbers.number(of: member), let id = tableIDs[member] { members[number] = id }
        }
        guard let place = contents.numbers.number(of: entity).flatMap({ layout.entities[$0] }) else { return nil }
        let made = try CoreDataDestination(try file.table(named: place.table), members: members, path: file.path)
        made.keys = keys[place.table]
        destinations[entity] = made
        return made
    }

    private func rows(of table: TableID) -> CoreDataRows? {
        let index = Int(table.rawValue)
        return index < rows.count ? rows[index] : nil
    }

    // MARK: Rows

    /// Calls `body` with the row of an object, if there is one. Its bytes are valid until the next row is read.
    func find(_ reference: RowReference, _ body: (UnsafeRowView) throws -> Void) throws {
        guard let rows = rows(of: reference.table), let key = Int64(exactly: reference.row) else { return }
        try rows.find(key, body)
    }

    /// Calls `body` with each row of an entity that meets `test`, by key, until it returns false.
    /// - Parameters:
    ///   - properties: those that `test` reads; nil for all.
    ///   - givesWhole: whether `body` gets the row with all columns, too.
    func forEach(
        _ table: TableID, reading properties: Set<Int>?, givesWhole: Bool, where test: (UnsafeRowView) throws -> Bool,
        _ body: (UnsafeRowView) throws -> Bool
    ) throws {
        guard let rows = rows(of: table) else { return }
        try rows.forEach(properties.map(rows.selection), givesWhole: givesWhole, where: test, body)
    }

    /// - Complexity: O(rows of the file's table) at the first call.
    func count(_ table: TableID) throws -> Int {
        guard let rows = rows(of: table) else { return 0 }
        let index = Int(table.rawValue)
        if let known = counts[index] { return known }
        let count = try rows.count()
        counts[index] = count
        return count
    }

    /// An index whose entries are in the order of a column's values. One that disagrees with its table is as none: entries that it lacks would be
    /// rows that vanish.
    /// - Complexity: O(rows of the table) for the first call with a column.
    func index(beginningWith column: String, of table: String) throws -> SQLiteIndex? {
        // No name that SQLite stores has this byte.
        let key = "\(table)\u{0}\(column)"
        if let known = indexes[key] { return known }
        let found = try file.schema.indexes(ofTable: table).lazy.map { try self.file.index(named: $0.name) }.first { index in
            try !index.isPartial && index.columns.first.map { $0.name == column && $0.collation.uppercased() == "BINARY" } ?? false
                && self.comparisons.agree(index, self.file)
        }
        indexes[key] = .some(found)
        return found
    }

    // MARK: Passes over the whole file

    /// One table of the file, and the rows of each entity in it.
    struct ObjectTable {
        let source: SQLiteTable
        let entityColumn: Int
        /// By entity number.
        let rows: [Int64: CoreDataRows]
    }

    /// The tables of objects, by name.
    func objectTables() throws -> [ObjectTable] {
        try Dictionary(grouping: rows.compactMap { $0 }) { $0.source.name }.sorted { $0.key < $1.key }.map { name, rows in
            guard let column = rows[0].source.index(ofColumn: "Z_ENT") else {
                throw CoreDataFileError.damaged(file.path, "the table \(name) has no column Z_ENT")
            }
            let byNumber = Dictionary(rows.map { ($0.number, $0) }) { first, _ in first }
            return ObjectTable(source: rows[0].source, entityColumn: column, rows: byNumber)
        }
    }

    /// Reads the keys of all objects that relationships connect. References are followed in memory from then on, and dangling ones are found.
    func learnKeys() throws {
        let tables = try connectedTables()
        for table in try objectTables() where tables.contains(table.source.name) {
            let found = CoreDataKeys()
            try found.learn(table.source, entity: table.entityColumn)
            keys[table.source.name] = found
        }
        for destination in destinations.values { destination.keys = keys[destination.table.name] }
    }

    private func connectedTables() throws -> Set<String> {
        var tables: Set<String> = []
        for entity in layout.entities.values {
            for case let relationship as NSRelationshipDescription in entity.entity.propertiesByIndex {
                guard let destination = try relationship.destinationEntity.flatMap(destination) else { continue }
                tables.formUnion([entity.table, destination.table.name])
            }
        }
        return tables
    }

    // MARK: Members

    func members(of reference: RowReference, property: Int) throws -> [RowReference] {
        guard let key = Int64(exactly: reference.row), let source = try source(reference.table, property) else { return [] }
        return try source.members(of: key)
    }

    private func source(_ table: TableID, _ property: Int) throws -> CoreDataMembers? {
        let key = Int64(table.rawValue) << 32 | Int64(property)
        if let known = members[key] { return known }
        guard let rows = rows(of: table), let place = layout.entities[rows.number]?.places[property],
            let destination = try rows.table.runtime.properties[property].destination.flatMap(destination)
        else { return nil }
        let made = try CoreDataMembers(place, destination, self)
        members[key] = made
        return made
    }
}
