@testable import HeartwoodSQLiteFile

/// Reads everything of a database that may be damaged. Errors are the expected outcome.
enum DatabaseExercise {
    /// - Returns: the count of rows and entries that were read; 0 if the database cannot be opened.
    static func run(_ main: [UInt8], log: [UInt8]? = nil, journal: [UInt8]? = nil) -> Int {
        guard let file = try? SQLiteFile.open(MemoryFiles(path: "damaged", main: main, log: log, journal: journal)) else { return 0 }
        _ = try? file.isCheckpointed()
        // A schema page may name itself as many tables.
        return file.schema.entries.prefix(20).reduce(1) { $0 + run(file, $1) }
    }

    private static func run(_ file: SQLiteFile, _ entry: SQLiteSchema.Entry) -> Int {
        if let table = try? file.table(named: entry.name) { return run(table) }
        guard let index = try? file.index(named: entry.name) else { return 0 }
        return run(index)
    }

    private static func run(_ table: SQLiteTable) -> Int {
        var steps = 0
        _ = try? table.rowCount()
        try? table.forEachRow { row in
            for column in 0..<row.columnCount {
                _ = try? row.value(column)
                _ = try? row.string(column)
            }
            steps += 1
            return true
        }
        guard table.hasRowids, var cursor = try? table.rows() else { return steps }
        _ = try? cursor.last()
        for rowid in [Int64.min, 5, .max] where (try? cursor.find(rowid)) == false { _ = try? cursor.next() }
        return steps
    }

    private static func run(_ index: SQLiteIndex) -> Int {
        var steps = 0
        _ = try? index.entryCount()
        for key in [[], [SQLiteValue.integer(3)], [.text(Array("Ada".utf8))]] {
            try? index.forEachEntry(from: key, through: []) { _ in
                steps += 1
                return true
            }
        }
        return steps
    }
}
