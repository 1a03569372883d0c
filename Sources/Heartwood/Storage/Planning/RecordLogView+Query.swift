import Foundation
import RecordLog

extension RecordLogView {
    /// One table's part of a query, compiled.
    final class Part {
        let table: EntityTable
        let test: RowFilter?
        /// nil where the query has no order, or the plan gives it.
        let order: RowOrder?
        /// The chosen plan; set before execution.
        var plan = AccessPlan.nothing
        /// The plan of the table's cache that `plan` was made from; nil where the query is to be planned.
        let cachedPlan: CachedPlan?

        init(_ table: EntityTable, _ test: RowFilter?, _ order: RowOrder?) {
            self.table = table
            self.test = test
            self.order = order
            cachedPlan = nil
        }

        init(_ table: EntityTable, _ order: RowOrder?, _ plan: AccessPlan, _ cachedPlan: CachedPlan) {
            (self.table, self.order, self.plan, self.cachedPlan) = (table, order, plan, cachedPlan)
            test = nil
        }
    }

    /// - Parameter scope: learns whether the tests have parameters; nil where the plans are not to be kept.
    private func parts(of query: StoreQuery, _ scope: QueryScope?) throws -> [Part]? {
        var parts: [Part] = []
        for runtime in query.runtimes {
            let table = try schema.table(of: runtime, slotBase: slotBase)
            var test: RowFilter?
            if let scope, let arguments = query.condition?.tree, QueryTuning.forcedAccess == nil,
                let compiled = PredicateCompiler(table: table, view: self).compile(arguments, scope)
            {
                test = compiled
                scope.hasParameters = true
            } else if let predicate = query.predicate {
                guard let compiled = PredicateCompiler(table: table, view: self).compile(predicate) else { return nil }
                test = compiled
            }
            var order: RowOrder?
            if !query.sort.isEmpty {
                guard let compiled = RowOrder(query.sort, table: table) else { return nil }
                order = compiled
            }
            parts.append(Part(table, test, order))
        }
        return parts
    }

    /// Calls `body` with each row that matches the query, in order.
    /// - Returns: nil where the predicate or the order cannot be evaluated on rows; `body` was not called then.
    package func execute(_ query: StoreQuery, _ body: (UnsafeRowView) throws -> Bool) throws -> QueryStatistics? {
        var scope = QueryScope(view: self)
        if let parts = try cachedParts(query, scope, isCount: false) { return try wrapped(query) { try run(parts, query, scope, body) } }
        scope = QueryScope(view: self)
        guard let parts = try self.parts(of: query, scope) else { return nil }
        return try wrapped(query) { try run(parts, query, scope, body) }
    }

    /// As `execute`, in two steps. The query is always planned anew, since a cached plan may read rows.
    package func compiled(_ query: StoreQuery) throws -> CompiledQuery? {
        guard let parts = try self.parts(of: query, nil) else { return nil }
        return { body in try self.wrapped(query) { try self.run(parts, query, QueryScope(view: self), body) } }
    }

    func wrapped<Result>(_ query: StoreQuery, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        } catch let fault as PredicateFault {
            throw query.predicate.map { PredicateCheck.error(fault, $0) } ?? fault
        }
    }

    /// Counts the matching rows in `rowsMatched`, without limit and offset. Reads no row where an index gives the number.
    package func counted(_ query: StoreQuery) throws -> QueryStatistics? {
        var unsorted = query
        unsorted.sort = []
        var scope = QueryScope(view: self)
        let known = try cachedParts(unsorted, scope, isCount: true)
        if known == nil { scope = QueryScope(view: self) }
        guard let parts = try known ?? self.parts(of: unsorted, scope) else { return nil }
        return try wrapped(query) {
            let run = QueryRun(view: self, scope: scope)
            var statistics = QueryStatistics()
            for part in parts {
                if part.cachedPlan == nil {
                    part.plan = try plan(part, unsorted, QueryPlanner(view: self, table: part.table, scope: scope, isCount: true))
                }
                statistics.add(part.plan, part.table)
                statistics.rowsMatched += try run.count(part.plan, part.table)
            }
            statistics.take(scope)
            note(statistics, parts)
            return statistics
        }
    }

    /// Plans a part, and keeps the plan where it serves other arguments.
    private func plan(_ part: Part, _ query: StoreQuery, _ planner: QueryPlanner) throws -> AccessPlan {
        var plan = try planner.plan(part.test)
        keep(plan, part.table, query, isCount: planner.isCount)
        if planner.scope.hasParameters { plan.test = plan.test?.withoutParameters }
        return plan
    }

    private func run(
        _ parts: [Part], _ query: StoreQuery, _ scope: QueryScope, _ body: (UnsafeRowView) throws -> Bool
    ) throws -> QueryStatistics {
        if let relevance = query.relevance { return try rank(parts.map { ($0.table, $0.test) }, relevance, query, body) }
        var statistics = QueryStatistics()
        let limit = query.end
        for part in parts {
            if part.cachedPlan == nil {
                let sort = query.sort.isEmpty ? [] : part.order?.directParts
                part.plan = try plan(part, query, QueryPlanner(view: self, table: part.table, scope: scope, sort: sort, limit: limit))
            }
            statistics.add(part.plan, part.table)
        }
        statistics.isOrderedByIndex = !query.sort.isEmpty && Self.haveOneOrder(parts)
        if query.limit == 0 { return statistics }
        if query.offset == 0 {
            statistics.rowsMatched = try handOver(parts, query, limit, statistics.isOrderedByIndex, scope, body)
        } else {
            var toSkip = query.offset
            statistics.rowsMatched = try handOver(parts, query, limit, statistics.isOrderedByIndex, scope) { row in
                guard toSkip == 0 else {
                    toSkip -= 1
                    return true
                }
                return try body(row)
            }
        }
        statistics.take(scope)
        note(statistics, parts)
        return statistics
    }

    /// Calls `body` with the rows of planned parts, in order, until it returns false.
    /// - Parameter limit: the greatest number of calls; nil for all.
    /// - Returns: the number of matching rows, as far as they were found.
    private func handOver(
        _ parts: [Part], _ query: StoreQuery, _ limit: Int?, _ isOrderedByIndex: Bool, _ scope: QueryScope,
        _ body: (UnsafeRowView) throws -> Bool
    ) throws -> Int {
        let run = QueryRun(view: self, scope: scope)
        let maximum = limit ?? .max
        if isOrderedByIndex {
            // Parts without an ordered plan have no matching row.
            let scans = parts.filter(\.plan.isOrdered)
            let progress = if let only = scans.first, scans.count == 1 {
                try run.forEachMatch(only.plan, only.table, maximum: maximum, body)
            } else {
                try run.forEachInOrder(scans.map { ($0.plan, $0.table) }, maximum: maximum, body)
            }
            return progress.count
        }
        if query.sort.isEmpty {
            var matched = 0
            for part in parts where matched < maximum {
                let progress = try (limit == nil ? run.forEachFound(part.plan, part.table, body) : nil)
                    ?? run.forEachMatch(part.plan, part.table, maximum: maximum - matched, body)
                matched += progress.count
                if progress.isEnded { break }
            }
            return matched
        }
        let isLocalized = parts.contains { $0.order?.isLocalized ?? false }
        return try isLocalized
            ? sort(parts, LocalizedRowSorter(limit: limit), run, limit, body) : sort(parts, RowSorter(limit: limit), run, limit, body)
    }

    private func sort<Sorter: RowGathering>(
        _ parts: [Part], _ sorter: consuming Sorter, _ run: QueryRun, _ limit: Int?, _ body: (UnsafeRowView) throws -> Bool
    ) throws -> Int {
        var matched = 0
        for (index, part) in parts.enumerated() {
            guard let order = part.order else { continue }
            matched += try run.sort(part.plan, part.table, order, part: index, limit: limit, into: &sorter)
        }
        for row in sorter.sorted().prefix(limit ?? .max) { guard try body(row) else { break } }
        return matched
    }

    /// Whether index scans give the rows of all tables in the same order, with sort keys to merge them.
    private static func haveOneOrder(_ parts: [Part]) -> Bool {
        var first: IndexScan.Order?
        for part in parts {
            if case .nothing = part.plan.access { continue }
            guard case .index(let scan) = part.plan.access, let order = scan.order else { return false }
            if let first {
                guard first.isDescending == order.isDescending, first.key != nil, order.key != nil else { return false }
            } else {
                first = order
            }
        }
        return first != nil
    }
}

extension QueryStatistics {
    mutating func add(_ plan: AccessPlan, _ table: EntityTable) {
        parts.append(Part(
            entity: table.runtime.entity.name ?? "", access: plan.name, rangeCount: plan.rangeCount, isOrdered: plan.isOrdered))
    }

    mutating func take(_ scope: QueryScope) {
        rowsVisited = scope.rowsVisited
        entriesCounted = scope.entriesCounted
        cores = scope.cores
        lookups = scope.lookups
    }
}
