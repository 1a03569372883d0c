import Foundation

/// An aggregate over the objects of each group. `take` leaves nulls out.
class Accumulator {
    /// Adds a group.
    func open() {}
    func add(integer: Int64, to group: Int) { add(.integer(integer), to: group) }
    func add(double: Double, to group: Int) { add(.double(double), to: group) }
    func add(date: Double, to group: Int) { add(.date(date), to: group) }
    func add(_ value: PredicateValue, to group: Int) {}
    func result(of group: Int) -> PredicateValue { .null }

    /// Adds an expression's value; for a collection, each of its members.
    final func take(_ value: PredicateValue, of group: Int) {
        if let members = value.listed {
            for member in members where !member.isNull || self is CountAccumulator { add(member, to: group) }
        } else if !value.isNull {
            add(value, to: group)
        }
    }
}

/// `count:`
final class CountAccumulator: Accumulator {
    private let counts = GroupValues<Int64>()

    override func open() { counts.append(0) }
    override func add(integer: Int64, to group: Int) { counts[group] &+= 1 }
    override func add(_ value: PredicateValue, to group: Int) { counts[group] &+= 1 }
    override func result(of group: Int) -> PredicateValue { .integer(counts[group]) }
}

/// `sum:`, an integer as long as no value is a fraction and no sum overflows. Values that are no numbers do not count.
final class SumAccumulator: Accumulator {
    /// nil after a sum of decimals has failed.
    private let totals = GroupValues<PredicateNumber?>()

    override func open() { totals.append(.integer(0)) }

    override func add(integer: Int64, to group: Int) {
        switch totals[group] {
        case .integer(let total):
            let (sum, isOverflow) = total.addingReportingOverflow(integer)
            totals[group] = isOverflow ? .double(Double(total) + Double(integer)) : .integer(sum)
        case .double(let total): totals[group] = .double(total + Double(integer))
        default: add(.integer(integer), to: group)
        }
    }

    override func add(double: Double, to group: Int) {
        switch totals[group] {
        case .integer(let total): totals[group] = .double(Double(total) + double)
        case .double(let total): totals[group] = .double(total + double)
        default: add(.double(double), to: group)
        }
    }

    override func add(_ value: PredicateValue, to group: Int) {
        guard let number = PredicateNumber(value), let total = totals[group] else { return }
        totals[group] = PredicateNumber.combine(.add, total, number)
    }

    override func result(of group: Int) -> PredicateValue { totals[group]?.value ?? .null }
}

/// `average:` and `stddev:` of numbers as doubles.
final class MomentAccumulator: Accumulator {
    private struct Moments {
        var count = 0.0
        var sum = 0.0
        /// Mean and squares by Welford's method, which stays exact for large numbers that are close to each other.
        var mean = 0.0
        var squares = 0.0
    }

    private let isDeviation: Bool
    private let moments = GroupValues<Moments>()

    init(isDeviation: Bool) {
        self.isDeviation = isDeviation
    }

    override func open() { moments.append(Moments()) }
    override func add(integer: Int64, to group: Int) { add(double: Double(integer), to: group) }

    override func add(double: Double, to group: Int) {
        let found = moments.pointer(at: group)
        found.pointee.count += 1
        found.pointee.sum += double
        guard isDeviation else { return }
        let distance = double - found.pointee.mean
        found.pointee.mean += distance / found.pointee.count
        found.pointee.squares += distance * (double - found.pointee.mean)
    }

    override func add(_ value: PredicateValue, to group: Int) {
        if let number = PredicateNumber(value) { add(double: number.double, to: group) }
    }

    override func result(of group: Int) -> PredicateValue {
        let found = moments[group]
        guard found.count > 0 else { return .null }
        return .double(isDeviation ? (found.squares / found.count).squareRoot() : found.sum / found.count)
    }
}

/// `min:` and `max:` of values that have an order.
final class ExtremumAccumulator: Accumulator {
    private enum Best {
        case none
        case integer(Int64)
        case double(Double)
        case date(Double)
        case value(PredicateValue)
    }

    private let wanted: ComparisonResult
    private let best = GroupValues<Best>()

    init(isMinimum: Bool) {
        wanted = isMinimum ? .orderedAscending : .orderedDescending
    }

    override func open() { best.append(.none) }

    override func add(integer: Int64, to group: Int) {
        switch best[group] {
        case .integer(let known): if wanted == .orderedAscending ? integer < known : integer > known { best[group] = .integer(integer) }
        case .none: best[group] = .integer(integer)
        default: add(.integer(integer), to: group)
        }
    }

    override func add(double: Double, to group: Int) {
        switch best[group] {
        case .double(let known):
            if known.isNaN || (wanted == .orderedAscending ? double < known : double > known) { best[group] = .double(double) }
        case .none: best[group] = .double(double)
        default: add(.double(double), to: group)
        }
    }

    override func add(date: Double, to group: Int) {
        switch best[group] {
        case .date(let known):
            if known.isNaN || (wanted == .orderedAscending ? date < known : date > known) { best[group] = .date(date) }
        case .none: best[group] = .date(date)
        default: add(.date(date), to: group)
        }
    }

    override func add(_ value: PredicateValue, to group: Int) {
        if value.isFurther(than: result(of: group), wanted) { best[group] = .value(value) }
    }

    override func result(of group: Int) -> PredicateValue {
        switch best[group] {
        case .none: .null
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .date(let seconds): .date(seconds)
        case .value(let value): value
        }
    }
}

/// `median:` and `mode:`, which need all numbers at the end.
final class ListAccumulator: Accumulator {
    private let function: PredicateFunction
    private let numbers = GroupValues<[Double]>()

    init(_ function: PredicateFunction) {
        self.function = function
    }

    override func open() { numbers.append([]) }
    override func add(integer: Int64, to group: Int) { numbers.pointer(at: group).pointee.append(Double(integer)) }
    override func add(double: Double, to group: Int) { numbers.pointer(at: group).pointee.append(double) }

    override func add(_ value: PredicateValue, to group: Int) {
        if let number = PredicateNumber(value) { numbers.pointer(at: group).pointee.append(number.double) }
    }

    override func result(of group: Int) -> PredicateValue { function.aggregate([.collection(numbers[group].map(PredicateValue.double))]) }
}

/// The first value that is not null.
final class FirstAccumulator: Accumulator {
    private let values = GroupValues<PredicateValue>()

    override func open() { values.append(.null) }
    override func add(_ value: PredicateValue, to group: Int) { if values[group].isNull { values[group] = value } }
    override func result(of group: Int) -> PredicateValue { values[group] }
}

/// An aggregate in which equal values count once.
final class DistinctAccumulator: Accumulator {
    private let function: PredicateFunction
    private let values = GroupValues<[PredicateValue]>()

    init(_ function: PredicateFunction) {
        self.function = function
    }

    override func open() { values.append([]) }
    override func add(_ value: PredicateValue, to group: Int) { values.pointer(at: group).pointee.append(value) }

    override func result(of group: Int) -> PredicateValue { function.aggregate([.collection(PredicateValue.distinct(values[group]))]) }
}

extension GroupedExpressions.Aggregate {
    var accumulator: Accumulator {
        guard !isDistinct else { return DistinctAccumulator(function) }
        return switch function {
        case .count: CountAccumulator()
        case .sum: SumAccumulator()
        case .average: MomentAccumulator(isDeviation: false)
        case .standardDeviation: MomentAccumulator(isDeviation: true)
        case .min: ExtremumAccumulator(isMinimum: true)
        case .max: ExtremumAccumulator(isMinimum: false)
        case .first: FirstAccumulator()
        default: ListAccumulator(function)
        }
    }
}
