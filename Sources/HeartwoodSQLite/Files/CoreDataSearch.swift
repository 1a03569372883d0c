import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Conditions on a column that an index of SQLite's can answer: equality with one of some values, or a range.
///
/// The rows that it finds are tested by the whole predicate, so ends are inclusive, and it may find too many rows, but never too few.
struct CoreDataSearch {
    let property: Int
    private let form: SQLiteIndexForm
    private var conditions: [IndexCondition] = []

    /// All rows in the order of a column, those with null too.
    /// - Returns: nil where an index has another order than fetches.
    init?(inOrderOf property: Int, _ runtime: EntityRuntime) {
        guard let form = runtime.properties[property].kind.sqlite.index, form.isOrdered else { return nil }
        (self.property, self.form) = (property, form)
    }

    private init?(_ condition: IndexCondition, _ runtime: EntityRuntime) {
        guard let property = condition.property, let form = runtime.properties[property].kind.sqlite.index else { return nil }
        (self.property, self.form, conditions) = (property, form, [condition])
    }

    /// Whether the column is equal to one of some values.
    var isList: Bool { conditions.first?.components != nil }

    /// The searches of which each finds all rows that pass a test: by values, or where none is, by ranges, one for each property.
    static func all(_ test: RowFilter?, _ runtime: EntityRuntime) -> [CoreDataSearch] {
        let conditions = test?.indexConditions ?? []
        let lists = conditions.filter { $0.components != nil }
        guard lists.isEmpty else { return lists.compactMap { CoreDataSearch($0, runtime) } }
        var ranges: [CoreDataSearch] = []
        for condition in conditions {
            guard case .range = condition.kind, let search = CoreDataSearch(condition, runtime), search.form.isOrdered else { continue }
            if let known = ranges.firstIndex(where: { $0.property == search.property }) {
                ranges[known].conditions.append(condition)
            } else {
                ranges.append(search)
            }
        }
        return ranges
    }

    /// The keys of an index between which all rows are that the search finds, in SQLite's order.
    /// - Returns: nil if one of the values has no key in an index.
    func ranges(_ encoding: DatabaseHeader.TextEncoding) -> [SQLiteKeyRange]? {
        if isList {
            var ranges = form.changedWhenRead
            for component in conditions.first?.components ?? [] {
                guard let found = form.entries(component, encoding) else { return nil }
                ranges.append(SQLiteKeyRange(lower: [found.least], upper: [found.greatest]))
            }
            return ranges
        }
        guard !conditions.isEmpty else { return [SQLiteKeyRange()] }
        // Components sort as their values do.
        var lower: [UInt8]?, upper: [UInt8]?
        for condition in conditions {
            guard case .range(let least, _, let greatest, _) = condition.kind else { continue }
            if let least, lower.map({ $0.lexicographicallyPrecedes(least) }) ?? true { lower = least }
            if let greatest, upper.map({ greatest.lexicographicallyPrecedes($0) }) ?? true { upper = greatest }
        }
        // NULL comes before every number, and no comparison holds for it.
        let first = lower.flatMap { form.entries($0, encoding)?.least } ?? .real(-.infinity)
        return [SQLiteKeyRange(lower: [first], upper: upper.flatMap { form.entries($0, encoding) }.map { [$0.greatest] } ?? [])]
    }
}

extension CoreDataReader {
    /// Finds rows by an index of the file; by a range only if they are few.
    /// - Returns: the index's name, and the rows by key; nil where no index serves one of the searches, or where a scan is faster.
    func rows(_ table: EntityTable, _ searches: [CoreDataSearch]) throws -> (index: String, rows: [RowReference])? {
        for search in searches {
            guard let index = try index(table, search.property), let ranges = search.ranges(file.header.encoding) else { continue }
            // A row that is found by its key costs a page, a scan all of them.
            let countMax = search.isList ? Int.max : 64 + file.pageCount / 8
            var keys: Set<Int64> = []
            for range in ranges where keys.count <= countMax {
                try index.forEachEntry(from: range.lower, through: range.upper) { entry in
                    keys.insert(entry.rowid)
                    return keys.count <= countMax
                }
            }
            guard keys.count <= countMax else { continue }
            return (index.name, keys.sorted().compactMap { Self.reference($0, in: table) })
        }
        return nil
    }

    /// Calls `body` with each row of a range, in the order of the range's column, until it returns false.
    /// - Returns: the index's name; nil where no index serves.
    func forEachReference(
        _ table: EntityTable, inOrderOf search: CoreDataSearch, _ body: (RowReference) throws -> Bool
    ) throws -> String? {
        guard let index = try index(table, search.property), let range = search.ranges(file.header.encoding)?.first else { return nil }
        try index.forEachEntry(from: range.lower, through: range.upper) { entry in
            try Self.reference(entry.rowid, in: table).map(body) ?? true
        }
        return index.name
    }

    /// The row that an index entry leads to; nil for a key that no object can have.
    private static func reference(_ rowid: Int64, in table: EntityTable) -> RowReference? {
        rowid > 0 && rowid <= CoreDataRows.keyMax ? RowReference(table: table.id, row: UInt64(rowid)) : nil
    }

    /// An index of the file that begins with the column of a property.
    private func index(_ table: EntityTable, _ property: Int) throws -> SQLiteIndex? {
        guard let entity = layout.entity(table.runtime.entity) else { return nil }
        let column: String
        switch entity.places[property] {
        case .column(let name)?, .toOne(let name, _)?: column = name
        case .inverse?, .join?, nil: return nil
        }
        return try index(beginningWith: column, of: entity.table)
    }
}
