import RecordLog

extension PreparedPlan {
    /// A fetch that was planned just now.
    struct Planned {
        let tree: PredicateTree
        let sort: [SortKey]
        /// The properties that the table is sorted by. Empty: no order. nil: an order through a relationship, or one that no index has.
        let sortProperties: [Int]?
        let hasLimit: Bool
        let isCount: Bool
        let plan: AccessPlan
    }

    /// Makes the plan to keep; one without a way where arguments may change the planner's choice.
    /// - Returns: nil where these arguments are not what the format's columns have, which says nothing about others.
    static func make(_ planned: Planned, _ table: EntityTable, _ view: RecordLogView) throws -> PreparedPlan? {
        func made(_ way: Way?, _ rest: [PreparedCondition]) -> PreparedPlan {
            PreparedPlan(
                number: planned.tree.number ?? 0, sort: planned.sort, hasLimit: planned.hasLimit, isCount: planned.isCount, way: way, rest: rest,
                table, view)
        }
        guard let stated = planned.tree.conditions, !stated.isEmpty, table.indexes.count <= indexesMax else { return made(nil, []) }
        let found: (way: Way, rest: [PreparedCondition])?
        if stated.count == 1, stated[0].keys.count == 2 {
            guard let (condition, target) = condition(stated[0], table, view) else { return made(nil, []) }
            guard condition.takes(planned.tree) else { return condition.isConstant ? made(nil, []) : nil }
            found = try related(stated[0], condition, target, planned, table, view).map { ($0, []) }
        } else {
            var conditions: [PreparedCondition] = []
            for one in stated {
                guard one.comparison.modifier == .direct, one.keys.count == 1, let property = table.runtime.index(of: one.keys[0]),
                    let condition = PreparedCondition(one, property, table.runtime)
                else { return made(nil, []) }
                guard condition.takes(planned.tree) else { return condition.isConstant ? made(nil, []) : nil }
                conditions.append(condition)
            }
            // These arguments are too many, or too frequent, for an index that serves others.
            if case .scan = planned.plan.access, mayUseIndex(conditions, planned, table, view) { return nil }
            found = direct(conditions, planned, table, view)
        }
        guard let found else { return made(nil, []) }
        let result = made(found.way, found.rest)
        return try result.gives(planned, table, view) ? result : made(nil, [])
    }

    /// Whether the prepared plan is the planner's for the same arguments.
    private func gives(_ planned: Planned, _ table: EntityTable, _ view: RecordLogView) throws -> Bool {
        guard let again = try plan(planned.tree, table, view, QueryScope(view: view)), (again.test == nil) == (planned.plan.test == nil)
        else { return false }
        switch (again.access, planned.plan.access) {
        case (.scan, .scan): return true
        case (.index(let a), .index(let b)):
            return a.index === b.index && a.ranges == b.ranges && (a.order == nil) == (b.order == nil) && a.key == b.key
        case (.rows(let a), .rows(let b)): return a.list == b.list
        default: return false
        }
    }

    /// The way for conditions on the table's own columns.
    private static func direct(
        _ conditions: [PreparedCondition], _ planned: Planned, _ table: EntityTable, _ view: RecordLogView
    ) -> (way: Way, rest: [PreparedCondition])? {
        let candidates = candidates(conditions, planned, table, view)
        // The argument decides whether a text index or another way is cheaper, but for a uniqueness constraint's value.
        let mayNeedTerms = conditions.contains { $0.kind == .string && table.hasTextIndex($0.property) }
        switch planned.plan.access {
        case .scan: return candidates.isEmpty && !mayNeedTerms ? (.scan, conditions) : nil
        case .index(let scan):
            guard scan.key != nil || !mayNeedTerms, let range = PreparedRange(scan.index, conditions) else { return nil }
            let rest = conditions.indices.filter { !range.answered.contains($0) }.map { conditions[$0] }
            let isShortest = planned.hasLimit && !planned.isCount && rest.isEmpty && scan.ranges.count == 1
                && (planned.sortProperties?.isEmpty == true || scan.order != nil) && candidates.allSatisfy { $0.partial == nil }
            guard scan.key != nil || isShortest || candidates.count == 1 else { return nil }
            let order = scan.order.map { IndexScan.Order(partCount: $0.partCount, isDescending: $0.isDescending, key: $0.hasConstants ? nil : $0.key) }
            return (
                .index(PreparedScan(
                    index: scan.index, range: range, order: order, isUnique: scan.key != nil, hasOneRange: scan.ranges.count == 1)), rest)
        case .nothing, .text, .rows, .union: return nil
        }
    }

    private static func candidates(
        _ conditions: [PreparedCondition], _ planned: Planned, _ table: EntityTable, _ view: RecordLogView
    ) -> [TableIndex] {
        // A list is one value where these arguments make one range of it.
        var isOneValue = true
        if case .index(let scan) = planned.plan.access { isOneValue = scan.ranges.count == 1 }
        let fixed = conditions.filter { $0.isEquality || $0.isList && isOneValue }
        return candidates(conditions.map(\.property), fixed: fixed.map(\.property), planned, table, view)
    }

    /// The indexes that the planner would price; see `QueryPlanner.mayServe`.
    /// - Parameters:
    ///   - named: the properties with conditions.
    ///   - fixed: those of them that have one value in all rows.
    private static func candidates(
        _ named: [Int], fixed: [Int], _ planned: Planned, _ table: EntityTable, _ view: RecordLogView
    ) -> [TableIndex] {
        var result: [TableIndex] = []
        for index in table.indexes where view.snapshot.hasIndex(index.id) {
            if let partial = index.partial {
                if partial.mayBeImplied(by: named, table) { result.append(index) }
                continue
            }
            guard let leading = index.leading else { continue }
            var isCandidate = named.contains(leading)
            if let sort = planned.sortProperties, !sort.isEmpty {
                isCandidate = isCandidate || sort.contains(leading) || sort.allSatisfy(fixed.contains)
            }
            if isCandidate { result.append(index) }
        }
        return result
    }

    private static func mayUseIndex(_ conditions: [PreparedCondition], _ planned: Planned, _ table: EntityTable, _ view: RecordLogView) -> Bool {
        let candidates = candidates(conditions, planned, table, view)
        return candidates.count == 1 && PreparedRange(candidates[0], conditions) != nil
    }

    // MARK: Relationships

    /// The condition at the other end of a relationship, and the only table that may have it.
    private static func condition(
        _ stated: FormatTemplate.Condition, _ table: EntityTable, _ view: RecordLogView
    ) -> (PreparedCondition, EntityTable)? {
        guard let relationship = table.runtime.index(of: stated.keys[0]), let entity = table.runtime.properties[relationship].destination,
            entity.concreteFamily.count == 1, entity.concreteFamily[0] === entity,
            let target = view.schema.tables.lazy.compactMap({ $0 }).first(where: { $0.runtime.entity === entity }),
            target.indexes.count <= indexesMax, let property = target.runtime.index(of: stated.keys[1]),
            target.runtime.properties[property].kind != .toOne, let condition = PreparedCondition(stated, property, target.runtime)
        else { return nil }
        return (condition, target)
    }

    /// The way for one comparison of an attribute at the other end of a relationship.
    private static func related(
        _ stated: FormatTemplate.Condition, _ condition: PreparedCondition, _ other: EntityTable, _ planned: Planned, _ table: EntityTable,
        _ view: RecordLogView
    ) throws -> Way? {
        guard let property = table.runtime.index(of: stated.keys[0]), let target = try target(condition, other, planned, view) else { return nil }
        switch (table.runtime.properties[property].kind, stated.comparison.modifier, planned.plan.access) {
        case (.toOne, .direct, .index(let scan)):
            // `!=`, and `== nil`, hold without a destination too, and no index knows those rows. Ranges of an index of one part give no order.
            guard stated.comparison.comparison != .notEqual, !condition.isConstant, let attributes = scan.index.attributes, attributes.count == 1,
                attributes[0].property == property, !attributes[0].isDescending, scan.order == nil,
                candidates([property], fixed: [property], planned, table, view).count == 1
            else { return nil }
            return .through(scan.index, target)
        case (.toMany, .any, .rows):
            guard let source = PredicateCompiler(table: table, view: view).source(property) else { return nil }
            return .owners(source, target)
        default: return nil
        }
    }

    private static func target(
        _ condition: PreparedCondition, _ table: EntityTable, _ planned: Planned, _ view: RecordLogView
    ) throws -> Target? {
        guard let test = condition.filter(table, view, planned.tree) else { return nil }
        let plan = try QueryPlanner(view: view, table: table, scope: QueryScope(view: view), depth: 1).plan(test)
        let inner = Planned(tree: planned.tree, sort: [], sortProperties: [], hasLimit: false, isCount: false, plan: plan)
        guard let (way, rest) = direct([condition], inner, table, view) else { return nil }
        return Target(table: table.id, plan: PreparedPlan(
            number: planned.tree.number ?? 0, sort: [], hasLimit: false, isCount: false, way: way, rest: rest, table, view))
    }
}
