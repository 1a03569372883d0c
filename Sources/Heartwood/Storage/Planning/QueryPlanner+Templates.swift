/// Which plans serve other arguments.
extension QueryPlanner {
    /// Adds the template to a plan, where arguments cannot change the choice: no index serves, or only one. How many rows it finds is learned from
    /// its use (`CachedPlan.note`).
    /// - Parameter scans: the scans that the planner priced.
    func kept(_ plan: AccessPlan, among scans: [IndexChoice], _ tests: [RowFilter]) -> AccessPlan {
        guard scope.hasParameters else { return plan }
        switch plan.access {
        case .scan where scans.isEmpty && !mayNeedTerms(tests): return kept(plan, .scan, rest: tests, tests)
        case .index(let scan) where scans.count == 1 && scans[0].scan === scan && !mayNeedTerms(tests): return kept(plan, scans[0], tests)
        case .rows:
            guard tests.count == 1, let search = (tests[0] as? RowSetFilter)?.search else { return plan }
            return kept(plan, .owners(search.source, search.target), rest: [], tests)
        default: return plan
        }
    }

    /// Adds the template to the plan of one index, which is the choice for all arguments.
    func kept(_ plan: AccessPlan, _ choice: IndexChoice, _ tests: [RowFilter]) -> AccessPlan {
        guard scope.hasParameters, choice.isFixed, let ranges = choice.scan.conditions else { return plan }
        let scan = choice.scan
        if let value = ranges.onlyValue, case .search(let target) = value.operand {
            // The references come in their own order, and behind each the rows as they are stored.
            guard let target, scan.index.parts.count == 1, scan.index.parts[0].isAscending, scan.order == nil, choice.rest.isEmpty else { return plan }
            return kept(plan, .through(scan.index, target), rest: [], tests)
        }
        let order = scan.order.map { IndexScan.Order(partCount: $0.partCount, isDescending: $0.isDescending, key: $0.hasConstants ? nil : $0.key) }
        let way = PlanTemplate.Way.index(PlanTemplate.Scan(index: scan.index, ranges: ranges, order: order, isUnique: scan.key != nil))
        return kept(plan, way, rest: choice.rest, tests)
    }

    private func kept(_ plan: AccessPlan, _ way: PlanTemplate.Way, rest: [RowFilter], _ tests: [RowFilter]) -> AccessPlan {
        guard rest.allSatisfy(\.isBindable) else { return plan }
        var plan = plan
        plan.template = PlanTemplate(way, rest: rest, lists: tests.compactMap { test in
            guard let test = test as? ParameterFilter, test.parameter.isList else { return nil }
            return PlanTemplate.List(parameter: test.parameter, isOneValue: test.indexCondition?.components?.count == 1)
        })
        return plan
    }

    /// Whether a text index may serve, which depends on the arguments.
    private func mayNeedTerms(_ tests: [RowFilter]) -> Bool {
        !table.textIndexes.isEmpty && tests.contains { ($0 as? ColumnFilter).map { table.hasTextIndex($0.property) } ?? true }
    }
}
