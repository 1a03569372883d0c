import Foundation

/// The results that a fetch of dictionaries gives: the values of each object or each group, their filter and their order.
package struct ResultShape {
    struct Column {
        let name: String
        /// An expression over an object; in a grouped result, over the slots of a group.
        var expression: ExpressionNode
        let type: NSAttributeType
    }

    struct Order {
        /// As in `Column`.
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
    /// nil: one result for each object.
    private(set) var groups: GroupedExpressions?
    /// Aggregates over all objects that each object's result contains too, in slots; nil for none.
    private(set) var overall: GroupedExpressions?
    private(set) var having: PredicateNode?
    let isDistinct: Bool
    /// The order in which the store sorts the objects.
    private(set) var sort: [SortKey] = []
    /// The order of the results where the store cannot sort them: by groups, or by computed values.
    private(set) var order: [Order] = []

    /// Whether each object gives one result, in the store's order. The store may then apply limit and offset itself.
    var isPlain: Bool { groups == nil && !isDistinct && order.isEmpty }

    /// - Throws: 134091, naming the key: for an unknown property, or one that is neither a group key nor an aggregate where it must be one.
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
        // Without keys there is one group, which needs no order.
        order = try keys.isEmpty ? [] : descriptors.map { try Self.order($0, columns, &groups, entity) }
        self.groups = groups
    }

    /// The shape of a result that consists of the aggregates over all objects, one column each.
    init(overall: GroupedExpressions) {
        columns = overall.aggregates.indices.map { index in
            let name = GroupedExpressions.Slot.aggregate(index).name
            return Column(name: name, expression: .variable(name), type: .undefinedAttributeType)
        }
        groups = overall
        isDistinct = false
    }

    /// Returns a copy in which these values replace the aggregates over all objects.
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
        /// The fetched column that a sort key names, where the key is no property and objects cannot be sorted by the column.
        func computed(_ descriptor: NSSortDescriptor) -> Column? { named(descriptor).flatMap { $0.expression.plainPath == nil ? $0 : nil } }
        func named(_ descriptor: NSSortDescriptor) -> Column? {
            guard let key = SortProbe(descriptor).key, entity.propertiesByName[key] == nil else { return nil }
            return columns.first { $0.name == key }
        }
        func key(_ descriptor: NSSortDescriptor) throws -> SortKey {
            guard let path = named(descriptor)?.expression.plainPath, !path.isEmpty else { return try SortKey(descriptor, entity: entity) }
            let (ascending, textOrder) = (descriptor.ascending, SortProbe(descriptor).textOrder)
            let sorting = NSSortDescriptor(key: path.joined(separator: "."), ascending: ascending, textOrder: textOrder)
            return try SortKey(sorting, entity: entity)
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
        // `SortKey` refuses a descriptor without a key, as in any fetch.
        let key = try SortProbe(descriptor).key ?? SortKey(descriptor, entity: entity).path.joined(separator: ".")
        if let keys = try? PredicateKeyPath.keys(key), let slot = groups.slot(of: .keyPath(entity.joiningComposites(keys))) {
            return Order(slot, descriptor)
        }
        if let column = columns.first(where: { $0.name == key }) { return Order(column.expression, descriptor) }
        // A property that is no group key takes the value of one object of the group, as in SQL.
        return Order(try groups.first(of: try SortKey(descriptor, entity: entity).path), descriptor)
    }

    // MARK: Requests for other results

    /// Refuses parts of a request that only dictionaries support. `propertiesToFetch` is only a hint for objects, but its properties must exist.
    static func checkAbsence<ResultType>(in request: NSFetchRequest<ResultType>, _ entity: NSEntityDescription) throws {
        guard request.propertiesToGroupBy?.isEmpty ?? true, request.havingPredicate == nil else {
            throw error("propertiesToGroupBy and havingPredicate need the resultType dictionaryResultType.")
        }
        for property in request.propertiesToFetch ?? [] { _ = try ColumnReader(entity: entity).column(property) }
    }

    static func error(_ description: String) -> NSError { CoreDataError.unsupported(description) }
}
