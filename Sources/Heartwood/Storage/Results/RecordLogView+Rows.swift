import Foundation
import RecordLog

extension RecordLogView {
    /// Calls `body` with each row of a query, in the query's order, and a function that reads one of the key paths of that row, by its index.
    /// - Returns: nil where a path cannot be read from rows; `body` was not called then.
    package func read(
        _ paths: [[String]], of query: StoreQuery, _ body: (UnsafeRowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics? {
        var columns: [[any RowExpression]] = []
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
        return try execute(query) { row in
            try body(row) { try columns[Int(row.reference.table.rawValue)][$0].value(row, scope) }
            return true
        }
    }
}
