import Foundation
import Testing

@testable import HeartwoodSQLiteBuilder

/// Partial indexes: SQLite checks that their entries are those of the rows for which the condition is true.
@Suite struct PartialIndexTests {
    /// Each condition as SQL has it. The columns are `n`, a number, and `t`, a text.
    private static let conditions: [(sql: String, condition: SQLiteRowCondition)] = [
        ("n = 1", .comparison(column: 1, .equal, SQLiteConstant(integer: 1))),
        ("n <> 0", .comparison(column: 1, .notEqual, SQLiteConstant(integer: 0))),
        ("n < 2.5", .comparison(column: 1, .less, SQLiteConstant(real: 2.5))),
        ("n >= -1", .comparison(column: 1, .greaterOrEqual, SQLiteConstant(integer: -1))),
        ("n > 9007199254740992", .comparison(column: 1, .greater, SQLiteConstant(integer: 9_007_199_254_740_992))),
        ("t <= 'b''c'", .comparison(column: 2, .lessOrEqual, SQLiteConstant(text: "b'c"))),
        ("t = ''", .comparison(column: 2, .equal, SQLiteConstant(text: ""))),
        ("n IS NULL", .isNull(column: 1)),
        ("t IS NOT NULL", .not(.isNull(column: 2))),
        ("NOT (n = 1)", .not(.comparison(column: 1, .equal, SQLiteConstant(integer: 1)))),
        ("(n = 1 OR t = 'a')", .or([.comparison(column: 1, .equal, SQLiteConstant(integer: 1)), .comparison(column: 2, .equal, SQLiteConstant(text: "a"))])),
        ("NOT ((n = 1 AND t = 'a'))", .not(.and([
            .comparison(column: 1, .equal, SQLiteConstant(integer: 1)), .comparison(column: 2, .equal, SQLiteConstant(text: "a")),
        ]))),
        ("NOT ((n <> 1 OR t > 'a'))", .not(.or([
            .comparison(column: 1, .notEqual, SQLiteConstant(integer: 1)), .comparison(column: 2, .greater, SQLiteConstant(text: "a")),
        ]))),
    ]

    @Test
    func `A partial index has the rows for which its condition is true, also where values are NULL`() throws {
        let numbers: [Value] = [.null, .integer(0), .integer(1), .integer(-7), .real(2.5), .real(1e300), .integer(9_007_199_254_740_993)]
        let texts: [Value] = [.null, .text(""), .text("a"), .text("b'c"), .text("é")]
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            let table = try file.table(
                named: "t", statement: "CREATE TABLE t(k INTEGER PRIMARY KEY, n NUMERIC, t VARCHAR)", columns: 3, rowidColumn: 0)
            for (number, (sql, condition)) in Self.conditions.enumerated() {
                try file.index(
                    named: "i\(number)", statement: "CREATE INDEX i\(number) ON t(t, n) WHERE \(sql)", on: table,
                    columns: [SQLiteIndexColumn(2), SQLiteIndexColumn(1)], isUnique: false, where: condition)
            }
            var rowid: Int64 = 0
            for number in numbers {
                for text in texts {
                    rowid += 1
                    try table.append(rowid, [.null, number, text])
                }
            }
            try file.finish()
            // SQLite counts an index's entries and looks up each row that its condition holds for.
            #expect(try BuiltFile.complaints(path) == "ok")
            let counts = try Self.conditions.indices.map { try BuiltFile.rowids(path, "i\($0)").count }
            #expect(counts.allSatisfy { $0 > 0 && $0 < 35 } && counts[0] == 5 && counts[1] == 25 && counts[7] == 5 && counts[8] == 28, "\(counts)")
        }
    }
}
