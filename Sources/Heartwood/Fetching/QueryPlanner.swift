import RecordLog

/// How the rows of one table are found.
struct AccessPlan {
    /// nil: by a scan of the table.
    var index: TableIndex?
    /// The stretches of the index to walk, in this order.
    var ranges: [KeyRange] = []
    var isDescending = false
    /// Whether the rows come in the order that is asked for.
    var isOrdered = false
}

/// Chooses an index for a compiled predicate and an order.
///
/// Equality on a unique index is best, then equality, lists, ranges and prefixes, by how many leading columns are bound;
/// an index that gives the order alone is taken where nothing better is and a limit or the whole table is asked for.
struct QueryPlanner {
    let table: EntityTable
    let test: RowTest?
    /// The order as properties of this table; nil where it goes through a relationship.
    let sort: [TableIndex.Part]?

    func plan() -> AccessPlan {
        var best = AccessPlan()
        var bestScore = 0
        for index in table.indexes {
            guard let candidate = plan(index), candidate.score > bestScore else { continue }
            bestScore = candidate.score
            best = candidate.plan
        }
        return best
    }

    /// The conditions that must all hold.
    private var conditions: [IndexCondition] {
        switch test {
        case let all as AllTest: all.tests.flatMap { ($0 as? AllTest)?.tests ?? [$0] }.compactMap(\.indexCondition)
        case let test?: test.indexCondition.map { [$0] } ?? []
        case nil: []
        }
    }

    private func plan(_ index: TableIndex) -> (plan: AccessPlan, score: Int)? {
        var prefixes: [[UInt8]] = [[]]
        var bound = 0
        var fixed = 0
        var ranges: [KeyRange]?
        var score = 0
        loop: for part in index.parts {
            let matching = conditions.filter { $0.property == part.property }
            if let equal = matching.lazy.compactMap({ condition -> [[UInt8]]? in
                if case .equal(let list) = condition.kind { return list }
                return nil
            }).min(by: { $0.count < $1.count }), prefixes.count * equal.count <= 10_000 {
                let components = equal.map { part.isAscending ? $0 : $0.map { ~$0 } }
                prefixes = prefixes.flatMap { prefix in components.map { prefix + $0 } }
                bound += 1
                if equal.count == 1, fixed == bound - 1 { fixed = bound }
                score += equal.count == 1 ? 100 : 60
                continue
            }
            if let found = range(matching, part) {
                ranges = prefixes.map { found.under($0) }
                score += 30
            }
            break loop
        }
        let list = (ranges ?? (bound > 0 ? prefixes.map(KeyRange.prefix) : [.all])).sorted { ($0.lower ?? []).lexicographicallyPrecedes($1.lower ?? []) }
        if bound == index.parts.count, index.isUnique { score += 1000 }
        let (isOrdered, isDescending) = order(index, fixed: fixed, rangeCount: list.count)
        if isOrdered { score += 20 }
        guard score > 0 else { return nil }
        return (AccessPlan(index: index, ranges: isDescending ? list.reversed() : list, isDescending: isDescending, isOrdered: isOrdered), score)
    }

    /// Whether walking the index, its first `fixed` columns being the same throughout, gives the order, and which way.
    private func order(_ index: TableIndex, fixed: Int, rangeCount: Int) -> (isOrdered: Bool, isDescending: Bool) {
        guard let sort, !sort.isEmpty, rangeCount == 1 || fixed == 0 else { return (false, false) }
        let rest = index.parts.dropFirst(fixed)
        guard rest.count >= sort.count else { return (false, false) }
        var isDescending: Bool?
        for (part, wanted) in zip(rest, sort) {
            guard part.property == wanted.property else { return (false, false) }
            let isReversed = part.isAscending != wanted.isAscending
            guard isDescending == nil || isDescending == isReversed else { return (false, false) }
            isDescending = isReversed
        }
        return (true, isDescending ?? false)
    }

    private func range(_ conditions: [IndexCondition], _ part: TableIndex.Part) -> ComponentRange? {
        var result: ComponentRange?
        for condition in conditions {
            switch condition.kind {
            case .equal: continue
            case .prefix(let bytes):
                guard part.isAscending else { continue }
                result = (result ?? ComponentRange()).narrowed(lower: bytes, isOpen: false).narrowed(upper: bytes, isOpen: false)
            case .range(let lower, let lowerIsOpen, let upper, let upperIsOpen):
                var range = result ?? ComponentRange()
                if let lower { range = range.narrowed(lower: lower, isOpen: lowerIsOpen) }
                if let upper { range = range.narrowed(upper: upper, isOpen: upperIsOpen) }
                result = range
            }
        }
        guard let result else { return nil }
        return part.isAscending ? result : result.complemented
    }
}

/// A range of values of one column, null left out.
private struct ComponentRange {
    // Every value's component starts with the tag, and null's does not.
    var lower: [UInt8] = [KeyBuilder.valueTag]
    var lowerIsOpen = false
    var upper: [UInt8] = [KeyBuilder.valueTag]
    var upperIsOpen = false

    func narrowed(lower new: [UInt8], isOpen: Bool) -> ComponentRange {
        guard !new.lexicographicallyPrecedes(lower) else { return self }
        var result = self
        result.lowerIsOpen = new == lower ? lowerIsOpen || isOpen : isOpen
        result.lower = new
        return result
    }

    func narrowed(upper new: [UInt8], isOpen: Bool) -> ComponentRange {
        let isWider = upper.count == 1
        guard isWider || !upper.lexicographicallyPrecedes(new) else { return self }
        var result = self
        result.upperIsOpen = new == upper ? upperIsOpen || isOpen : isOpen
        result.upper = new
        return result
    }

    /// The same values in a descending column.
    var complemented: ComponentRange {
        ComponentRange(lower: upper.map { ~$0 }, lowerIsOpen: upperIsOpen, upper: lower.map { ~$0 }, upperIsOpen: lowerIsOpen)
    }

    /// The stretch of index entries behind a prefix of equal columns.
    func under(_ prefix: [UInt8]) -> KeyRange {
        let low = prefix + lower, high = prefix + upper
        return KeyRange(
            lower: lowerIsOpen ? KeyRange.successor(of: low) : low, upper: upperIsOpen ? high : KeyRange.successor(of: high))
    }
}
