import Foundation

extension PredicateFunction {
    /// Applies the function. An argument that is null, or of a type that the function does not take, gives null.
    func apply(_ arguments: [PredicateValue]) -> PredicateValue {
        if isAggregate { return aggregate(arguments) }
        switch (self, arguments.count) {
        case (.now, _): return .date(Date().timeIntervalSinceReferenceDate)
        case (.random, _): return .integer(Int64.random(in: 0...Int64(Int32.max)))
        case (_, 1): return apply(arguments[0])
        case (_, 2): return apply(arguments[0], arguments[1])
        default: return .null
        }
    }

    private func apply(_ value: PredicateValue) -> PredicateValue {
        switch self {
        case .noIndex: return value
        case .distinct: return value.listed.map { .collection(PredicateValue.distinct($0)) } ?? value
        case .uppercase, .uppercaseString: return value.mapText { $0.uppercased() }
        case .lowercase, .lowercaseString: return value.mapText { $0.lowercased() }
        case .capitalizedString: return value.mapText { $0.capitalized }
        case .canonical: return value.mapText { TextMatcher.fold($0, [.caseInsensitive, .diacriticInsensitive]) }
        case .length:
            guard case .text(let text) = value else { return .null }
            return .integer(Int64(text.utf16.count))
        case .integerValue, .doubleValue:
            guard let number = PredicateNumber(PredicateCast.number.apply(value)) else { return .null }
            return self == .doubleValue ? .double(number.double) : number.integer.map(PredicateValue.integer) ?? .null
        case .intervalSince1970:
            guard case .date(let seconds) = value else { return .null }
            return .double(seconds + Date.timeIntervalBetween1970AndReferenceDate)
        case .intervalSinceReference:
            guard case .date(let seconds) = value else { return .null }
            return .double(seconds)
        case .first: return value.listed?.first ?? .null
        case .last: return value.listed?.last ?? .null
        case .size: return value.listed.map { .integer(Int64($0.count)) } ?? .null
        default: return PredicateNumber(value).map(apply) ?? .null
        }
    }

    private func apply(_ number: PredicateNumber) -> PredicateValue {
        switch self {
        case .squareRoot: .double(number.double.squareRoot())
        case .log: .double(Foundation.log10(number.double))
        case .naturalLog: .double(Foundation.log(number.double))
        case .exponential: .double(Foundation.exp(number.double))
        case .floor: number.rounded(.down)
        case .ceiling: number.rounded(.up)
        case .truncate: number.rounded(.towardZero)
        case .absolute: number.absolute
        case .onesComplement: number.integer.map { .integer(~$0) } ?? .null
        case .randomBelow: number.integer.flatMap { $0 > 0 ? .integer(Int64.random(in: 0..<$0)) : nil } ?? .null
        default: .null
        }
    }

    private func apply(_ a: PredicateValue, _ b: PredicateValue) -> PredicateValue {
        switch (self, a, b) {
        case (.cast, _, .text(let name)): return PredicateCast(rawValue: name)?.apply(a) ?? .null
        case (.appending, .text(let a), .text(let b)): return .text(a + b)
        case (.element, _, _): return a.element(b)
        // A date counts as a number of seconds.
        case (.subtract, .date(let a), .date(let b)), (.intervalSince, .date(let a), .date(let b)): return .double(a - b)
        case (.add, .date(let a), _), (.addingInterval, .date(let a), _): return PredicateNumber(b).map { .date(a + $0.double) } ?? .null
        case (.subtract, .date(let a), _): return PredicateNumber(b).map { .date(a - $0.double) } ?? .null
        case (.add, _, .date(let b)): return PredicateNumber(a).map { .date(b + $0.double) } ?? .null
        default: break
        }
        guard let x = PredicateNumber(a), let y = PredicateNumber(b) else { return .null }
        switch self {
        case .add, .subtract, .multiply, .divide, .modulus, .power: return PredicateNumber.combine(self, x, y)?.value ?? .null
        default: break
        }
        guard let p = x.integer, let q = y.integer else { return .null }
        switch self {
        case .bitwiseAnd: return .integer(p & q)
        case .bitwiseOr: return .integer(p | q)
        case .bitwiseXor: return .integer(p ^ q)
        case .leftShift: return .integer(p << q)
        case .rightShift: return .integer(p >> q)
        default: return .null
        }
    }

    // MARK: Many values

    /// Aggregates the members of one collection, or all arguments. Nulls are skipped, except that `count:` of a collection counts all members.
    func aggregate(_ arguments: [PredicateValue]) -> PredicateValue {
        let all = arguments.count == 1 ? arguments[0].listed ?? arguments : arguments.flatMap { $0.listed ?? [$0] }
        if self == .count { return .integer(Int64(arguments.count == 1 && arguments[0].isNull ? 0 : all.count)) }
        let values = all.filter { !$0.isNull }
        switch self {
        case .min: return values.reduce(.null) { $1.isFurther(than: $0, .orderedAscending) ? $1 : $0 }
        case .max: return values.reduce(.null) { $1.isFurther(than: $0, .orderedDescending) ? $1 : $0 }
        default: break
        }
        let numbers = values.compactMap(PredicateNumber.init)
        let sum = numbers.reduce(.integer(0)) { total, number in
            PredicateNumber(total).flatMap { PredicateNumber.combine(.add, $0, number) }?.value ?? .null
        }
        if self == .sum { return sum }
        guard !numbers.isEmpty else { return .null }
        let doubles = numbers.map(\.double).sorted()
        let average = doubles.reduce(0, +) / Double(doubles.count)
        switch self {
        case .average: return .double(average)
        case .median:
            let middle = doubles.count / 2
            return .double(doubles.count % 2 == 1 ? doubles[middle] : (doubles[middle - 1] + doubles[middle]) / 2)
        case .standardDeviation:
            return .double((doubles.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(doubles.count)).squareRoot())
        default: return .collection(Self.modes(doubles).map(PredicateValue.double))
        }
    }

    /// The most frequent values, each once.
    private static func modes(_ sorted: [Double]) -> [Double] {
        var counts: [(value: Double, count: Int)] = []
        for value in sorted {
            if let last = counts.last, last.value == value { counts[counts.count - 1].count += 1 } else { counts.append((value, 1)) }
        }
        let most = counts.reduce(0) { Swift.max($0, $1.count) }
        return counts.filter { $0.count == most }.map(\.value)
    }
}

extension PredicateValue {
    /// Whether this value replaces the least or the greatest so far. The result does not depend on the values' order: NaN is kept only if there
    /// is no other value.
    func isFurther(than known: PredicateValue, _ wanted: ComparisonResult) -> Bool {
        known.isNull || known.isNotANumber || !isNotANumber && ordered(known) == wanted
    }

    fileprivate func mapText(_ body: (String) -> String) -> PredicateValue {
        guard case .text(let text) = self else { return .null }
        return .text(body(text))
    }

    /// The members of a collection or the values of a dictionary; nil for anything else.
    var listed: [PredicateValue]? {
        switch self {
        case .collection(let members): members
        case .other(let object): (object as? NSDictionary)?.allValues.map { PredicateValue($0) }
        default: nil
        }
    }

    /// `self[index]`: by index, or by a dictionary's key. Null if nothing is found.
    fileprivate func element(_ index: PredicateValue) -> PredicateValue {
        if case .collection(let members) = self, let position = PredicateNumber(index)?.integer {
            return position >= 0 && position < members.count ? members[Int(position)] : .null
        }
        if case .other(let object) = self, let dictionary = object as? NSDictionary, let key = index.object {
            return PredicateValue(dictionary.object(forKey: key))
        }
        return .null
    }
}
