import RecordLog

/// The use of one index for a query.
extension QueryPlanner {
    /// A scan that an index can give.
    struct IndexChoice {
        let scan: IndexScan
        /// The tests that its ranges do not cover.
        let rest: [RowFilter]
        /// Whether other arguments bind the index in the same way.
        let isFixed: Bool
    }

    /// - Returns: nil where the index gives neither fewer rows nor the order.
    func indexScan(_ index: TableIndex, _ tests: [RowFilter], _ conditions: IndexConditions) -> IndexChoice? {
        guard mayServe(index, conditions) else { return nil }
        var ranges = IndexRanges()
        // The tests that the ranges cover.
        var answered: [Int] = []
        func answer(_ position: Int) {
            if !answered.contains(position) { answered.append(position) }
        }
        var bound = 0, fixed = 0, isFixed = index.partial == nil
        for part in index.parts {
            if let list = conditions.shortestList(part.key) {
                isFixed = isFixed && list.isOnly && ranges.hasRoom(for: list.condition)
                if ranges.hasRoom(for: list.condition) {
                    ranges.bind(list.condition, part)
                    if list.condition.isExact { answer(list.test) }
                    bound += 1
                    if list.condition.components?.count == 1, fixed == bound - 1 { fixed = bound }
                    continue
                }
            }
            let bounds = conditions.bounds(part.key)
            ranges.bind(bounds.map(\.condition), part)
            for bound in bounds where bound.condition.isExact { answer(bound.test) }
            break
        }
        if let partial = index.partial {
            for position in tests.indices where partial.answers(tests[position], table) { answer(position) }
        }
        let list = ranges.keys(nil, scope.key) ?? [.all]
        let order = order(of: index, fixed: fixed, rangeCount: list.count, conditions)
        guard !ranges.isEmpty || index.partial != nil || order != nil else { return nil }
        return IndexChoice(
            scan: IndexScan(index: index, ranges: list, conditions: ranges, order: order),
            rest: Self.rest(of: tests, without: answered), isFixed: isFixed)
    }

    /// The tests but for those at some positions, which are different ones.
    static func rest(of tests: [RowFilter], without answered: [Int]) -> [RowFilter] {
        answered.count == tests.count ? [] : tests.indices.filter { !answered.contains($0) }.map { tests[$0] }
    }

    /// Whether an index may help: a condition or the order concerns its first part.
    private func mayServe(_ index: TableIndex, _ conditions: IndexConditions) -> Bool {
        guard index.partial == nil, let first = index.parts.first?.key else { return true }
        if conditions.isNamed(first) { return true }
        guard let sort, !sort.isEmpty else { return false }
        // If every sort key has the same value in all rows, any index gives the order.
        return sort.contains { $0.key == first } || sort.allSatisfy { conditions.isNamed($0.key) }
    }

    func priced(_ found: IndexChoice, _ estimates: Estimates) throws -> AccessPlan {
        let ranges = found.scan.ranges
        return try priced(
            .index(found.scan), entries: try estimates.entries(found.scan.index.id, ranges), ranges: ranges.count, found.rest, estimates)
    }

    /// Returns the plan of a scan of one range in which every row matches, in the requested order, with a limit. No other plan reads fewer rows,
    /// so none is priced.
    func shortest(_ found: IndexChoice) -> AccessPlan? {
        guard let limit, !isCount, found.rest.isEmpty, found.scan.ranges.count == 1, sort?.isEmpty == true || found.scan.order != nil else {
            return nil
        }
        return AccessPlan(
            access: .index(found.scan), test: nil, rows: Double(limit), cost: Cost.range + Double(limit) * (Cost.entry + Cost.row))
    }

    /// Returns the order that a scan of the index gives, where it is the requested one. The first `fixed` parts are constant in the scan.
    func order(of index: TableIndex, fixed: Int, rangeCount: Int, _ conditions: IndexConditions) -> IndexScan.Order? {
        guard let sort, !sort.isEmpty else { return nil }
        // A key that is the same for all rows has no effect on the order, at any position.
        func isSame(_ key: IndexKey) -> Bool { conditions.exactValue(of: key) != nil }
        var at = rangeCount > 1 ? 0 : fixed
        var isDescending: Bool?
        // The position of each sort key in the index; nil for a constant key.
        var positions: [Int?] = []
        for sortKey in sort {
            guard !isSame(sortKey.key) else {
                positions.append(nil)
                continue
            }
            while at < index.parts.count, isSame(index.parts[at].key) { at += 1 }
            guard at < index.parts.count, index.parts[at].key == sortKey.key else { return nil }
            let isReversed = index.parts[at].isAscending != sortKey.isAscending
            guard isDescending == nil || isDescending == isReversed else { return nil }
            isDescending = isReversed
            positions.append(at)
            at += 1
        }
        let isReversed = isDescending ?? false
        let key = zip(sort, positions).map { sortKey, position -> IndexScan.Order.Component in
            if let position { return .part(position) }
            let value = conditions.exactValue(of: sortKey.key).flatMap { conditions[$0]?.components?.first } ?? []
            return .constant(sortKey.isAscending != isReversed ? value : value.map { ~$0 })
        }
        return IndexScan.Order(partCount: at, isDescending: isReversed, key: key)
    }
}
