import Foundation

/// A number in a predicate's arithmetic: an integer if possible, a decimal if one takes part, otherwise floating-point.
enum PredicateNumber {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)

    /// nil for a value that is no number.
    init?(_ value: PredicateValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .bool(let flag): self = .integer(flag ? 1 : 0)
        case .double(let number): self = .double(number)
        case .decimal(let number): self = .decimal(number)
        default: return nil
        }
    }

    var value: PredicateValue {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .decimal(let number): .decimal(number)
        }
    }

    var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.double
        }
    }

    /// nil for a number that no decimal can represent.
    var decimal: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .double(let number): Decimal(finite: number)
        case .decimal(let number): number
        }
    }

    /// The whole part; nil if it does not fit in 64 bits.
    var integer: Int64? {
        switch self {
        case .integer(let number): number
        default: Int64(exactly: double.rounded(.towardZero))
        }
    }

    /// The quotient of integers is an integer. The result is null if the divisor is an integer or decimal zero, or if decimals have no result.
    /// - Returns: nil for null.
    static func combine(_ function: PredicateFunction, _ a: PredicateNumber, _ b: PredicateNumber) -> PredicateNumber? {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): return integers(function, a, b)
        case (.decimal, _), (_, .decimal):
            guard function != .modulus, function != .power, let a = a.decimal, let b = b.decimal else { break }
            return decimals(function, a, b)
        default: break
        }
        return doubles(function, a.double, b.double)
    }

    private static func integers(_ function: PredicateFunction, _ a: Int64, _ b: Int64) -> PredicateNumber? {
        let (result, isOverflow): (Int64, Bool)
        switch function {
        case .add: (result, isOverflow) = a.addingReportingOverflow(b)
        case .subtract: (result, isOverflow) = a.subtractingReportingOverflow(b)
        case .multiply: (result, isOverflow) = a.multipliedReportingOverflow(by: b)
        case .divide, .modulus:
            guard b != 0 else { return nil }
            (result, isOverflow) = function == .divide ? a.dividedReportingOverflow(by: b) : a.remainderReportingOverflow(dividingBy: b)
        default:
            let power = pow(Double(a), Double(b))
            return abs(power) < 0x1p53 && b >= 0 ? .integer(Int64(power)) : .double(power)
        }
        return isOverflow ? doubles(function, Double(a), Double(b)) : .integer(result)
    }

    private static func doubles(_ function: PredicateFunction, _ a: Double, _ b: Double) -> PredicateNumber {
        switch function {
        case .add: .double(a + b)
        case .subtract: .double(a - b)
        case .multiply: .double(a * b)
        case .divide: .double(a / b)
        case .modulus: .double(fmod(a, b))
        default: .double(pow(a, b))
        }
    }

    private static func decimals(_ function: PredicateFunction, _ a: Decimal, _ b: Decimal) -> PredicateNumber? {
        if function == .divide, b.isZero { return nil }
        guard !a.isNaN, !b.isNaN else { return nil }
        let sign: FloatingPointSign = a.sign == b.sign ? .plus : .minus
        let result: Decimal = switch function {
        case .add: a + b
        case .subtract: a - b
        // Foundation traps if a product is too small. Significands (which have no sign) and exponents are combined separately to avoid that.
        case .multiply: Decimal(sign: sign, exponent: a.exponent + b.exponent, significand: a.significand * b.significand)
        default: Decimal(sign: sign, exponent: a.exponent - b.exponent, significand: a.significand / b.significand)
        }
        guard !result.isNaN, !result.isZero || a.isZero || function == .add || function == .subtract else { return nil }
        return .decimal(result)
    }

    /// Rounds by `rule`. Integers stay unchanged.
    func rounded(_ rule: FloatingPointRoundingRule) -> PredicateValue {
        switch self {
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number.rounded(rule))
        case .decimal(let number):
            let mode: NSDecimalNumber.RoundingMode = switch rule {
            case .up: .up
            case .down: .down
            default: number < 0 ? .up : .down
            }
            var source = number, result = Decimal()
            NSDecimalRound(&result, &source, 0, mode)
            return .decimal(result)
        }
    }

    var absolute: PredicateValue {
        switch self {
        case .integer(let number): number == .min ? .double(0x1p63) : .integer(abs(number))
        case .double(let number): .double(abs(number))
        case .decimal(let number): .decimal(abs(number))
        }
    }
}
