import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Copies the rows of one commit of a record log into the new, empty tables of a schema: a step for each table (`LoadSteps`).
///
/// (1) Rows are read once, in the order of their numbers, and sent as they come. Memory does not grow with them.
/// (2) Rows keep their numbers, as `SharedTableNumbers` says.
/// (3) Nothing is validated. Indexes and references come behind the rows, and the server then checks all of them.
struct TableLoad {
    private let source: RecordLogView
    private let layout: PostgreSQLLayout
    private let connection: PostgreSQLConnection
    private let verifies: Bool
    private let progress: (Int, Int) -> Void
    /// By family: the tables of the log, in the order of the layout's entities.
    private let tables: [[(table: EntityTable, entity: BoundEntity)]]
    let numbers: SharedTableNumbers
    private let entities: EntityNumbersByTable
    private let total: Int
    private var done = 0
    private(set) var report = LoadReport()

    static let numberMax: Int64 = 1 << 47 - 1
    private static let progressEvery = 4096

    /// - Throws: 134030 if the numbers of a family's rows leave their range.
    init(
        _ source: RecordLogView, _ layout: PostgreSQLLayout, _ connection: PostgreSQLConnection, verifies: Bool,
        _ progress: @escaping (Int, Int) -> Void
    ) throws {
        (self.source, self.layout, self.connection, self.verifies, self.progress) = (source, layout, connection, verifies, progress)
        let known = Dictionary(source.schema.tables.compactMap(\.self).map { ($0.runtime.entity.name ?? "", $0) }) { first, _ in first }
        let tables = layout.families.indices.map { family in
            layout.entities.filter { $0.family == family }.compactMap { entity in
                known[entity.table.runtime.entity.name ?? ""].map { (table: $0, entity: entity) }
            }
        }
        self.tables = tables
        numbers = try SharedTableNumbers(tables.map { $0.map(\.table) }, source.snapshot)
        entities = EntityNumbersByTable(tables.joined().map(\.self))
        total = tables.joined().reduce(0) { $0 + source.snapshot.rowCount($1.table.id) }
        for (family, greatest) in zip(layout.families, numbers.maxima) where greatest >= Self.numberMax - NumberBlocks.size {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The table \(family.name) has no room for the numbers of all rows. Copy the objects into a new store "
                    + "first, which numbers them from 1.")
        }
    }

    /// Sends the rows of the tables that are not done.
    mutating func run(_ steps: LoadSteps) throws {
        for (family, table) in layout.families.enumerated() {
            if steps.isDone(table.name) {
                done += tables[family].reduce(0) { $0 + source.snapshot.rowCount($1.table.id) }
                progress(done, total)
            } else {
                try steps.run(table.name, table.quoted) { try copy(family) }
            }
            for (table, _) in tables[family] {
                let count = source.snapshot.rowCount(table.id)
                if count > 0 { report.entities.append((table.runtime.entity.name ?? "", count)) }
            }
            if numbers.areRenumbered[family] { report.renumbered.append(table.name) }
        }
        for (index, link) in layout.links.enumerated() {
            guard let (table, isForward) = join(index) else { continue }
            if !steps.isDone(link.name) { try steps.run(link.name, link.quoted) { try copy(link, table, isForward) } }
            report.pairs += source.snapshot.rowCount(table.id)
        }
    }

    /// Reads the rows of a table back and compares them with what was sent.
    /// - Throws: 134110 where they differ.
    private func verify(_ columns: String, _ sum: RowSum) throws {
        guard verifies else { return }
        var found = RowSum()
        try connection.copyOut("COPY \(columns) TO STDOUT (FORMAT binary)") { row in
            found.add(row.bytes)
            found.endRow()
        }
        guard found == sum else { throw Self.differs(columns) }
    }

    private static func differs(_ columns: String) -> NSError {
        CoreDataError.make(NSMigrationError, "The server has other rows of \(columns) than it got. Nothing was converted; report this.")
    }

    // MARK: Rows

    private mutating func copy(_ family: Int) throws {
        let table = layout.families[family], list = tables[family]
        guard !list.isEmpty else { return }
        let names = [FamilyTable.number, FamilyTable.entity, FamilyTable.version] + table.columns.map(\.quoted)
        let columns = "\(table.quoted) (\(names.joined(separator: ", ")))"
        let encoders = list.map { RowEncoder($0.table, $0.entity, table, source, numbers, entities) }
        var rows = MergedRows(list.map(\.table.id), source.snapshot, key: numbers.number)
        let (total, progress) = (total, progress)
        var done = done
        let sum = try send(columns) { writer, sum in
            while let row = try rows.next() {
                try encoders[row.table].add(row.row, Int64(row.key), to: &writer, &sum)
                done += 1
                if done % Self.progressEvery == 0 { progress(done, total) }
                if writer.isFull { try sum.send(&writer) }
            }
        }
        self.done = done
        try verify(columns, sum)
    }

    /// - Parameter body: adds the rows.
    private func send(_ columns: String, _ body: (inout PostgreSQLCopyWriter, inout RowSum) throws -> Void) throws -> RowSum {
        var sum = RowSum()
        let count = try connection.streamIn("COPY \(columns) FROM STDIN (FORMAT binary, FREEZE)") { writer in
            try body(&writer, &sum)
            try sum.send(&writer)
        }
        guard count == sum.count else { throw Self.differs(columns) }
        return sum
    }

    // MARK: Pairs

    /// The log's table of a relationship's pairs, and whether its sources are the sources here.
    private func join(_ index: Int) -> (table: JoinTable, isForward: Bool)? {
        for (table, entity) in tables.joined() {
            for (property, members) in entity.table.members.enumerated() {
                guard case .link(let drafted, isForward: true)? = members, layout.linkIndex(drafted) == index,
                    case .link(let stored, let isForward)? = table.members[property]
                else { continue }
                return (stored, isForward)
            }
        }
        return nil
    }

    private func copy(_ link: LinkTable, _ table: JoinTable, _ isForward: Bool) throws {
        let columns = "\(link.quoted) (\(link.columns.joined(separator: ", ")))", access = table.layout.access
        let ends = isForward ? (JoinTable.sourcePosition, JoinTable.destinationPosition) : (JoinTable.destinationPosition, JoinTable.sourcePosition)
        let orders = isForward ? (JoinTable.orderPosition, JoinTable.inverseOrderPosition) : (JoinTable.inverseOrderPosition, JoinTable.orderPosition)
        let source = source, numbers = numbers, entities = entities, count = link.columns.count
        let sum = try send(columns) { writer, sum in
            try source.snapshot.scan(table.id) { row in
                sum.beginRow(&writer, columns: count)
                for end in 0..<2 {
                    let reference = row.reference(access[end == 0 ? ends.0 : ends.1])
                    guard let entity = entities.number(reference) else { throw Self.unsound("a pair of \(link.name) leads to no entity") }
                    writer.rows.addInt64(numbers.number(reference))
                    writer.rows.addInt16(entity)
                }
                if link.isOrdered { writer.rows.addInt64(row.int64(access[orders.0])) }
                if link.isInverseOrdered { writer.rows.addInt64(row.int64(access[orders.1])) }
                sum.endRow(&writer)
                if writer.isFull { try sum.send(&writer) }
                return true
            }
        }
        try verify(columns, sum)
    }

    static func unsound(_ what: String) -> NSError {
        CoreDataError.make(NSMigrationError, "The record log is damaged: \(what). `heartwood verify` says more. Nothing was converted.")
    }

    /// Statements that count the numbers up to the greatest one of each table as given out.
    func givingOut() -> [PostgreSQLStatement] {
        zip(layout.families, numbers.maxima).filter { $1 > 0 }.map { family, greatest in
            PostgreSQLStatement("SELECT setval(\(SQLName.literal(family.sequence))::regclass, \(greatest + 1), false)", isPrepared: false)
        }
    }
}

/// What went into a new store.
package struct LoadReport {
    /// The entities with objects.
    package internal(set) var entities: [(name: String, count: Int)] = []
    package internal(set) var pairs = 0
    /// The tables whose rows got new numbers, since entities of one table had the same.
    package internal(set) var renumbered: [String] = []
    /// Transactions of the history, which are left out.
    package internal(set) var transactions = 0

    package var objects: Int { entities.reduce(0) { $0 + $1.count } }
}

/// The numbers of entities by the tables of a record log.
struct EntityNumbersByTable {
    private var numbers: [Int16] = []
    private var families: [Int] = []

    init(_ tables: [(table: EntityTable, entity: BoundEntity)]) {
        let count = tables.map { Int($0.table.id.rawValue) + 1 }.max() ?? 0
        numbers = Array(repeating: 0, count: count)
        families = Array(repeating: -1, count: count)
        for (table, entity) in tables {
            numbers[Int(table.id.rawValue)] = entity.number
            families[Int(table.id.rawValue)] = entity.family
        }
    }

    /// nil for a row of no entity.
    func number(_ reference: RowReference) -> Int16? {
        let table = Int(reference.table.rawValue)
        return table < numbers.count && families[table] >= 0 ? numbers[table] : nil
    }

    func family(_ reference: RowReference) -> Int? {
        let table = Int(reference.table.rawValue)
        return table < families.count && families[table] >= 0 ? families[table] : nil
    }
}
