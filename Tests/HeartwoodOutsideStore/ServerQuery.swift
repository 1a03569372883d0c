import Heartwood
import RecordLog

/// A query of a database, compiled to tests on rows.
struct ServerQuery {
    private let query: StoreQuery
    private let view: ServerView
    private let parts: [TableQuery]
    private let related: RelatedRows

    /// - Returns: nil where rows do not suffice.
    init?(_ query: StoreQuery, _ view: ServerView) throws {
        guard query.isOnRows else { return nil }
        (self.query, self.view) = (query, view)
        let binding = view.binding
        related = RelatedRows(view, binding.schema, slotBase: binding.slotBase)
        var parts: [TableQuery] = []
        for runtime in query.runtimes {
            let table = try binding.schema.table(of: runtime, slotBase: binding.slotBase)
            guard let part = TableQuery(query, table, slotBase: binding.slotBase, related: related) else { return nil }
            parts.append(part)
        }
        self.parts = parts
    }

    /// The rows in order, within limit and offset.
    func rows() throws -> ([UnsafeRowView], QueryStatistics) {
        let limit = query.end
        var statistics = QueryStatistics(), found: [UnsafeRowView] = []
        do {
            if limit != 0 {
                let isLocalized = parts.contains { $0.order?.isLocalized ?? false }
                found = query.sort.isEmpty
                    ? try unsorted(limit ?? .max, &statistics)
                    : isLocalized ? try sorted(LocalizedRowSorter(limit: limit), &statistics) : try sorted(RowSorter(limit: limit), &statistics)
            }
        } catch let fault as PredicateFault {
            throw query.predicate.map { PredicateCheck.error(fault, $0) } ?? fault
        }
        if let limit { found.removeLast(max(0, found.count - limit)) }
        statistics.rowsMatched = found.count
        found.removeFirst(min(query.offset, found.count))
        return (found, statistics)
    }

    /// Calls `body` with each matching row until it returns false.
    private func forEach(_ part: TableQuery, _ statistics: inout QueryStatistics, _ body: (UnsafeRowView, QueryScope) throws -> Bool) throws {
        let scope = QueryScope(related: related)
        for number in part.rows?.map(\.row) ?? view.state.tables[view.binding.table(of: part.table).index].numbers {
            guard let row = view.row(number, of: part.table) else { continue }
            statistics.rowsVisited += 1
            guard try part.test?.matches(row, scope) ?? true else { continue }
            guard try body(row, scope) else { return }
        }
    }

    private func unsorted(_ maximum: Int, _ statistics: inout QueryStatistics) throws -> [UnsafeRowView] {
        var found: [UnsafeRowView] = []
        for part in parts where found.count < maximum {
            try forEach(part, &statistics) { row, _ in
                found.append(row)
                return found.count < maximum
            }
        }
        return found
    }

    private func sorted<Sorter: RowGathering>(_ sorter: consuming Sorter, _ statistics: inout QueryStatistics) throws -> [UnsafeRowView] {
        for (index, part) in parts.enumerated() {
            guard let order = part.order else { continue }
            try forEach(part, &statistics) { row, scope in
                try sorter.append(row, order, part: index, scope)
                return true
            }
        }
        return sorter.sorted()
    }
}
