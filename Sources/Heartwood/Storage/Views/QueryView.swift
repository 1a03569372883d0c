import Foundation
import RecordLog

/// Queries on the rows of one state of a store. The default knows none: the stack then asks the objects.
package protocol QueryView: AnyObject {
    /// Calls `body` with each row that matches a query, in its order, until it returns false.
    /// - Returns: nil where the store cannot evaluate the query on rows; `body` was not called then.
    func execute(_ query: StoreQuery, _ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics?

    /// Compiles a query for later execution; nil where `execute` returns nil.
    func compiled(_ query: StoreQuery) throws -> CompiledQuery?

    /// Counts the rows that match a query, without its limit and offset; nil where `execute` returns nil.
    func counted(_ query: StoreQuery) throws -> QueryStatistics?

    /// Describes what a server is asked for a query, what is judged here, and the server's plan, a line each; empty for a store without a server.
    /// - Parameter isCounted: whether the rows are only counted.
    func explanation(of query: StoreQuery, isCounted: Bool) throws -> [String]

    /// Computes the values of dictionaries, or of groups, from the rows that match a query.
    /// - Returns: nil where the store cannot compute them from rows; the sink has received nothing then.
    func tabulate(_ query: StoreQuery, _ shape: ResultShape, into sink: ResultSink) throws -> QueryStatistics?

    /// Returns what reads typed values from rows of these entities that this view gives; nil where rows do not suffice.
    func valueReader(_ table: ValueTable, _ runtimes: [EntityRuntime]) throws -> ValueBatchReader?

    /// Calls `body` with each row that matches a query, in its order, and a function that reads one of the key paths of that row, by its index.
    /// - Returns: nil where the store cannot read them from rows; `body` was not called then.
    func read(
        _ paths: [[String]], of query: StoreQuery, _ body: (UnsafeRowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics?
}

extension QueryView {
    package func execute(_ query: StoreQuery, _ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics? {
        try compiled(query)?(body)
    }

    package func compiled(_ query: StoreQuery) throws -> CompiledQuery? { nil }

    package func counted(_ query: StoreQuery) throws -> QueryStatistics? { nil }

    package func explanation(of query: StoreQuery, isCounted: Bool) throws -> [String] { [] }

    package func tabulate(_ query: StoreQuery, _ shape: ResultShape, into sink: ResultSink) throws -> QueryStatistics? { nil }

    package func read(
        _ paths: [[String]], of query: StoreQuery, _ body: (UnsafeRowView, (Int) throws -> PredicateValue) throws -> Void
    ) throws -> QueryStatistics? { nil }

    package func valueReader(_ table: ValueTable, _ runtimes: [EntityRuntime]) throws -> ValueBatchReader? { nil }
}
