import RecordLog

/// Executes plans.
struct QueryRun {
    let view: RecordLogView
    let scope: QueryScope

    /// The number of rows that are looked up together, so that cache misses overlap.
    private static let batchSize = 64

    /// The progress of handing over rows.
    struct Progress {
        private let maximum: Int
        private(set) var count = 0
        /// Whether the caller has ended the query.
        private(set) var isEnded = false

        init(maximum: Int) {
            self.maximum = maximum
        }

        /// The number of rows still to hand over.
        var left: Int { isEnded ? 0 : maximum &- count }

        @inline(__always)
        mutating func take(_ answer: Bool) {
            count &+= 1
            if !answer { isEnded = true }
        }

        /// Counts several rows, of which only the last may have ended the query.
        fileprivate mutating func take(_ count: Int, isEnded: Bool) {
            self.count &+= count
            self.isEnded = isEnded
        }
    }

    /// Calls `body` with each matching row of a table, until it returns false.
    /// - Parameter maximum: the greatest number of calls.
    @discardableResult
    func forEachMatch(
        _ plan: AccessPlan, _ table: EntityTable, maximum: Int = .max, _ body: (UnsafeRowView) throws -> Bool
    ) throws -> Progress {
        var progress = Progress(maximum: maximum)
        guard maximum > 0 else { return progress }
        switch plan.access {
        case .nothing: break
        case .scan:
            guard let test = plan.test else {
                try view.snapshot.scan(table.id) { row in
                    scope.rowsVisited &+= 1
                    progress.take(try body(row))
                    return progress.left > 0
                }
                break
            }
            try view.snapshot.scanBatches(table.id, first: maximum) { rows in
                scope.rowsVisited &+= rows.count
                for position in 0..<(try test.filter(rows, scope)) {
                    progress.take(try body(rows[position]))
                    guard progress.left > 0 else { return false }
                }
                return true
            }
        case .index(let scan):
            if let key = scan.key {
                guard let number = try key.withUnsafeBytes({ try view.snapshot.firstRow(scan.index.id, prefix: $0) }),
                    let row = try view.snapshot.unsafeRow(RowReference(table: table.id, row: number))
                else { break }
                scope.rowsVisited &+= 1
                if let test = plan.test, try !test.matches(row, scope) { break }
                progress.take(try body(row))
            } else if plan.test == nil, !IndexScanner.sortsTies(scan) {
                try scanIndex(scan, &progress, body)
            } else {
                let scanner = IndexScanner(scan, table, view.snapshot)
                try lookUp({ try scanner.next().map { (0, RowReference(table: table.id, row: $0)) } }, [plan.test], &progress, body)
            }
        case .text(let scan): try searchText(scan, plan.test, table, &progress, body)
        case .rows, .union: try lookUp(try self.rows(of: plan, table).list, plan.test, &progress, body)
        }
        return progress
    }

    /// Calls `body` with the rows of an index scan, in the index's order, until it returns false.
    private func scanIndex(_ scan: IndexScan, _ progress: inout Progress, _ body: (UnsafeRowView) throws -> Bool) throws {
        for range in scan.ranges where progress.left > 0 {
            let (count, isEnded) = try view.snapshot.rows(scan.index.id, range, limit: progress.left, body)
            scope.rowsVisited &+= count
            progress.take(count, isEnded: isEnded)
        }
    }

    /// Calls `body` with the matching rows of several tables whose plans give the same order, in that order.
    func forEachInOrder(
        _ parts: [(plan: AccessPlan, table: EntityTable)], maximum: Int, _ body: (UnsafeRowView) throws -> Bool
    ) throws -> Progress {
        let scans = parts.compactMap { part -> (IndexScan, EntityTable)? in
            if case .index(let scan) = part.plan.access { return (scan, part.table) }
            return nil
        }
        var merged = try MergedScan(scans, view.snapshot)
        var progress = Progress(maximum: maximum)
        try lookUp({ try merged.next() }, parts.map(\.plan.test), &progress, body)
        return progress
    }

    /// - Parameter next: returns the next row and the index of its test.
    private func lookUp(
        _ next: () throws -> (part: Int, row: RowReference)?, _ tests: [RowFilter?], _ progress: inout Progress,
        _ body: (UnsafeRowView) throws -> Bool
    ) throws {
        var references: [RowReference] = [], partIndexes: [Int] = []
        references.reserveCapacity(Self.batchSize)
        var isDone = false
        while !isDone, progress.left > 0 {
            references.removeAll(keepingCapacity: true)
            partIndexes.removeAll(keepingCapacity: true)
            let room = min(Self.batchSize, progress.left)
            while references.count < room, let found = try next() {
                references.append(found.row)
                partIndexes.append(found.part)
            }
            if references.count < room { isDone = true }
            try references.withUnsafeBufferPointer { references in
                try view.snapshot.rows(references) { index, row in
                    guard let row, progress.left > 0 else { return }
                    scope.rowsVisited &+= 1
                    if let test = tests[partIndexes[index]], try !test.matches(row, scope) { return }
                    progress.take(try body(row))
                }
            }
        }
    }

    // MARK: Text indexes

    /// Calls `body` with the matching rows of a text scan, by row number.
    private func searchText(
        _ scan: TextScan, _ test: RowFilter?, _ table: EntityTable, _ progress: inout Progress, _ body: (UnsafeRowView) throws -> Bool
    ) throws {
        // A limit is often met by few candidates, so the first batch is small.
        let first = min(Self.batchSize, progress.left)
        var rows: [UnsafeRowView] = []
        rows.reserveCapacity(Self.batchSize)
        try forEachBatch(scan, table, first: first) { references in
            rows.removeAll(keepingCapacity: true)
            try view.snapshot.rows(references) { _, row in
                if let row { rows.append(row) }
            }
            scope.rowsVisited &+= rows.count
            let count = try rows.withUnsafeMutableBufferPointer { try test?.filter($0, scope) ?? $0.count }
            for row in rows[..<count] {
                progress.take(try body(row))
                guard progress.left > 0 else { return false }
            }
            return true
        }
    }

    /// Calls `body` with the rows of a text scan, by row number, until it returns false.
    /// - Parameter first: the number of rows to pass first, at most `batchSize`.
    private func forEachBatch(
        _ scan: TextScan, _ table: EntityTable, first: Int = batchSize, _ body: (UnsafeBufferPointer<RowReference>) throws -> Bool
    ) throws {
        let scanner = try TextScanner(scan, view.snapshot)
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Self.batchSize) { numbers in
            try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: Self.batchSize) { references in
                var wanted = first
                while true {
                    let count = try scanner.take(into: UnsafeMutableBufferPointer(rebasing: numbers[..<wanted]))
                    for position in 0..<count { references[position] = RowReference(table: table.id, row: numbers[position]) }
                    guard count > 0, try body(UnsafeBufferPointer(rebasing: references[..<count])), count == wanted else { return }
                    wanted = Self.batchSize
                }
            }
        }
    }

    // MARK: Rows by number

    private func lookUp(
        _ rows: [RowReference], _ test: RowFilter?, _ progress: inout Progress, _ body: (UnsafeRowView) throws -> Bool
    ) throws {
        try rows.withUnsafeBufferPointer { rows in
            var start = 0
            while start < rows.count, progress.left > 0 {
                let end = min(rows.count, start + min(Self.batchSize, progress.left))
                try view.snapshot.rows(UnsafeBufferPointer(rebasing: rows[start..<end])) { _, row in
                    guard let row, progress.left > 0 else { return }
                    scope.rowsVisited &+= 1
                    if let test, try !test.matches(row, scope) { return }
                    progress.take(try body(row))
                }
                start = end
            }
        }
    }

    /// Returns the rows of a plan, before its remaining test.
    private func rows(of plan: AccessPlan, _ table: EntityTable) throws -> RowSet {
        switch plan.access {
        case .rows(let set): return set
        case .index(let scan):
            var set = RowSet()
            let scanner = IndexScanner(scan, table, view.snapshot)
            while let row = try scanner.next() { set.insert(RowReference(table: table.id, row: row)) }
            return set
        case .text(let scan):
            var set = RowSet()
            try forEachBatch(scan, table) { rows in
                for row in rows { set.insert(row) }
                return true
            }
            return set
        case .union(let parts):
            var set = RowSet()
            for part in parts { try rows(of: part, table).forEach { set.insert($0) } }
            return set
        case .scan, .nothing: return RowSet()
        }
    }

    // MARK: Counting

    /// Counts the matching rows. Reads no row where the access path gives the number.
    func count(_ plan: AccessPlan, _ table: EntityTable) throws -> Int {
        if plan.test == nil {
            switch plan.access {
            case .scan: return view.snapshot.rowCount(table.id)
            case .nothing: return 0
            case .rows(let set): return set.count
            case .index(let scan):
                let count = try scan.ranges.reduce(0) { try $0 + view.snapshot.count(scan.index.id, $1) }
                scope.entriesCounted += count
                return count
            case .text(let scan):
                var count = 0
                try forEachBatch(scan, table) { rows in
                    count += rows.count
                    return true
                }
                scope.entriesCounted += count
                return count
            case .union:
                let count = try rows(of: plan, table).count
                scope.entriesCounted += count
                return count
            }
        }
        if case .scan = plan.access, let test = plan.test {
            let threads = ParallelScan.threads(rows: view.snapshot.rowCount(table.id))
            if threads > 1 {
                return try ParallelScan.run(table.id, test, view, threads: threads, scope, state: { 0 }) { count, rows, _, _ in
                    count += rows.count
                }.reduce(0, +)
            }
        }
        var count = 0
        try forEachMatch(plan, table) { _ in
            count += 1
            return true
        }
        return count
    }

    // MARK: Wide scans

    /// Calls `body` with each matching row of a scan, in the table's order, until it returns false. Several threads test the rows, one window of
    /// the table after the other.
    /// - Returns: nil where one thread is as fast; `body` was not called then.
    func forEachFound(_ plan: AccessPlan, _ table: EntityTable, _ body: (UnsafeRowView) throws -> Bool) throws -> Progress? {
        guard case .scan = plan.access, let test = plan.test else { return nil }
        let limit = view.snapshot.rowLimit(table.id), threads = ParallelScan.threads(rows: view.snapshot.rowCount(table.id))
        guard threads > 1 else { return nil }
        var progress = Progress(maximum: .max)
        let window = ParallelScan.window(threads: threads)
        var found = (0..<threads).map { _ in FoundRows() }
        for first in stride(from: 0, to: limit, by: Int(window)) {
            var unused = found[...]
            found = try ParallelScan.run(
                table.id, rows: first..<min(first + window, limit), test, view, threads: threads, scope,
                state: { unused.popFirst() ?? FoundRows() }
            ) { found, rows, _, chunk in found.append(rows, chunk) }
            let goesOn = try FoundRows.forEach(of: found) { row in
                progress.take(try body(row))
                return progress.left > 0
            }
            guard goesOn else { break }
        }
        return progress
    }

    /// Adds a table's matching rows to a sorter, on several threads where that is faster.
    /// - Returns: the number of matching rows.
    func sort<Sorter: RowGathering>(
        _ plan: AccessPlan, _ table: EntityTable, _ order: RowOrder, part: Int, limit: Int?, into sorter: inout Sorter
    ) throws -> Int {
        let threads = ParallelScan.threads(rows: view.snapshot.rowCount(table.id))
        if case .scan = plan.access, threads > 1 {
            let states = try ParallelScan.run(
                table.id, plan.test, view, threads: threads, scope, state: { (count: 0, sorter: Sorter(limit: limit)) }
            ) { state, rows, scope, _ in
                state.count += rows.count
                for row in rows { try state.sorter.append(row, order, part: part, scope) }
            }
            for state in states { sorter.add(state.sorter) }
            return states.reduce(0) { $0 + $1.count }
        }
        var count = 0
        try forEachMatch(plan, table) { row in
            count += 1
            try sorter.append(row, order, part: part, scope)
            return true
        }
        return count
    }
}
