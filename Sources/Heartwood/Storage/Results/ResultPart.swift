import Foundation
import RecordLog

/// One table's part of a fetch of dictionaries: the compiled expressions that compute values from its rows.
final class ResultPart {
    /// The values to compute from a row: the keys of its group, or the columns.
    let values: [any RowExpression]
    let order: [any RowExpression]
    private let runtime: EntityRuntime
    /// The columns of the row whose bytes form the group's key. Empty where a key is computed or goes through a relationship.
    private let keyColumns: UnsafeMutableBufferPointer<Int>
    private let keyOrder: RowOrder?
    private let feeds: [ResultFeed]
    private let unmanagedFeeds: UnsafeMutableBufferPointer<Unmanaged<ResultFeed>>

    /// - Parameter isByValue: compare keys by value. Needed where a key's column has different types in different tables: equal bytes do not
    ///   mean equal values then.
    /// - Returns: nil where an expression cannot be computed from rows.
    init?(_ shape: ResultShape, table: EntityTable, view: RecordLogView, isByValue: Bool) {
        let compiler = PredicateCompiler(table: table, view: view)
        func compile(_ nodes: [ExpressionNode]) -> [any RowExpression]? {
            let compiled = nodes.compactMap(compiler.result)
            return compiled.count == nodes.count ? compiled : nil
        }
        let aggregates = shape.groups?.aggregates ?? []
        let feeds = aggregates.compactMap { ResultFeed($0, compiler) }
        guard let values = compile(shape.groups?.keys ?? shape.columns.map(\.expression)), feeds.count == aggregates.count,
            let order = compile(shape.groups == nil ? shape.order.map(\.expression) : [])
        else { return nil }
        self.values = values
        self.order = order
        self.feeds = feeds
        runtime = table.runtime
        unmanagedFeeds = .allocate(capacity: feeds.count)
        for (index, feed) in feeds.enumerated() { unmanagedFeeds.initializeElement(at: index, to: .passUnretained(feed)) }
        let paths = isByValue ? nil : Self.paths(shape.groups?.keys ?? [])
        let columns = Self.columns(paths ?? [], table.runtime)
        keyColumns = .allocate(capacity: columns.count)
        _ = keyColumns.initialize(from: columns)
        keyOrder = columns.isEmpty ? paths.flatMap { RowOrder($0.map { SortKey(path: $0) }, table: table) } : nil
    }

    deinit {
        keyColumns.deallocate()
        unmanagedFeeds.deallocate()
    }

    /// Returns nil where a key is computed.
    private static func paths(_ keys: [ExpressionNode]) -> [[String]]? {
        var paths: [[String]] = []
        for key in keys {
            guard case .keyPath(let path) = key, !path.isEmpty else { return nil }
            paths.append(path)
        }
        return paths.isEmpty ? nil : paths
    }

    /// Returns an empty list where a path is not a column of the row itself that can form a key.
    private static func columns(_ paths: [[String]], _ runtime: EntityRuntime) -> [Int] {
        var columns: [Int] = []
        for path in paths {
            guard path.count == 1, let index = runtime.index(of: path[0]), runtime.properties[index].hasColumn,
                runtime.properties[index].kind != .externalData
            else { return [] }
            columns.append(index)
        }
        return columns
    }

    /// Adds a row to its group.
    /// - Returns: true for the group's first row.
    @inline(__always)
    func gather(_ row: UnsafeRowView, _ key: KeyBuilder, _ groups: ResultGroups, _ scope: QueryScope) throws -> Bool {
        var group = (number: 0, isNew: false)
        if !values.isEmpty {
            key.removeAll()
            try appendKey(of: row, to: key, scope)
            group = groups.group(key.unsafeBuffer)
        }
        for index in unmanagedFeeds.indices {
            try unmanagedFeeds[index]._withUnsafeGuaranteedRef { feed in
                try groups.withAccumulator(index) { try feed.give(row, to: $0, group.number, scope) }
            }
        }
        return group.isNew
    }

    @inline(__always)
    private func appendKey(of row: UnsafeRowView, to key: KeyBuilder, _ scope: QueryScope) throws {
        if let accesses = runtime.accesses(row.layoutID), !keyColumns.isEmpty {
            for index in keyColumns { key.append(column: accesses[index], of: row) }
        } else if let keyOrder {
            try keyOrder.appendKey(of: row, to: key, scope)
        } else {
            for value in values { try value.value(row, scope).appendIdentity(to: key) }
        }
    }
}

/// Passes one aggregate's argument from a row to its accumulator.
final class ResultFeed {
    private enum Source {
        case row
        /// 1 where the column has a value.
        case presence(Int)
        case integer(Int)
        case double(Int)
        case date(Int)
        case value(any RowExpression)
    }

    private let runtime: EntityRuntime
    private let source: Source

    init?(_ aggregate: GroupedExpressions.Aggregate, _ compiler: PredicateCompiler) {
        runtime = compiler.table.runtime
        if let column = Self.column(aggregate, runtime) {
            source = column
        } else {
            guard let compiled = compiler.result(aggregate.argument) else { return nil }
            source = .value(compiled)
        }
    }

    /// The source that reads a column without building a `PredicateValue`; nil where only an expression serves.
    private static func column(_ aggregate: GroupedExpressions.Aggregate, _ runtime: EntityRuntime) -> Source? {
        guard case .keyPath(let keys) = aggregate.argument else { return nil }
        let counts = aggregate.function == .count && !aggregate.isDistinct
        if keys.isEmpty, counts { return .row }
        guard keys.count == 1, let index = runtime.index(of: keys[0]), runtime.properties[index].hasColumn else { return nil }
        if counts { return .presence(index) }
        let kind = runtime.properties[index].kind
        return switch kind.codec?.raw {
        case .integer: .integer(index)
        case .double: kind == .date ? .date(index) : .double(index)
        case .decimal, nil: nil
        }
    }

    @inline(__always)
    func give(_ row: UnsafeRowView, to accumulator: Accumulator, _ group: Int, _ scope: QueryScope) throws {
        switch source {
        case .row: accumulator.add(integer: 1, to: group)
        case .presence(let index): if runtime.access(index, in: row) != nil { accumulator.add(integer: 1, to: group) }
        case .integer(let index): if let access = runtime.access(index, in: row) { accumulator.add(integer: row.int64(access), to: group) }
        case .double(let index): if let access = runtime.access(index, in: row) { accumulator.add(double: row.double(access), to: group) }
        case .date(let index): if let access = runtime.access(index, in: row) { accumulator.add(date: row.double(access), to: group) }
        case .value(let expression): accumulator.take(try expression.value(row, scope), of: group)
        }
    }
}
