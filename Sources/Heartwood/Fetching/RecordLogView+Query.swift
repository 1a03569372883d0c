import Foundation
import RecordLog

extension RecordLogView {
    /// One table's part of a query, compiled.
    private struct Part {
        let table: EntityTable
        let test: RowTest?
        let plan: AccessPlan
        let order: RowOrder?
    }

    private func prepare(_ query: StoreQuery) throws -> [Part]? {
        var parts: [Part] = []
        for runtime in query.runtimes {
            let id = TableID(rawValue: UInt16(truncatingIfNeeded: UInt64(runtime.slot) &- (slotBase >> 48)))
            guard let table = schema.table(id), table.runtime === runtime else { throw CoreDataError.noStore(for: runtime.entity) }
            var test: RowTest?
            if let predicate = query.predicate {
                guard let compiled = PredicateCompiler(table: table, view: self).compile(predicate) else { return nil }
                test = compiled
            }
            var order: RowOrder?
            if !query.sort.isEmpty {
                guard let compiled = RowOrder(query.sort, table: table, view: self) else { return nil }
                order = compiled
            }
            let sort = query.sort.isEmpty ? [] : order?.directParts
            parts.append(Part(
                table: table, test: test, plan: QueryPlanner(table: table, test: test, sort: sort).plan(), order: order))
        }
        return parts
    }

    /// Calls `body` with each row that the query asks for, in order.
    /// - Returns: nil where the predicate or the order cannot be evaluated on rows; nothing was called then.
    func answer(_ query: StoreQuery, _ body: (RowView) throws -> Bool) throws -> QueryStatistics? {
        guard let parts = try prepare(query) else { return nil }
        return try wrapped(parts, query, body)
    }

    func prepareAnswer(_ query: StoreQuery) throws -> PreparedQuery? {
        guard let parts = try prepare(query) else { return nil }
        return { body in try self.wrapped(parts, query, body) }
    }

    private func wrapped(_ parts: [Part], _ query: StoreQuery, _ body: (RowView) throws -> Bool) throws -> QueryStatistics {
        do {
            return try run(parts, query, body)
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        } catch let fault as PredicateFault {
            throw query.predicate.map { PredicateCheck.error(fault, $0) } ?? fault
        }
    }

    /// How many rows match; the row count of the table where there is no condition.
    func countMatches(_ query: StoreQuery) throws -> Int? {
        guard query.predicate != nil else {
            return query.runtimes.reduce(0) { total, runtime in
                total + snapshot.rowCount(TableID(rawValue: UInt16(truncatingIfNeeded: UInt64(runtime.slot) &- (slotBase >> 48))))
            }
        }
        return try answer(query) { _ in true }?.rowsMatched
    }

    private func run(_ parts: [Part], _ query: StoreQuery, _ body: (RowView) throws -> Bool) throws -> QueryStatistics {
        let scope = QueryScope(view: self)
        var statistics = QueryStatistics()
        statistics.access = parts.map { part in part.plan.index.map { .index($0.name) } ?? .scan }
        statistics.isOrderedByIndex = !query.sort.isEmpty && parts.count == 1 && parts[0].plan.isOrdered
        let window = ResultWindow(query)
        guard !window.isFull else { return statistics }
        if query.sort.isEmpty || statistics.isOrderedByIndex {
            for part in parts where !window.isFull {
                try forEachMatch(part, scope) { row in
                    if window.takes(), try !body(row) { window.close() }
                    return !window.isFull
                }
            }
            statistics.rowsMatched = window.matched
        } else {
            var sorter = RowSorter()
            for part in parts {
                guard let order = part.order else { continue }
                try forEachMatch(part, scope) { row in
                    statistics.rowsMatched += 1
                    try sorter.append(row, order, scope)
                    return true
                }
            }
            for row in sorter.sorted() {
                if window.takes(), try !body(row) { window.close() }
                if window.isFull { break }
            }
        }
        statistics.rowsVisited = scope.rowsVisited
        return statistics
    }

    private func forEachMatch(_ part: Part, _ scope: QueryScope, _ body: (RowView) throws -> Bool) throws {
        guard let index = part.plan.index else {
            try snapshot.scan(part.table.id) { row in
                scope.rowsVisited &+= 1
                if let test = part.test, try !test.matches(row, scope) { return true }
                return try body(row)
            }
            return
        }
        for range in part.plan.ranges {
            var cursor = try snapshot.cursor(index.id, range, descending: part.plan.isDescending)
            while let number = try cursor.next() {
                guard let row = try snapshot.row(RowReference(table: part.table.id, row: number)) else { continue }
                scope.rowsVisited &+= 1
                if let test = part.test, try !test.matches(row, scope) { continue }
                guard try body(row) else { return }
            }
        }
    }
}

/// Which of the matches, in order, are asked for: those behind the offset, up to the limit.
private final class ResultWindow {
    private var toSkip: Int
    private var left: Int
    private(set) var matched = 0

    init(_ query: StoreQuery) {
        toSkip = query.offset
        left = query.limit ?? Int.max
    }

    var isFull: Bool { left <= 0 }

    /// No more matches are wanted.
    func close() { left = 0 }

    /// Whether the next match is asked for.
    @inline(__always)
    func takes() -> Bool {
        matched &+= 1
        guard toSkip == 0 else {
            toSkip &-= 1
            return false
        }
        left &-= 1
        return true
    }
}
