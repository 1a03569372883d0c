import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// A statement that serves all queries of one shape. Only the values of their arguments differ.
///
/// (1) The statement has the whole condition, order and window, so its rows are the answer.
/// (2) Its parameters are the values in the order of the comparisons, then limit and offset. It is kept only where `PostgreSQLQuery` has made the same
///     ones.
final class KeptStatement: ShapeEntry {
    let key: QueryArguments.Shape
    private let statement: PostgreSQLStatement
    /// nil for a statement that counts.
    private let selection: RowSelection?

    /// - Returns: nil where the parameters are others than the arguments.
    init?(_ arguments: QueryArguments, _ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters, _ selection: RowSelection?) {
        guard let own = try? Self.parameters(of: arguments), own.bytes == parameters.bytes, own.types == parameters.types else { return nil }
        (key, self.statement, self.selection) = (arguments.shape, statement, selection)
    }

    private static func parameters(of arguments: QueryArguments) throws(PostgreSQLError) -> PostgreSQLParameters {
        var parameters = PostgreSQLParameters()
        for value in arguments.values {
            switch value {
            case .bool(let flag): parameters.addBool(flag)
            case .integer(let number): parameters.addInt64(number)
            case .double(let number): parameters.addDouble(number)
            case .text(let text): try parameters.addText(text)
            case .uuid(let uuid): parameters.addUUID(uuid)
            case .row(let key):
                var rows = PostgreSQLArray(of: .int8)
                rows.addInt64(Int64(key.row))
                try parameters.add(rows)
            }
        }
        return parameters
    }

    /// The statement's parameters for a query.
    /// - Returns: nil for a text that the server cannot have.
    func parameters(_ query: StoreQuery, _ arguments: QueryArguments) -> PostgreSQLParameters? {
        guard var parameters = try? Self.parameters(of: arguments) else { return nil }
        if selection != nil { parameters.addWindow(query) }
        return parameters
    }

    func rows(_ query: StoreQuery, _ parameters: PostgreSQLParameters, _ view: PostgreSQLView) throws -> ([UnsafeRowView], QueryStatistics) {
        guard let selection else { preconditionFailure("a statement that counts has another shape") }
        return try view.rows(of: statement, selection, parameters, query)
    }

    func count(_ parameters: PostgreSQLParameters, _ view: PostgreSQLView) throws -> QueryStatistics {
        try view.count(of: statement, parameters)
    }
}

extension PostgreSQLParameters {
    /// Adds limit and offset, in the order of `PostgreSQLQuery.statement`.
    mutating func addWindow(_ query: StoreQuery) {
        if let limit = query.limit { addInt64(Int64(limit)) }
        if query.offset != 0 { addInt64(Int64(query.offset)) }
    }
}

extension PostgreSQLView {
    /// The rows of a statement that has a query's whole condition, order and window.
    func rows(
        of statement: PostgreSQLStatement, _ selection: RowSelection, _ parameters: PostgreSQLParameters, _ query: StoreQuery
    ) throws -> ([UnsafeRowView], QueryStatistics) {
        let result = try read(statement, parameters), found = try rows(result, selection)
        var statistics = QueryStatistics()
        statistics.rowsVisited = result.count
        statistics.rowsMatched = found.count + query.offset
        noteTogether(found)
        return (found, statistics)
    }

    func count(of statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) throws -> QueryStatistics {
        let result = try read(statement, parameters)
        var statistics = QueryStatistics()
        statistics.rowsMatched = Int(try result.int64(0, 0))
        return statistics
    }
}
