import Foundation
import RecordLog

/// One table's part of a fetch of dictionaries: what is computed from its rows.
struct ResultPart {
    /// The values that are wanted of a row: the keys of its group, or the columns.
    let values: [RowExpression]
    let order: [RowExpression]
    /// The bytes of the keys, where they are columns of the row or behind to-one relationships.
    private let keyOrder: RowOrder?
    let feeds: [ResultFeed]

    /// - Returns: nil where something cannot be computed from rows.
    init?(_ shape: ResultShape, table: EntityTable, view: RecordLogView) {
        let compiler = PredicateCompiler(table: table, view: view)
        func compile(_ nodes: [ExpressionNode]) -> [RowExpression]? {
            let compiled = nodes.compactMap(compiler.result)
            return compiled.count == nodes.count ? compiled : nil
        }
        guard let values = compile(shape.groups?.keys ?? shape.columns.map(\.expression)) else { return nil }
        self.values = values
        guard let groups = shape.groups else {
            guard let order = compile(shape.order.map(\.expression)) else { return nil }
            self.order = order
            keyOrder = nil
            feeds = []
            return
        }
        order = []
        keyOrder = Self.order(groups.keys, table, view)
        let feeds = groups.aggregates.compactMap { ResultFeed($0, compiler) }
        guard feeds.count == groups.aggregates.count else { return nil }
        self.feeds = feeds
    }

    private init(values: [RowExpression], order: [RowExpression], feeds: [ResultFeed]) {
        self.values = values
        self.order = order
        self.feeds = feeds
        keyOrder = nil
    }

    /// The same with keys by value: where tables differ in the types of their columns, bytes of columns do not tell.
    var byValue: ResultPart { ResultPart(values: values, order: order, feeds: feeds) }

    private static func order(_ keys: [ExpressionNode], _ table: EntityTable, _ view: RecordLogView) -> RowOrder? {
        var paths: [SortKey] = []
        for key in keys {
            guard case .keyPath(let path) = key, !path.isEmpty else { return nil }
            paths.append(SortKey(path: path))
        }
        return paths.isEmpty ? nil : RowOrder(paths, table: table, view: view)
    }

    func appendKey(of row: RowView, to key: KeyBuilder, _ scope: QueryScope) throws {
        if let keyOrder { return try keyOrder.appendKey(of: row, to: key, scope) }
        for value in values { try value.value(row, scope).appendIdentity(to: key) }
    }
}

/// What one aggregate takes from a row.
struct ResultFeed {
    private enum Source {
        case row
        /// Whether a column has a value.
        case presence(Int)
        case integer(Int)
        case double(Int)
        case value(RowExpression)
    }

    private let runtime: EntityRuntime
    private let source: Source
    let isDate: Bool

    init?(_ aggregate: GroupedExpressions.Aggregate, _ compiler: PredicateCompiler) {
        runtime = compiler.table.runtime
        guard case .keyPath(let keys) = aggregate.argument else {
            guard let compiled = compiler.result(aggregate.argument) else { return nil }
            (source, isDate) = (.value(compiled), false)
            return
        }
        if aggregate.function == .count, keys.isEmpty {
            (source, isDate) = (.row, false)
            return
        }
        if keys.count == 1, let index = runtime.index(of: keys[0]), runtime.properties[index].hasColumn {
            let kind = runtime.properties[index].kind
            isDate = kind == .date
            switch kind {
            case _ where aggregate.function == .count: source = .presence(index)
            case .bool, .int16, .int32, .int64: source = .integer(index)
            case .float, .double: source = .double(index)
            case .date where aggregate.function == .min || aggregate.function == .max: source = .double(index)
            default:
                guard let compiled = compiler.result(aggregate.argument) else { return nil }
                source = .value(compiled)
            }
            return
        }
        guard let compiled = compiler.result(aggregate.argument) else { return nil }
        (source, isDate) = (.value(compiled), false)
    }

    @inline(__always)
    func give(_ row: RowView, to accumulator: Accumulator, _ group: Int, _ scope: QueryScope) throws {
        switch source {
        case .row: accumulator.add(integer: 1, to: group)
        case .presence(let index): if access(row, index) != nil { accumulator.add(integer: 1, to: group) }
        case .integer(let index): if let access = access(row, index) { accumulator.add(integer: row.int64(access), to: group) }
        case .double(let index): if let access = access(row, index) { accumulator.add(double: row.double(access), to: group) }
        case .value(let expression): accumulator.take(try expression.value(row, scope), of: group)
        }
    }

    @inline(__always)
    private func access(_ row: RowView, _ index: Int) -> ColumnAccess? {
        guard let access = runtime.accesses(row.layoutID)?[index], !access.isAbsent, !row.isNull(access) else { return nil }
        return access
    }
}
