import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Writes the rows of a store's tables to a new record log, as of one moment. It runs in a transaction of repeatable reads.
///
/// (1) Rows come in the order of their numbers, some 250,000 to a statement and a commit. Memory holds one at a time.
/// (2) Nothing is validated: what the tables have comes along, references to rows that are not there too.
/// (3) Rows that no program of Heartwood can have written are listed and left out.
final class TableDump {
    private let layout: PostgreSQLLayout
    private let connection: PostgreSQLConnection
    private let target: ConversionTarget
    private let acceptsUnreadable: Bool
    private let progress: (Int, Int) -> Void
    private var total = 0
    private var done = 0
    private(set) var report = DumpReport()
    private let builder = RowBuilder()

    private static let rowsMax = 1 << 18, progressEvery = 4096

    /// - Parameters:
    ///   - layout: over the tables of the new log.
    ///   - acceptsUnreadable: whether a value that cannot be read is listed and left out together with its row.
    init(
        _ layout: PostgreSQLLayout, _ connection: PostgreSQLConnection, _ target: ConversionTarget, acceptsUnreadable: Bool,
        _ progress: @escaping (Int, Int) -> Void
    ) {
        (self.layout, self.connection, self.target, self.acceptsUnreadable, self.progress) = (layout, connection, target, acceptsUnreadable, progress)
    }

    func run(total: Int) throws {
        self.total = total
        for index in layout.families.indices { try copy(index) }
        for (table, link) in joins { try copy(table, link) }
    }

    // MARK: Rows

    private func copy(_ index: Int) throws {
        let family = layout.families[index], entities = layout.entities.filter { $0.family == index }
        let selection = RowSelection(entities, layout, alias: "t", hasLargeData: true)
        let statement = PostgreSQLStatement(
            "SELECT \(selection.text) FROM \(family.quoted) t WHERE t.\(FamilyTable.number) > $1 ORDER BY t.\(FamilyTable.number) LIMIT \(Self.rowsMax)",
            isPrepared: false)
        var last = Int64.min, counts: [TableID: Int] = [:], isAtEnd = false
        while !isAtEnd {
            var parameters = PostgreSQLParameters(), found = 0
            parameters.addInt64(last)
            try target.write { transaction in
                try connection.stream(statement, parameters) { result in
                    found += 1
                    last = try result.int64(0, 0)
                    guard let row = try row(result, selection, family, transaction) else { return }
                    try transaction.put(row.reference, body: UnsafeRawBufferPointer(start: row.body, count: row.byteCount))
                    counts[row.reference.table, default: 0] += 1
                    done += 1
                    if done % Self.progressEvery == 0 { progress(done, max(total, done)) }
                }
            }
            AllocatorMemory.giveBack()
            isAtEnd = found < Self.rowsMax
        }
        for entity in entities {
            if let count = counts[entity.table.id] { report.entities.append((entity.table.runtime.entity.name ?? "", count)) }
        }
    }

    private func row(
        _ result: PostgreSQLResult, _ selection: RowSelection, _ family: FamilyTable, _ transaction: Transaction
    ) throws -> UnsafeRowView? {
        do {
            if let row = try selection.row(result, 0, with: builder, large: { try transaction.writeValue($0) }) {
                noteDoubts(row)
                return row
            }
            let number = try result.int64(0, 0), entity = try result.int16(0, 1)
            report.unnamed.add(
                "row \(number) of \(family.name): no entity with objects in this table has the number \(entity), or no object has such a number")
        } catch let error as PostgreSQLError where error.kind == .badAnswer {
            let text = "row \((try? result.int64(0, 0)) ?? 0) of \(family.name): \(error.message)"
            guard acceptsUnreadable else { throw CoreDataError.make(NSMigrationError, "Nothing was converted: \(text)") }
            report.unreadable.add(text)
        }
        return nil
    }

    private static let numbers: [PropertyKind] = [.float, .double, .date]

    /// Notes values that a save refuses.
    private func noteDoubts(_ row: UnsafeRowView) {
        guard let entity = layout.entity(row.reference.table), let accesses = try? entity.table.accesses(of: row) else { return }
        for field in entity.fields {
            let access = accesses[field.property]
            guard !access.isAbsent, !row.isNull(access) else {
                noteMissing(field, entity, row)
                continue
            }
            let isNone = field.kind == .decimal ? row.decimal(access).isNaN : Self.numbers.contains(field.kind) && row.double(access).isNaN
            if isNone { add(entity, row, field, "it is no number") }
        }
    }

    private func noteMissing(_ field: BoundEntity.Field, _ entity: BoundEntity, _ row: UnsafeRowView) {
        let property = entity.table.runtime.entity.propertiesByIndex[field.property]
        if !property.isOptional { add(entity, row, field, "it has no value, and needs one") }
    }

    private func add(_ entity: BoundEntity, _ row: UnsafeRowView, _ field: BoundEntity.Field, _ what: String) {
        report.unfit.add(
            "entity \(entity.table.runtime.entity.name ?? "?"), object p\(row.reference.row), property "
                + "\(entity.table.runtime.properties[field.property].name): \(what)")
    }

    // MARK: Pairs

    private var joins: [(table: JoinTable, link: LinkTable)] {
        var known: Set<TableID> = []
        return layout.entities.flatMap { $0.table.members }.compactMap { members in
            guard case .link(let table, isForward: true)? = members, known.insert(table.id).inserted else { return nil }
            return (table, layout.link(table))
        }
    }

    private func copy(_ table: JoinTable, _ link: LinkTable) throws {
        let writer = PairWriter(table), ends = "\(LinkTable.source), \(LinkTable.destination)"
        let statement = PostgreSQLStatement(
            "SELECT \(link.columns.joined(separator: ", ")) FROM \(link.quoted) WHERE (\(ends)) > ($1, $2) ORDER BY \(ends) LIMIT \(Self.rowsMax)",
            isPrepared: false)
        var last = (Int64.min, Int64.min), isAtEnd = false
        while !isAtEnd {
            var parameters = PostgreSQLParameters(), found = 0
            parameters.addInt64(last.0)
            parameters.addInt64(last.1)
            try target.write { transaction in
                try connection.stream(statement, parameters) { pair in
                    found += 1
                    last = (try pair.int64(0, 0), try pair.int64(0, 2))
                    try write(pair, link, writer, transaction)
                }
            }
            isAtEnd = found < Self.rowsMax
        }
    }

    private func write(_ pair: PostgreSQLResult, _ link: LinkTable, _ writer: PairWriter, _ transaction: Transaction) throws {
        let numbers = (try pair.int64(0, 0), try pair.int64(0, 2)), entities = (try pair.int16(0, 1), try pair.int16(0, 3))
        guard let owner = layout.key(numbers.0, entities.0), let member = layout.key(numbers.1, entities.1) else {
            return report.unnamed.add("the pair \(numbers.0), \(numbers.1) of \(link.name): it names an entity that is not there")
        }
        let order = link.isOrdered ? try pair.int64(0, 4) : 0
        let inverse = link.isInverseOrdered ? try pair.int64(0, link.isOrdered ? 5 : 4) : 0
        _ = try writer.write(layout.reference(owner), layout.reference(member), order: order, inverseOrder: inverse, transaction)
        report.pairs += 1
    }
}

/// What came out of a store's tables.
package struct DumpReport {
    /// The entities with objects.
    package internal(set) var entities: [(name: String, count: Int)] = []
    package internal(set) var pairs = 0
    /// Rows of no entity, which are left out.
    package internal(set) var unnamed = StoreFindings()
    /// Rows with values that cannot be read.
    package internal(set) var unreadable = StoreFindings()
    /// Values that a save would refuse.
    package internal(set) var unfit = StoreFindings()
    /// Statements of the check of the new record log: about values that the tables have too.
    package internal(set) var doubts = StoreFindings()
    /// Tables, keys, indexes and references that the schema lacks.
    package internal(set) var schema = StoreFindings()
    /// Transactions of the history, which are left out.
    package internal(set) var transactions = 0

    package var isSound: Bool { [schema, unreadable, unnamed, unfit, doubts].allSatisfy { $0.count == 0 } }
    package var objects: Int { entities.reduce(0) { $0 + $1.count } }
}
