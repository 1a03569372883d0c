import Foundation

/// What a fetch of dictionaries gives: which values, of each object or of each group, and what is left of them.
struct ResultShape {
    struct Column {
        let name: String
        /// Over an object; over the slots of a group where the result is grouped.
        var expression: ExpressionNode
        let type: NSAttributeType
    }

    struct Order {
        /// As a column's.
        fileprivate(set) var expression: ExpressionNode
        let isAscending: Bool
        let textOrder: NSSortDescriptor.TextOrder

        init(_ expression: ExpressionNode, _ descriptor: NSSortDescriptor) {
            self.expression = expression
            isAscending = descriptor.ascending
            textOrder = SortProbe(descriptor).textOrder
        }
    }

    private(set) var columns: [Column]
    /// nil: a result for each object.
    private(set) var groups: GroupedExpressions?
    /// Aggregates over all objects whose values stand beside those of each object, in slots; nil for none.
    private(set) var overall: GroupedExpressions?
    private(set) var having: PredicateNode?
    let isDistinct: Bool
    /// What the store sorts the objects by.
    private(set) var sort: [SortKey] = []
    /// What the results are sorted by where the store cannot: by groups, or by computed values.
    private(set) var order: [Order] = []

    /// Whether each object gives one result, in the store's order, so that the store may count them.
    var isPlain: Bool { groups == nil && !isDistinct && order.isEmpty }

    /// - Throws: 134091, naming the key, for a property that is not there, or that is neither grouped by nor an aggregate where it must be.
    init<ResultType>(_ request: NSFetchRequest<ResultType>, _ entity: NSEntityDescription) throws {
        let reader = ColumnReader(entity: entity)
        var named = try (request.propertiesToFetch ?? []).map(reader.column)
        let keys = try (request.propertiesToGroupBy ?? []).map { try reader.groupKey($0, named) }
        guard request.havingPredicate == nil || !keys.isEmpty else { throw Self.error("A havingPredicate needs propertiesToGroupBy.") }
        if named.isEmpty { named = keys.isEmpty ? try reader.attributes() : keys }
        var names: Set<String> = []
        for column in named where !names.insert(column.name).inserted {
            throw Self.error("\"\(column.name)\" is fetched twice; give each of propertiesToFetch a name of its own.")
        }
        isDistinct = request.returnsDistinctResults
        let descriptors = request.sortDescriptors ?? []
        guard !keys.isEmpty || named.contains(where: { $0.expression.hasAggregate }) else {
            columns = named
            try takeOrder(descriptors, entity)
            return
        }
        var groups = GroupedExpressions(keys: keys.map(\.expression))
        if keys.isEmpty {
            let beside = try named.map { try groups.besideObjects($0.expression) }
            if beside.contains(where: \.isOverObject) {
                for (index, expression) in beside.enumerated() { named[index].expression = expression }
                columns = named
                overall = groups
                try takeOrder(descriptors, entity)
                return
            }
        }
        columns = try named.map { column in
            var column = column
            column.expression = try groups.overGroup(column.expression)
            return column
        }
        having = try request.havingPredicate.map { predicate in
            let node = predicate.storedNode.joiningComposites(of: entity).rewriting { expression, bound in
                guard case .variable(let name) = expression, !bound.contains(name) else { return expression }
                return named.first { $0.name == name }?.expression ?? expression
            }
            try PredicateCheck.check(node, entity: entity)
            return try groups.overGroup(node.folded)
        }
        // Without keys there is one group, and no order.
        order = try keys.isEmpty ? [] : descriptors.map { try Self.order($0, columns, &groups, entity) }
        self.groups = groups
    }

    /// The aggregates over all objects alone, each a column of one result.
    init(overall: GroupedExpressions) {
        columns = overall.aggregates.indices.map { place in
            let name = GroupedExpressions.Slot.aggregate(place).name
            return Column(name: name, expression: .variable(name), type: .undefinedAttributeType)
        }
        groups = overall
        isDistinct = false
    }

    /// The same with the values of the aggregates over all objects.
    func filled(_ values: [PredicateValue]) -> ResultShape {
        var shape = self
        shape.overall = nil
        func fill(_ node: ExpressionNode) -> ExpressionNode {
            node.rewriting(bound: []) { node, _ in
                guard case .aggregate(let index) = GroupedExpressions.Slot(node) else { return node }
                return .constant(values[index])
            }
        }
        for index in columns.indices { shape.columns[index].expression = fill(columns[index].expression) }
        for index in order.indices { shape.order[index].expression = fill(order[index].expression) }
        return shape
    }

    private mutating func takeOrder(_ descriptors: [NSSortDescriptor], _ entity: NSEntityDescription) throws {
        /// What a key that is no property's names, unless objects can be sorted by it.
        func computed(_ descriptor: NSSortDescriptor) -> Column? { named(descriptor).flatMap { $0.expression.plainPath == nil ? $0 : nil } }
        func named(_ descriptor: NSSortDescriptor) -> Column? {
            guard let key = SortProbe(descriptor).key, entity.propertiesByName[key] == nil else { return nil }
            return columns.first { $0.name == key }
        }
        func key(_ descriptor: NSSortDescriptor) throws -> SortKey {
            guard let path = named(descriptor)?.expression.plainPath, !path.isEmpty else { return try SortKey(descriptor, entity: entity) }
            let (ascending, textOrder) = (descriptor.ascending, SortProbe(descriptor).textOrder)
            let stated = NSSortDescriptor(key: path.joined(separator: "."), ascending: ascending, textOrder: textOrder)
            return try SortKey(stated, entity: entity)
        }
        guard descriptors.contains(where: { computed($0) != nil }) else {
            sort = try descriptors.map(key)
            return
        }
        order = try descriptors.map { descriptor in
            if let column = computed(descriptor) { return Order(column.expression, descriptor) }
            return Order(.keyPath(try key(descriptor).path), descriptor)
        }
    }

    private static func order(
        _ descriptor: NSSortDescriptor, _ columns: [Column], _ groups: inout GroupedExpressions, _ entity: NSEntityDescription
    ) throws -> Order {
        // One without a key is refused as in any fetch.
        let key = try SortProbe(descriptor).key ?? SortKey(descriptor, entity: entity).path.joined(separator: ".")
        if let keys = try? PredicateKeyPath.keys(key), let slot = groups.slot(of: .keyPath(entity.joiningComposites(keys))) {
            return Order(slot, descriptor)
        }
        if let column = columns.first(where: { $0.name == key }) { return Order(column.expression, descriptor) }
        // What is not grouped by is asked of one object of the group, as SQL has it.
        return Order(try groups.first(of: try SortKey(descriptor, entity: entity).path), descriptor)
    }

    // MARK: Requests for other results

    /// Refuses what only dictionaries have. Properties to fetch are a hint for objects, but they must be there.
    static func checkAbsence<ResultType>(in request: NSFetchRequest<ResultType>, _ entity: NSEntityDescription) throws {
        guard request.propertiesToGroupBy?.isEmpty ?? true, request.havingPredicate == nil else {
            throw error("propertiesToGroupBy and havingPredicate need the resultType dictionaryResultType.")
        }
        for property in request.propertiesToFetch ?? [] { _ = try ColumnReader(entity: entity).column(property) }
    }

    static func error(_ description: String) -> NSError { CoreDataError.unsupported(description) }
}
