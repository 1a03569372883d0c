import RecordLog

/// What one index can do for a query.
extension QueryPlanner {
    /// More combinations of equal values are tested row by row.
    private static let prefixesMax = 10_000

    /// - Returns: the walk, and the tests that its ranges do not answer; nil where the index gives neither fewer rows nor the order.
    func walk(_ index: TableIndex, _ tests: [RowTest], _ conditions: [IndexCondition?]) -> (walk: IndexWalk, rest: [RowTest])? {
        guard mayServe(index, conditions) else { return nil }
        var prefixes: [[UInt8]] = [[]]
        var ranges: [KeyRange]?
        // The tests that the ranges answer.
        var answered: [Int] = []
        func answer(_ place: Int) {
            if !answered.contains(place) { answered.append(place) }
        }
        var bound = 0, fixed = 0
        loop: for part in index.parts {
            if let equal = Self.shortestList(part.key, conditions), let list = conditions[equal]?.components,
                prefixes.count * list.count <= Self.prefixesMax
            {
                let components = list.map { part.isAscending ? $0 : $0.map { ~$0 } }
                prefixes = prefixes.flatMap { prefix in components.map { prefix + $0 } }
                if conditions[equal]?.isExact == true { answer(equal) }
                bound += 1
                if list.count == 1, fixed == bound - 1 { fixed = bound }
                continue
            }
            if let (range, used) = Self.range(part.key, conditions) {
                let stretch = part.isAscending ? range : range.complemented
                ranges = prefixes.map(stretch.under)
                for place in used where conditions[place]?.isExact == true { answer(place) }
            }
            break loop
        }
        if let partial = index.partial {
            for place in tests.indices where partial.answers(tests[place], table) { answer(place) }
        }
        let isBound = bound > 0 || ranges != nil || index.partial != nil
        let list = KeyRange.sorted(ranges ?? (bound > 0 ? prefixes.map(KeyRange.prefix) : [.all]))
        let order = order(of: index, fixed: fixed, rangeCount: list.count, conditions)
        guard isBound || order != nil else { return nil }
        return (
            IndexWalk(index: index, ranges: list, order: order),
            answered.count == tests.count ? [] : tests.indices.filter { !answered.contains($0) }.map { tests[$0] }
        )
    }

    /// Whether an index is worth a closer look: something is said of what it begins with.
    private func mayServe(_ index: TableIndex, _ conditions: [IndexCondition?]) -> Bool {
        guard index.partial == nil, let first = index.parts.first?.key else { return true }
        if Self.isNamed(first, conditions) { return true }
        guard let sort, !sort.isEmpty else { return false }
        // Where the whole order is said to be the same for all rows, any index has it.
        return sort.contains { $0.key == first } || sort.allSatisfy { Self.isNamed($0.key, conditions) }
    }

    private static func isNamed(_ key: IndexKey, _ conditions: [IndexCondition?]) -> Bool {
        for place in conditions.indices where conditions[place]?.key == key { return true }
        return false
    }

    /// The condition that has the fewest values of a key to offer.
    private static func shortestList(_ key: IndexKey, _ conditions: [IndexCondition?]) -> Int? {
        var best: (place: Int, count: Int)?
        for place in conditions.indices where conditions[place]?.key == key {
            guard let count = conditions[place]?.components?.count, count < best?.count ?? .max else { continue }
            best = (place, count)
        }
        return best?.place
    }

    func priced(_ found: (walk: IndexWalk, rest: [RowTest]), _ estimates: Estimates) throws -> AccessPlan {
        let ranges = found.walk.ranges
        return try priced(
            .index(found.walk), entries: try estimates.entries(found.walk.index.id, ranges), ranges: ranges.count, found.rest, estimates)
    }

    /// The plan of a walk of one range in which every row matches, in the order wanted, for a limited number of them: no way visits fewer
    /// rows, so nothing is counted or compared.
    func shortest(_ found: (walk: IndexWalk, rest: [RowTest])) -> AccessPlan? {
        guard let limit, !isCount, found.rest.isEmpty, found.walk.ranges.count == 1, sort?.isEmpty == true || found.walk.order != nil else {
            return nil
        }
        return AccessPlan(
            access: .index(found.walk), test: nil, rows: Double(limit), cost: Cost.range + Double(limit) * (Cost.entry + Cost.row))
    }

    private static func range(_ key: IndexKey, _ conditions: [IndexCondition?]) -> (ComponentRange, used: [Int])? {
        // A prefix and the ends of a range do not narrow each other; the prefix alone is taken, and the others are tested.
        for place in conditions.indices where conditions[place]?.key == key {
            if case .prefix(let bytes)? = conditions[place]?.kind { return (ComponentRange(prefix: bytes), [place]) }
        }
        var result = ComponentRange()
        var used: [Int] = []
        for place in conditions.indices where conditions[place]?.key == key {
            guard case .range(let lower, let lowerIsOpen, let upper, let upperIsOpen)? = conditions[place]?.kind else { continue }
            if let lower { result.narrow(lower: lower, isOpen: lowerIsOpen) }
            if let upper { result.narrow(upper: upper, isOpen: upperIsOpen) }
            used.append(place)
        }
        return used.isEmpty ? nil : (result, used)
    }

    /// Whether walking the index, its first `fixed` parts being the same throughout, gives the order, and which way.
    func order(of index: TableIndex, fixed: Int, rangeCount: Int, _ conditions: [IndexCondition?]) -> IndexWalk.Order? {
        guard let sort, !sort.isEmpty else { return nil }
        // What is the same for all rows orders nothing, wherever it stands.
        func isSame(_ key: IndexKey) -> Bool { Self.exactValue(of: key, conditions) != nil }
        let start = rangeCount > 1 ? 0 : fixed
        var at = start
        var isDescending: Bool?
        for wanted in sort where !isSame(wanted.key) {
            while at < index.parts.count, isSame(index.parts[at].key) { at += 1 }
            guard at < index.parts.count, index.parts[at].key == wanted.key else { return nil }
            let isReversed = index.parts[at].isAscending != wanted.isAscending
            guard isDescending == nil || isDescending == isReversed else { return nil }
            isDescending = isReversed
            at += 1
        }
        return IndexWalk.Order(parts: start..<at, isDescending: isDescending ?? false)
    }
}

extension KeyRange {
    static func sorted(_ ranges: [KeyRange]) -> [KeyRange] {
        ranges.count < 2 ? ranges : ranges.sorted { ($0.lower ?? []).lexicographicallyPrecedes($1.lower ?? []) }
    }
}

/// How many rows conditions leave, as far as indexes tell. Asked once for each condition and range.
final class Estimates {
    private let planner: QueryPlanner
    private let conditions: [IndexCondition?]
    private var known: [ObjectIdentifier: Double] = [:]

    /// What a condition of which no index tells is taken to leave.
    private static let unknown = 0.25
    /// Of more ranges some are asked about.
    private static let rangesAsked = 32

    init(planner: QueryPlanner, conditions: [IndexCondition?]) {
        self.planner = planner
        self.conditions = conditions
    }

    func entries(_ index: IndexID, _ ranges: [KeyRange]) throws -> Double {
        let step = max(1, ranges.count / Self.rangesAsked)
        var sum = 0, asked = 0
        for place in stride(from: 0, to: ranges.count, by: step) {
            sum += try planner.view.snapshot.estimate(index, ranges[place])
            asked += 1
        }
        return asked == ranges.count ? Double(sum) : Double(sum) / Double(asked) * Double(ranges.count)
    }

    /// The part of the rows for which all of the tests hold.
    func selectivity(_ tests: [RowTest]) throws -> Double {
        try tests.reduce(1) { try $0 * selectivity($1) }
    }

    private func selectivity(_ test: RowTest) throws -> Double {
        let rows = planner.rowCount
        guard rows > 0 else { return 0 }
        if let marked = (test as? RowsTest)?.rows { return min(1, Double(marked.count) / rows) }
        guard let condition = test.indexCondition else { return Self.unknown }
        if let before = known[ObjectIdentifier(test)] { return before }
        let snapshot = planner.view.snapshot
        guard let index = planner.table.indexes.first(where: {
            $0.parts.first?.key == condition.key && $0.partial == nil && snapshot.hasIndex($0.id)
        }), let part = index.parts.first else { return Self.unknown }
        let ranges: [KeyRange]
        switch condition.kind {
        case .equal(let list): ranges = list.map { KeyRange.prefix(part.isAscending ? $0 : $0.map { ~$0 }) }
        case .prefix(let bytes): ranges = [stretch(ComponentRange(prefix: bytes), part)]
        case .range(let lower, let lowerIsOpen, let upper, let upperIsOpen):
            var range = ComponentRange()
            if let lower { range.narrow(lower: lower, isOpen: lowerIsOpen) }
            if let upper { range.narrow(upper: upper, isOpen: upperIsOpen) }
            ranges = [stretch(range, part)]
        }
        let result = min(1, try entries(index.id, ranges) / rows)
        known[ObjectIdentifier(test)] = result
        return result
    }

    private func stretch(_ range: ComponentRange, _ part: TableIndex.Part) -> KeyRange {
        (part.isAscending ? range : range.complemented).under([])
    }
}
