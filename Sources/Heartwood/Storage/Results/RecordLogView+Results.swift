import Foundation
import RecordLog

extension RecordLogView {
    /// Computes the results of a fetch from row bytes.
    /// - Returns: nil where an expression cannot be computed from rows; the sink has received nothing then.
    package func tabulate(_ query: StoreQuery, _ shape: ResultShape, into sink: ResultSink) throws -> QueryStatistics? {
        guard let parts = parts(of: shape, query) else { return nil }
        let scope = QueryScope(view: self)
        do {
            if let grouped = shape.groups { return try gather(query, shape, grouped, parts, scope, into: sink) }
            let statistics = try execute(query) { row in
                let part = parts[Int(row.reference.table.rawValue)]
                let order = try part?.order.map { try $0.value(row, scope) } ?? []
                return try sink.take(try part?.values.map { try $0.value(row, scope) } ?? [], order: order)
            }
            if statistics != nil { try sink.finish() }
            return statistics
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        } catch let fault as PredicateFault {
            throw CoreDataError.unsupported("The fetch's expressions cannot be evaluated: \(fault.reason)")
        }
    }

    /// Returns the parts by table ID; nil where an expression cannot be computed from rows.
    private func parts(of shape: ResultShape, _ query: StoreQuery) -> [ResultPart?]? {
        var parts: [ResultPart?] = []
        let isUniform = query.runtimes.count < 2 || (shape.groups?.keys ?? []).allSatisfy { key in self.isUniform(key, query.runtimes) }
        for runtime in query.runtimes {
            guard let table = schema.tables.lazy.compactMap({ $0 }).first(where: { $0.runtime === runtime }),
                let part = ResultPart(shape, table: table, view: self, isByValue: !isUniform)
            else { return nil }
            let id = Int(table.id.rawValue)
            while parts.count <= id { parts.append(nil) }
            parts[id] = part
        }
        return parts
    }

    /// Whether a key is the same inherited column in all entities.
    private func isUniform(_ key: ExpressionNode, _ runtimes: [EntityRuntime]) -> Bool {
        guard case .keyPath(let keys) = key, let name = keys.first, let index = runtimes[0].index(of: name) else { return false }
        let property = runtimes[0].entity.propertiesByIndex[index]
        return runtimes.allSatisfy { runtime in runtime.index(of: name).map { runtime.entity.propertiesByIndex[$0] === property } ?? false }
    }

    private func gather(
        _ query: StoreQuery, _ shape: ResultShape, _ grouped: GroupedExpressions, _ parts: [ResultPart?], _ scope: QueryScope,
        into sink: ResultSink
    ) throws -> QueryStatistics? {
        let groups = ResultGroups(shape, grouped)
        /// The first row of each group; its values are the group's keys.
        var first: [UnsafeRowView] = []
        let key = KeyBuilder()
        let statistics = try execute(query) { row in
            if try parts[Int(row.reference.table.rawValue)]?.gather(row, key, groups, scope) ?? false { first.append(row) }
            return true
        }
        guard statistics != nil else { return nil }
        try groups.finish(into: sink) { group, index in
            let row = first[group]
            return try parts[Int(row.reference.table.rawValue)]?.values[index].value(row, scope) ?? .null
        }
        return statistics
    }
}
