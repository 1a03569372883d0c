import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// The parts of a query that the server does and those that are judged here, with the server's plan.
extension PostgreSQLQuery {
    func explanation(isCounted: Bool) throws -> [String] {
        guard !parts.isEmpty else { return ["the server is not asked: no row can match"] }
        let order = isCounted ? nil : order
        var parameters = parameters
        let statement = isCounted && isExact ? countStatement : statement(view.selection(parts.map(\.entity)), order, &parameters)
        var lines = ["asked: \(statement.text.replacing(" AND " + layout.isCurrent, with: "").replacing(" WHERE " + layout.isCurrent, with: ""))"]
        for part in parts where part.rest != nil {
            let entity = part.entity.table.runtime.entity.name ?? ""
            lines.append("judged on the rows that come back: \(entity), \(Self.names(of: part.rest, part.entity).joined(separator: ", "))")
        }
        if order == nil, !isCounted, !query.sort.isEmpty { lines.append("sorted here") }
        if !isExact, query.limit != nil || query.offset != 0 { lines.append("cut here") }
        return lines + (try plan(of: statement, parameters))
    }

    /// The properties that tests look at; of a test of another kind its name.
    private static func names(of test: RowFilter?, _ entity: BoundEntity) -> [String] {
        test?.conjuncts.map { test in
            guard let column = test as? ColumnFilter else { return String(describing: type(of: test)) }
            return entity.table.runtime.properties[column.property].name
        } ?? []
    }

    private func plan(of statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) throws -> [String] {
        let found = try view.read(PostgreSQLStatement("EXPLAIN " + statement.text, isPrepared: false), parameters)
        return try (0..<found.count).map { "plan: " + (try found.text($0, 0)) }
    }
}
