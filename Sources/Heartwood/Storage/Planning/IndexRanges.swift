import RecordLog

/// The ranges of an index that conditions bind: values of its leading parts, and bounds of the part behind them. The same conditions give
/// other ranges for other arguments.
struct IndexRanges {
    private struct Part {
        let condition: IndexCondition
        let isDescending: Bool
    }

    /// A value for each part from the first on, or a list of values.
    private var values: [Part] = []
    /// The conditions on the next part, which must all hold.
    private var bounds: [IndexCondition] = []
    private var boundsAreDescending = false
    /// The product of the lists' lengths when the ranges were planned.
    private var combinations = 1

    /// The greatest number of combinations of values; beyond it a condition is tested on each row.
    static let combinationsMax = 10_000

    var isEmpty: Bool { values.isEmpty && bounds.isEmpty }
    /// The only condition, if it is a value or a list.
    var onlyValue: IndexCondition? { values.count == 1 && bounds.isEmpty ? values[0].condition : nil }

    init() {}

    /// The range of one condition on an index's first part.
    init(_ condition: IndexCondition, _ part: TableIndex.Part) {
        if condition.components == nil { bind([condition], part) } else { bind(condition, part) }
    }

    /// Whether the ranges stay few enough with another value or list.
    func hasRoom(for condition: IndexCondition) -> Bool { combinations * (condition.components?.count ?? 1) <= Self.combinationsMax }

    /// Binds the next part to a value or a list.
    mutating func bind(_ condition: IndexCondition, _ part: TableIndex.Part) {
        combinations *= condition.components?.count ?? 1
        values.append(Part(condition: condition, isDescending: !part.isAscending))
    }

    /// Bounds the next part. No part behind it can be bound.
    mutating func bind(_ conditions: [IndexCondition], _ part: TableIndex.Part) {
        (bounds, boundsAreDescending) = (conditions, !part.isAscending)
    }

    // MARK: Keys

    /// Returns the ranges of keys, ascending.
    /// - Parameters:
    ///   - binding: the arguments; nil for those that the ranges were planned with.
    ///   - key: a buffer.
    /// - Returns: nil for an argument of another type than its column's, or too many ranges.
    func keys(_ binding: PlanBinding?, _ key: KeyBuilder) -> [KeyRange]? {
        guard !isEmpty else { return [.all] }
        key.removeAll()
        var ranges: [KeyRange] = []
        guard extend(values[...], binding, key, &ranges) else { return nil }
        guard ranges.count > 1 else { return ranges }
        let sorted = KeyRange.sorted(ranges)
        return sorted.enumerated().compactMap { $0 > 0 && sorted[$0 - 1] == $1 ? nil : $1 }
    }

    /// Appends the ranges of all combinations of the parts' values.
    private func extend(_ parts: ArraySlice<Part>, _ binding: PlanBinding?, _ key: KeyBuilder, _ ranges: inout [KeyRange]) -> Bool {
        guard let part = parts.first else {
            guard binding == nil || ranges.count < Self.combinationsMax, let range = range(binding, key) else { return false }
            ranges.append(range)
            return true
        }
        let rest = parts.dropFirst(), start = key.count
        if let binding, case .argument(let parameter) = part.condition.operand {
            guard parameter.isList else {
                return parameter.append(to: key, descending: part.isDescending, binding) && extend(rest, binding, key, &ranges)
            }
            guard parameter.takes(binding.arguments) else { return false }
            for member in parameter.members(binding.arguments) {
                key.truncate(to: start)
                guard parameter.append(member, to: key, descending: part.isDescending, binding), extend(rest, binding, key, &ranges) else { return false }
            }
            return true
        }
        for component in part.condition.components ?? [] {
            key.truncate(to: start)
            key.append(component: component, descending: part.isDescending)
            guard extend(rest, binding, key, &ranges) else { return false }
        }
        return true
    }

    /// Returns the range of the entries that begin with the key and meet the bounds.
    private func range(_ binding: PlanBinding?, _ key: KeyBuilder) -> KeyRange? {
        guard !bounds.isEmpty else { return .prefix(key.bytes) }
        var range = KeyRange()
        for bound in bounds where !narrow(&range, bound, binding, key) { return nil }
        // Every value's component starts with the tag, and null's does not. An order comparison excludes NaN, whose key comes first.
        let start = key.count, hasLeast = boundsAreDescending ? range.upper != nil : range.lower != nil
        if !hasLeast, let least = bounds.lazy.compactMap(\.leastOfArgument).first { narrow(&range, least, isLower: true, key) }
        guard range.lower == nil || range.upper == nil else { return range }
        key.append(textPrefix: "", descending: boundsAreDescending)
        if range.lower == nil { range.lower = key.bytes }
        if range.upper == nil { range.upper = KeyRange.successor(of: key.bytes) }
        key.truncate(to: start)
        return range
    }

    /// Narrows the range to the entries that begin with the key and meet a bound.
    private func narrow(_ range: inout KeyRange, _ bound: IndexCondition, _ binding: PlanBinding?, _ key: KeyBuilder) -> Bool {
        guard let binding, case .argument(let parameter) = bound.operand else {
            switch bound.kind {
            case .equal: break
            case .prefix(let bytes):
                narrow(&range, bytes, isLower: true, key)
                narrow(&range, bytes, isLower: false, key)
            case .range(let lower, let lowerIsOpen, let upper, let upperIsOpen):
                if let lower { narrow(&range, lower, isLower: true, isOpen: lowerIsOpen, key) }
                if let upper { narrow(&range, upper, isLower: false, isOpen: upperIsOpen, key) }
            }
            return true
        }
        // By the comparison: the argument's component is in the buffer now, and a kind would need a copy of it.
        let start = key.count
        guard parameter.append(to: key, descending: boundsAreDescending, binding) else { return false }
        switch parameter.comparison {
        case .less, .lessOrEqual: narrow(&range, isLower: false, isOpen: parameter.comparison == .less, key)
        case .greater, .greaterOrEqual: narrow(&range, isLower: true, isOpen: parameter.comparison == .greater, key)
        default:
            narrow(&range, isLower: true, isOpen: false, key)
            narrow(&range, isLower: false, isOpen: false, key)
        }
        key.truncate(to: start)
        return true
    }

    private func narrow(_ range: inout KeyRange, _ component: [UInt8], isLower: Bool, isOpen: Bool = false, _ key: KeyBuilder) {
        let start = key.count
        key.append(component: component, descending: boundsAreDescending)
        narrow(&range, isLower: isLower, isOpen: isOpen, key)
        key.truncate(to: start)
    }

    /// Narrows one end of the range to the key.
    private func narrow(_ range: inout KeyRange, isLower: Bool, isOpen: Bool, _ key: KeyBuilder) {
        let bytes = key.bytes
        // In a descending part greater values come first.
        if isLower != boundsAreDescending {
            let new = isOpen ? KeyRange.successor(of: bytes) : bytes
            if let new, range.lower?.lexicographicallyPrecedes(new) ?? true { range.lower = new }
        } else {
            let new = isOpen ? bytes : KeyRange.successor(of: bytes)
            if let new, range.upper.map(new.lexicographicallyPrecedes) ?? true { range.upper = new }
        }
    }
}

extension KeyRange {
    static func sorted(_ ranges: [KeyRange]) -> [KeyRange] {
        ranges.count < 2 ? ranges : ranges.sorted { ($0.lower ?? []).lexicographicallyPrecedes($1.lower ?? []) }
    }
}
