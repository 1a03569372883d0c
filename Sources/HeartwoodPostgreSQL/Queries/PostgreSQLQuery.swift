import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// A query of a store: a statement, and tests on the rows that come back.
///
/// (1) An AND is split. The statement has the parts that SQL says exactly; the others are judged on the rows (`rest`).
/// (2) The statement has limit and offset only where it has the whole condition and the order.
/// (3) The order is the statement's where SQL has an equal one; else the rows are sorted here.
struct PostgreSQLQuery {
    struct Part {
        let entity: BoundEntity
        /// The tests that the statement has.
        let tests: [RowFilter]
        /// Their condition, whose parameters begin at 1.
        let condition: Condition
        /// The test that is judged on rows; nil where the statement has all.
        let rest: RowFilter?
        let order: RowOrder?
    }

    typealias Condition = (text: String, parameters: PostgreSQLParameters)

    private static let alias = "t"
    let query: StoreQuery
    let view: PostgreSQLView
    let layout: PostgreSQLLayout
    private let related: RelatedRows
    private(set) var parts: [Part] = []
    private(set) var parameters = PostgreSQLParameters()
    /// The tests of the statement, with an AND behind them; empty for none.
    private var condition = ""

    /// - Returns: nil where rows do not suffice.
    init?(_ query: StoreQuery, _ view: PostgreSQLView) throws {
        guard query.isOnRows else { return nil }
        (self.query, self.view, layout) = (query, view, view.layout)
        related = RelatedRows(view, layout.schema, slotBase: layout.slotBase)
        for runtime in query.runtimes {
            let table = try layout.schema.table(of: runtime, slotBase: layout.slotBase)
            guard let compiled = TableQuery(query, table, slotBase: layout.slotBase, related: related) else { return nil }
            let entity = layout.entity(of: table)
            if let test = compiled.test as? ConstantFilter, !test.value { continue }
            parts.append(split(compiled, entity))
        }
        writeCondition()
    }

    // MARK: The statement

    private func split(_ compiled: TableQuery, _ entity: BoundEntity) -> Part {
        var said: [RowFilter] = [], texts: [String] = [], rest: [RowFilter] = []
        var writer = SQLCondition(layout)
        for test in compiled.test?.conjuncts ?? [] {
            guard let text = writer.sql(test, entity, Self.alias) else {
                rest.append(test)
                continue
            }
            said.append(test)
            texts.append(text)
        }
        let condition = (texts.joined(separator: " AND "), writer.parameters)
        return Part(entity: entity, tests: said, condition: condition, rest: AllFilter.of(rest), order: compiled.order)
    }

    /// The condition of a part whose parameters follow others.
    private func condition(of part: Part, behind parameters: PostgreSQLParameters) -> Condition {
        var writer = SQLCondition(layout, behind: parameters)
        let texts = part.tests.compactMap { writer.sql($0, part.entity, Self.alias) }
        return (texts.joined(separator: " AND "), writer.parameters)
    }

    /// Entities with one condition share it.
    private mutating func writeCondition() {
        guard let first = parts.first else { return }
        let shared = first.condition
        let isShared = parts.dropFirst().allSatisfy { part in
            part.condition.text == shared.text && part.condition.parameters.bytes == shared.parameters.bytes
        }
        guard isShared else {
            var texts: [String] = []
            for part in parts {
                let own = condition(of: part, behind: parameters)
                parameters = own.parameters
                let entity = "\(Self.alias).\(FamilyTable.entity) = \(part.entity.number)"
                texts.append(own.text.isEmpty ? entity : "(\(entity) AND \(own.text))")
            }
            condition = "(" + texts.joined(separator: " OR ") + ") AND "
            return
        }
        parameters = shared.parameters
        var texts = shared.text.isEmpty ? [] : [shared.text]
        if parts.count < layout.entityCounts[first.entity.family] {
            texts.insert("\(Self.alias)." + FamilyTable.isOne(of: parts.map(\.entity.number)), at: 0)
        }
        condition = texts.map { $0 + " AND " }.joined()
    }

    private var filter: String { " WHERE " + condition + layout.isCurrent }

    /// Whether the statement has the whole condition.
    var isExact: Bool { parts.allSatisfy { $0.rest == nil } }

    var order: SQLOrder? { SQLOrder(query.sort, parts.map(\.entity), layout, Self.alias) }

    func statement(_ selection: RowSelection, _ order: SQLOrder?, _ parameters: inout PostgreSQLParameters) -> PostgreSQLStatement {
        let table = layout.families[parts[0].entity.family].quoted
        var text = "SELECT \(selection.text) FROM \(table) \(Self.alias)\(order?.joins ?? "")\(filter)"
        guard let order else { return PostgreSQLStatement(text) }
        text += " ORDER BY " + order.text
        guard isExact else { return PostgreSQLStatement(text) }
        if query.limit != nil { text += " LIMIT $\(parameters.count + 1)" }
        if query.offset != 0 { text += " OFFSET $\(parameters.count + (query.limit == nil ? 1 : 2))" }
        parameters.addWindow(query)
        return PostgreSQLStatement(text)
    }

    // MARK: Running

    /// The rows in order, within limit and offset.
    /// - Parameter arguments: where they are known, the statement is kept for others.
    func rows(_ arguments: QueryArguments? = nil) throws -> ([UnsafeRowView], QueryStatistics) {
        var statistics = QueryStatistics()
        guard !parts.isEmpty, query.limit != 0 else { return ([], statistics) }
        let selection = view.selection(parts.map(\.entity)), order = order
        var windowed = parameters
        let statement = statement(selection, order, &windowed)
        if isExact, order != nil {
            view.keep(arguments.flatMap { KeptStatement($0, statement, parameters, selection) })
            return try view.rows(of: statement, selection, windowed, query)
        }
        let result = try view.read(statement, windowed)
        statistics.rowsVisited = result.count
        var found: [UnsafeRowView]
        do {
            found = try order == nil ? sorted(result, selection) : tested(result, selection, upTo: query.end)
        } catch let fault as PredicateFault {
            throw query.predicate.map { PredicateCheck.error(fault, $0) } ?? fault
        }
        if let end = query.end { found.removeLast(max(0, found.count - end)) }
        statistics.rowsMatched = found.count
        found.removeFirst(min(query.offset, found.count))
        view.noteTogether(found)
        return (found, statistics)
    }

    /// The statement that counts, where the statement has the whole condition.
    var countStatement: PostgreSQLStatement {
        PostgreSQLStatement("SELECT count(*) FROM \(layout.families[parts[0].entity.family].quoted) \(Self.alias)\(filter)")
    }

    /// - Parameter arguments: where they are known, the statement is kept for others.
    func count(_ arguments: QueryArguments? = nil) throws -> QueryStatistics {
        guard isExact else { return try rows().1 }
        guard !parts.isEmpty else { return QueryStatistics() }
        let statement = countStatement
        view.keep(arguments.flatMap { KeptStatement($0, statement, parameters, nil) })
        return try view.count(of: statement, parameters)
    }

    /// Calls `body` with each row that passes the rest of the condition until it returns false.
    private func forEach(
        _ result: PostgreSQLResult, _ selection: RowSelection, _ body: (UnsafeRowView, Int, QueryScope) throws -> Bool
    ) throws {
        let scope = QueryScope(related: related)
        var table: TableID?, known: Int?
        // The tests may read other rows, which are built meanwhile, so each row is copied first.
        for line in 0..<result.count {
            guard let row = try view.row(result, line, selection) else { continue }
            // Rows of one entity mostly follow each other.
            if row.reference.table != table {
                table = row.reference.table
                known = parts.firstIndex { $0.entity.table.id == table }
            }
            guard let place = known else { continue }
            guard try parts[place].rest?.matches(row, scope) ?? true else { continue }
            guard try body(row, place, scope) else { return }
        }
    }

    private func tested(_ result: PostgreSQLResult, _ selection: RowSelection, upTo end: Int?) throws -> [UnsafeRowView] {
        var found: [UnsafeRowView] = []
        if end == nil { found.reserveCapacity(result.count) }
        try forEach(result, selection) { row, _, _ in
            found.append(row)
            return found.count != end
        }
        return found
    }

    private func sorted(_ result: PostgreSQLResult, _ selection: RowSelection) throws -> [UnsafeRowView] {
        let isLocalized = parts.contains { $0.order?.isLocalized ?? false }
        return try isLocalized
            ? sorted(LocalizedRowSorter(limit: query.end), result, selection) : sorted(RowSorter(limit: query.end), result, selection)
    }

    private func sorted<Sorter: RowGathering>(
        _ sorter: consuming Sorter, _ result: PostgreSQLResult, _ selection: RowSelection
    ) throws -> [UnsafeRowView] {
        try forEach(result, selection) { row, part, scope in
            if let order = parts[part].order { try sorter.append(row, order, part: part, scope) }
            return true
        }
        return sorter.sorted()
    }
}

extension RowFilter {
    /// The tests that must all hold.
    var conjuncts: [RowFilter] { (self as? AllFilter)?.tests.flatMap(\.conjuncts) ?? [self] }
}
