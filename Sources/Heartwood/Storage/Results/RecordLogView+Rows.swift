import Foundation
import RecordLog

extension RecordLogView {
    /// Calls `body` with each row that a query asks for, in its order, and a function that reads one of some key paths of it.
    /// - Returns: nil where something cannot be read from rows; nothing was called then.
    func readRows(
        _ paths: [[String]], of query: StoreQuery, _ body: (RowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics? {
        var columns: [[RowExpression]] = []
        for runtime in query.runtimes {
            let table = try schema.table(of: runtime, slotBase: slotBase)
            let compiler = PredicateCompiler(table: table, view: self)
            let compiled = paths.compactMap { compiler.result(.keyPath($0)) }
            guard compiled.count == paths.count else { return nil }
            let id = Int(table.id.rawValue)
            while columns.count <= id { columns.append([]) }
            columns[id] = compiled
        }
        let scope = QueryScope(view: self)
        return try answer(query) { row in
            try body(row) { try columns[Int(row.reference.table.rawValue)][$0].value(row, scope) }
            return true
        }
    }
}
