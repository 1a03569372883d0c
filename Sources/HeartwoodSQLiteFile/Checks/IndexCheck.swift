/// Compares the entries of an index with the rows of its table.
///
/// (1) Entries rise by key, and by rowid under equal keys. So no row has two entries of one key.
/// (2) Each entry has its row, with the same values. With (1) and equal counts each row has its entry.
/// (3) An index over expressions, or one that leaves rows out, is compared as far as its entries go. So is one whose order only SQLite knows.
struct IndexCheck {
    private let index: SQLiteIndex
    private let table: SQLiteTable
    private let report: (StructureFinding) -> Void
    /// By column of the index, the table's; nil for an expression.
    private let columns: [Int?]
    private var knowsOrder: Bool

    /// The findings of one index that are reported.
    private static let findingsMax = 20
    private var findings = 0

    init(_ index: SQLiteIndex, _ table: SQLiteTable, _ report: @escaping (StructureFinding) -> Void) {
        self.index = index
        self.table = table
        self.report = report
        columns = index.columns.map { $0.name.flatMap(table.index(ofColumn:)) }
        knowsOrder = index.columns.allSatisfy(\.isBinary)
    }

    /// - Parameter rows: the count of the table's rows.
    mutating func run(rows: Int) throws(SQLiteFileError) {
        var cursor = index.entries(), finder = try table.rows()
        var last: [SQLiteValue] = [], lastRowid: Int64 = 0, count = 0
        while try cursor.next() {
            if knowsOrder {
                if count > 0 { check(try cursor.compare(with: last), last, cursor.row.rowid, lastRowid) }
                last = try values(of: cursor.row)
                lastRowid = cursor.row.rowid
            }
            count += 1
            if try finder.find(cursor.row.rowid) {
                try compare(cursor.row, finder.row)
            } else {
                found("it has an entry for row \(cursor.row.rowid) of \(table.name), which does not exist")
            }
            guard findings < Self.findingsMax else { return }
        }
        guard !index.isPartial, count != rows else { return }
        found("it has \(count) entries, and \(table.name) has \(rows) rows")
    }

    private func values(of entry: borrowing SQLiteRow) throws(SQLiteFileError) -> [SQLiteValue] {
        var values: [SQLiteValue] = []
        for column in columns.indices { values.append(try entry.value(column)) }
        return values
    }

    private mutating func check(_ order: Int, _ last: [SQLiteValue], _ rowid: Int64, _ lastRowid: Int64) {
        if order < 0 || (order == 0 && rowid <= lastRowid) { return found("its entry for row \(rowid) comes after the one for row \(lastRowid)") }
        if order == 0, index.isUnique, !last.contains(.null) {
            found("rows \(lastRowid) and \(rowid) of \(table.name) have the same values, which are to be unique")
        }
    }

    private mutating func compare(_ entry: borrowing SQLiteRow, _ row: borrowing SQLiteRow) throws(SQLiteFileError) {
        for (position, column) in columns.enumerated() {
            guard let column, table.columns[column].isStored else { continue }
            guard !Self.isSame(try entry.value(position), try row.value(column)) else { continue }
            return found("its entry for row \(row.rowid) has another \(table.columns[column].name) than the row")
        }
    }

    private static func isSame(_ left: SQLiteValue, _ right: SQLiteValue) -> Bool {
        switch (left, right) {
        case (.integer(let whole), .real(let real)), (.real(let real), .integer(let whole)): SQLiteRow.order(whole, real) == 0
        default: left == right
        }
    }

    private mutating func found(_ message: String) {
        findings += 1
        report(StructureFinding(index.name, message))
        if findings == Self.findingsMax { report(StructureFinding(index.name, "it may have more faults, which were not looked for")) }
    }
}

extension SQLiteFile {
    /// Compares an index with its table. Both trees must be sound. Call it inside of `read`.
    /// - Parameter rows: the count of the table's rows.
    package func checkIndex(named name: String, rows: Int, _ report: @escaping (StructureFinding) -> Void) throws(SQLiteFileError) {
        let index = try index(named: name), table = try table(named: index.tableName)
        guard table.hasRowids else { return }
        var check = IndexCheck(index, table, report)
        try check.run(rows: rows)
    }
}
