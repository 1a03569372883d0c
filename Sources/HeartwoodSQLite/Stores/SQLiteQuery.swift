import Heartwood
import RecordLog

/// A query of an SQLite store, compiled to tests on rows of the record log's form.
///
/// (1) Conditions on own columns are tested on rows; any other one makes the whole query one on objects.
/// (2) A condition that names objects reads their rows by key. An equality of a column that begins an index of the file reads the rows that the
///     index names, and so does a short range. The first rows in the order of such a column are read in the index's order. Everything else scans
///     the entity's table.
/// (3) A row is copied only if it belongs to the result. A scan reads only the columns that the tests and the order need, until then.
struct SQLiteQuery {
    private struct Part {
        let table: EntityTable
        let test: RowFilter?
        let order: RowOrder?
        /// The rows to read; nil where the test names none.
        let rows: [RowReference]?
        let searches: [CoreDataSearch]
        /// The properties that test and order read; nil for all.
        let read: Set<Int>?
    }

    private let query: StoreQuery
    private let view: SQLiteView
    private let parts: [Part]

    /// - Returns: nil where rows do not suffice.
    init?(_ query: StoreQuery, _ view: SQLiteView) throws {
        self.query = query
        self.view = view
        var parts: [Part] = []
        for runtime in query.runtimes {
            guard let compiled = TableQuery(query, try view.schema.table(of: runtime, slotBase: view.slotBase), slotBase: view.slotBase) else { return nil }
            let test = compiled.test, rows = compiled.rows
            let searches = rows == nil ? CoreDataSearch.all(test, runtime) : []
            let read = test == nil && compiled.order == nil ? nil : PropertiesRead.of(query.predicate, query.sort, runtime)
            parts.append(Part(table: compiled.table, test: test, order: compiled.order, rows: rows, searches: searches, read: read))
        }
        self.parts = parts
    }

    // MARK: Running

    private func wrapped<Result>(_ body: (CoreDataReader) throws -> Result) throws -> Result {
        do {
            return try view.source.read(body)
        } catch let fault as PredicateFault {
            throw query.predicate.map { PredicateCheck.error(fault, $0) } ?? fault
        }
    }

    /// The rows in order, within limit and offset.
    func rows() throws -> ([UnsafeRowView], QueryStatistics) {
        try wrapped { reader in
            let run = SQLiteQueryRun(reader)
            let limit = query.end
            var found = query.limit == 0
                ? [] : query.sort.isEmpty ? try unsorted(run, maximum: limit ?? .max) : try inIndexOrder(run, limit) ?? sorted(run, limit)
            var statistics = run.statistics
            statistics.rowsMatched = found.count
            found.removeFirst(min(query.offset, found.count))
            return (found, statistics)
        }
    }

    func count() throws -> QueryStatistics {
        try wrapped { reader in
            let run = SQLiteQueryRun(reader)
            var matched = 0
            for part in parts {
                guard part.test != nil else {
                    matched += try reader.count(part.table.id)
                    continue
                }
                try forEach(part, run, givesWhole: false) { _ in
                    matched += 1
                    return true
                }
            }
            var statistics = run.statistics
            statistics.rowsMatched = matched
            return statistics
        }
    }

    /// Calls `body` with each matching row, whose bytes are valid until the next one, until it returns false.
    /// - Parameter givesWhole: whether the row has all columns, and not only those that test and order read.
    private func forEach(_ part: Part, _ run: SQLiteQueryRun, givesWhole: Bool, _ body: (UnsafeRowView) throws -> Bool) throws {
        var access = QueryStatistics.Access.rows, rows = part.rows
        if rows == nil, let found = try run.reader.rows(part.table, part.searches) {
            (access, rows) = (.index(found.index), found.rows)
        }
        run.note(part.table, rows == nil ? .scan : access)
        guard let rows else {
            return try run.reader.forEach(
                part.table.id, reading: part.read, givesWhole: givesWhole, where: { try run.holds(part.test, $0) }, body)
        }
        var goesOn = true
        for reference in rows where goesOn { try run.reader.find(reference) { goesOn = try run.holds(part.test, $0) ? body($0) : true } }
    }

    /// The first rows by one column, in the order of an index that begins with it.
    /// - Returns: nil where no index serves, or if too few of the rows that it leads to match: a scan is then faster.
    private func inIndexOrder(_ run: SQLiteQueryRun, _ limit: Int?) throws -> [UnsafeRowView]? {
        guard let limit, parts.count == 1, let part = parts.first, part.rows == nil, !part.searches.contains(where: \.isList),
            query.sort.count == 1, let key = query.sort.first, key.isAscending, key.path.count == 1,
            let property = part.table.runtime.index(of: key.path[0]),
            let range = part.searches.first(where: { $0.property == property }) ?? CoreDataSearch(inOrderOf: property, part.table.runtime)
        else { return nil }
        var left = Self.visitsMin + min(limit, 1 << 24) * Self.visitsForRow
        var found: [UnsafeRowView] = []
        let index = try run.reader.forEachReference(part.table, inOrderOf: range) { reference in
            guard left > 0 else { return false }
            left -= 1
            try run.reader.find(reference) { if try run.holds(part.test, $0) { found.append(view.keep($0)) } }
            return found.count < limit
        }
        guard let index, left > 0 || found.count >= limit else { return nil }
        run.note(part.table, .index(index), isOrdered: true)
        return found
    }

    private static let visitsMin = 256, visitsForRow = 8

    private func unsorted(_ run: SQLiteQueryRun, maximum: Int) throws -> [UnsafeRowView] {
        var found: [UnsafeRowView] = []
        for part in parts where found.count < maximum {
            try forEach(part, run, givesWhole: true) { row in
                found.append(view.keep(row))
                return found.count < maximum
            }
        }
        return found
    }

    private func sorted(_ run: SQLiteQueryRun, _ limit: Int?) throws -> [UnsafeRowView] {
        let isLocalized = parts.contains { $0.order?.isLocalized ?? false }
        return try isLocalized
            ? sort(LocalizedRowSorter(limit: limit), run, limit) : sort(RowSorter(limit: limit), run, limit)
    }

    /// With a limit few of the rows are wanted, so these are read again instead of all being kept.
    private func sort<Sorter: RowGathering>(
        _ sorter: consuming Sorter, _ run: SQLiteQueryRun, _ limit: Int?
    ) throws -> [UnsafeRowView] {
        for (index, part) in parts.enumerated() {
            guard let order = part.order else { continue }
            try forEach(part, run, givesWhole: limit == nil) { row in
                try sorter.append(limit == nil ? view.keep(row) : row, order, part: index, run.scope)
                return true
            }
        }
        let rows = sorter.sorted()
        guard let limit else { return rows }
        var found: [UnsafeRowView] = []
        for row in rows.prefix(limit) { try run.reader.find(row.reference) { found.append(view.keep($0)) } }
        return found
    }
}

/// One execution of a query in one state of the file.
private final class SQLiteQueryRun {
    let reader: CoreDataReader
    let scope = QueryScope(view: nil)
    private var parts: [QueryStatistics.Part] = []

    init(_ reader: CoreDataReader) { self.reader = reader }

    func holds(_ test: RowFilter?, _ row: UnsafeRowView) throws -> Bool {
        scope.rowsVisited &+= 1
        return try test?.matches(row, scope) ?? true
    }

    func note(_ table: EntityTable, _ access: QueryStatistics.Access, isOrdered: Bool = false) {
        parts.append(QueryStatistics.Part(entity: table.runtime.entity.name ?? "", access: access, rangeCount: 0, isOrdered: isOrdered))
    }

    var statistics: QueryStatistics {
        var statistics = QueryStatistics()
        statistics.parts = parts
        statistics.rowsVisited = scope.rowsVisited
        return statistics
    }
}
