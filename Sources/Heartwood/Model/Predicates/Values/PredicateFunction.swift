/// A function of the format language. The raw value is Core Data's name.
///
/// Source: https://developer.apple.com/documentation/foundation/nsexpression/init(forfunction:arguments:)
package enum PredicateFunction: String, CaseIterable {
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case power = "raise:toPower:"
    case squareRoot = "sqrt:"
    case log = "log:"
    case naturalLog = "ln:"
    case exponential = "exp:"
    case floor = "floor:"
    case ceiling = "ceiling:"
    case truncate = "trunc:"
    case absolute = "abs:"
    case random = "random"
    case randomBelow = "randomn:"
    case now = "now"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case canonical = "canonical:"
    case length = "length:"
    case cast = "castObject:toType:"
    case noIndex = "noindex:"
    /// Each value of a collection once. A count or sum of this over rows is SQL's aggregate with DISTINCT.
    case distinct = "distinct:"
    /// `collection[index]`, and the word indexes below.
    case element = "objectFrom:withIndex:"
    case first = "FIRST:"
    case last = "LAST:"
    case size = "SIZE:"

    // Methods, called in a format by FUNCTION(receiver, "name", …).
    case uppercaseString, lowercaseString, capitalizedString
    case appending = "stringByAppendingString:"
    case doubleValue, integerValue
    case addingInterval = "dateByAddingTimeInterval:"
    case intervalSince = "timeIntervalSinceDate:"
    case intervalSince1970 = "timeIntervalSince1970"
    case intervalSinceReference = "timeIntervalSinceReferenceDate"

    var isMethod: Bool {
        switch self {
        case .uppercaseString, .lowercaseString, .capitalizedString, .appending, .doubleValue, .integerValue, .addingInterval,
            .intervalSince, .intervalSince1970, .intervalSinceReference:
            true
        default: false
        }
    }

    /// Whether it is written with brackets: `collection[FIRST]`.
    var isIndex: Bool { self == .element || self == .first || self == .last || self == .size }

    /// Whether it takes any number of arguments, or one collection of them.
    var isAggregate: Bool {
        switch self {
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation: true
        default: false
        }
    }

    /// The number of arguments, a method's receiver included. Aggregates take one or more.
    var arity: Int {
        let colons = rawValue.utf8.count { $0 == UInt8(ascii: ":") }
        return isMethod ? colons + 1 : colons
    }

    func accepts(count: Int) -> Bool { isAggregate ? count >= 1 : count == arity }

    var arityText: String {
        isAggregate ? "one or more arguments" : arity == 1 ? "one argument" : arity == 0 ? "no arguments" : "\(arity) arguments"
    }

    /// The operator in the format language, and its precedence.
    var infix: (symbol: String, precedence: Int)? {
        switch self {
        case .bitwiseOr: ("|", 2)
        case .bitwiseXor: ("^", 3)
        case .bitwiseAnd: ("&", 4)
        case .leftShift: ("<<", 5)
        case .rightShift: (">>", 5)
        case .add: ("+", 6)
        case .subtract: ("-", 6)
        case .multiply: ("*", 7)
        case .divide: ("/", 7)
        case .power: ("**", 8)
        default: nil
        }
    }

    static let byInfix: [String: (function: PredicateFunction, precedence: Int)] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { function in function.infix.map { ($0.symbol, (function, $0.precedence)) } })

    /// The function with this name in a call: `sum:`, or `sum` for short.
    static func named(_ name: String) -> PredicateFunction? {
        guard let function = PredicateFunction(rawValue: name) ?? PredicateFunction(rawValue: name + ":"), !function.isMethod,
            ![.first, .last, .size].contains(function)
        else { return nil }
        return function
    }

    static func method(_ selector: String) -> PredicateFunction? {
        switch selector {
        case "length": .length
        case "intValue", "longValue", "longLongValue", "integerValue": .integerValue
        case "floatValue", "doubleValue": .doubleValue
        case "count": .count
        default: PredicateFunction(rawValue: selector).flatMap { $0.isMethod ? $0 : nil }
        }
    }

    static var names: String { allCases.filter { !$0.isMethod && !$0.isIndex }.map(\.rawValue).joined(separator: " ") }
    static var methodNames: String { (["length", "count"] + allCases.filter(\.isMethod).map(\.rawValue)).joined(separator: " ") }
}
