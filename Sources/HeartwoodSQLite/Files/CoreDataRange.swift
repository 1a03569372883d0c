import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// A condition of a predicate that an index of SQLite's can answer: a column is between two values.
///
/// (1) The rows that it finds are tested by the whole predicate, so bounds are inclusive, and the range may have too many rows but never too few.
/// (2) Only types whose values are read as they are stored: shorter integers are cut when they are read, and texts have other orders.
struct CoreDataRange {
    let property: Int
    private var lower: SQLiteValue?
    private var upper: SQLiteValue?
    private var isNarrow = false

    /// All rows, those with null too.
    init(property: Int) { self.property = property }

    /// Whether values of this type are in an index in the order in which fetches sort them.
    static func hasOrderOfIndex(_ kind: PropertyKind) -> Bool {
        switch kind {
        case .int64, .double, .date: true
        default: false
        }
    }

    /// NULL comes before every number, and no comparison holds for it.
    fileprivate var lowerKey: [SQLiteValue] { isNarrow ? [lower ?? .real(-.infinity)] : [] }
    fileprivate var upperKey: [SQLiteValue] { upper.map { [$0] } ?? [] }

    /// The ranges of which each has all rows that the comparisons hold for, one for each property.
    static func all(_ comparisons: [RequiredComparison], _ runtime: EntityRuntime) -> [CoreDataRange] {
        var ranges: [CoreDataRange] = []
        for comparison in comparisons {
            let kind = runtime.properties[comparison.property].kind
            guard let order = comparison.comparison.order, order != .notEqual, hasOrderOfIndex(kind), let value = comparison.values.first,
                let bound = stored(value, kind)
            else { continue }
            let known = ranges.firstIndex { $0.property == comparison.property }
            var range = known.map { ranges[$0] } ?? CoreDataRange(property: comparison.property)
            range.narrow(order, bound, isCut: kind == .int64)
            if let known { ranges[known] = range } else { ranges.append(range) }
        }
        return ranges
    }

    /// A real in a column of integers is cut when it is read, so the next ones belong to the range too. Of two bounds on one side either is right.
    private mutating func narrow(_ order: ComparisonOperator, _ bound: SQLiteValue, isCut: Bool) {
        isNarrow = true
        if order != .less, order != .lessOrEqual { lower = isCut ? bound.moved(by: -1) : bound }
        if order != .greater, order != .greaterOrEqual { upper = isCut ? bound.moved(by: 1) : bound }
    }

    private static func stored(_ value: PredicateValue, _ kind: PropertyKind) -> SQLiteValue? {
        switch (kind, value) {
        case (.int64, .integer(let number)), (.double, .integer(let number)): .integer(number)
        case (.int64, .double(let number)), (.double, .double(let number)): number.isNaN ? nil : .real(number)
        case (.date, .date(let seconds)): seconds.isNaN ? nil : .real(seconds)
        default: nil
        }
    }
}

extension SQLiteValue {
    /// A number as far away, or the end of its type.
    fileprivate func moved(by step: Int64) -> SQLiteValue {
        switch self {
        case .integer(let number): .integer(step < 0 ? max(number, .min - step) + step : min(number, .max - step) + step)
        case .real(let number): .real(number + Double(step))
        default: self
        }
    }
}

extension CoreDataReader {
    /// Finds rows by an index of the file, if they are few.
    /// - Returns: the index's name, and the rows by key; nil where no index serves a range, or where a scan is faster.
    func rows(_ table: EntityTable, within ranges: [CoreDataRange]) throws -> (index: String, rows: [RowReference])? {
        // A row that is found by its key costs a page, a scan all of them.
        let countMax = 64 + file.pageCount / 8
        for range in ranges {
            guard let index = try index(table, range.property) else { continue }
            var keys: [Int64] = []
            try index.forEachEntry(from: range.lowerKey, through: range.upperKey) { entry in
                keys.append(entry.rowid)
                return keys.count <= countMax
            }
            guard keys.count <= countMax else { continue }
            return (index.name, Set(keys).sorted().compactMap { Self.reference($0, in: table) })
        }
        return nil
    }

    /// Calls `body` with each row of a range, in the order of the range's column, until it returns false.
    /// - Returns: the index's name; nil where no index serves.
    func forEachReference(
        _ table: EntityTable, inOrderOf range: CoreDataRange, _ body: (RowReference) throws -> Bool
    ) throws -> String? {
        guard let index = try index(table, range.property) else { return nil }
        try index.forEachEntry(from: range.lowerKey, through: range.upperKey) { entry in
            try Self.reference(entry.rowid, in: table).map(body) ?? true
        }
        return index.name
    }
}
