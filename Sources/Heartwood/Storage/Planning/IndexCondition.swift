import RecordLog

/// The subject of an index part.
enum IndexKey: Hashable, Sendable {
    case property(Int)
    /// An expression as the format language prints it. Its values are texts, or numbers and dates.
    case expression(ExactText, isText: Bool)

    /// The type of the values in the index's keys.
    func columnType(_ runtime: EntityRuntime) -> ColumnType {
        switch self {
        case .property(let index): runtime.properties[index].kind.columnType ?? .bytes
        case .expression(_, let isText): isText ? .text : .double
        }
    }
}

/// A test's condition on one index key. Stores of every kind choose an index by these: a record log's has the components as they are, and a store
/// with other indexes decodes them (`KeyBuilder+Decoding.swift`).
package final class IndexCondition {
    /// The condition with its operand as encoded key components.
    package enum Kind {
        /// Equal to one of these components.
        case equal([[UInt8]])
        /// Between two components; nil is no bound.
        case range(lower: [UInt8]?, lowerIsOpen: Bool, upper: [UInt8]?, upperIsOpen: Bool)
        /// Any component that starts with these bytes.
        case prefix([UInt8])

        /// - Parameter least: the lower bound of a less-than comparison, which excludes values for which no order comparison holds; nil excludes
        ///   only null.
        init?(_ comparison: ComparisonOperator, _ component: [UInt8], least: [UInt8]? = nil) {
            switch comparison {
            case .equal: self = .equal([component])
            case .notEqual: return nil
            case .less: self = .range(lower: least, lowerIsOpen: false, upper: component, upperIsOpen: true)
            case .lessOrEqual: self = .range(lower: least, lowerIsOpen: false, upper: component, upperIsOpen: false)
            case .greater: self = .range(lower: component, lowerIsOpen: true, upper: nil, upperIsOpen: false)
            case .greaterOrEqual: self = .range(lower: component, lowerIsOpen: false, upper: nil, upperIsOpen: false)
            }
        }
    }

    enum Operand {
        /// A value of the predicate, which never changes.
        case value
        /// An argument of the format.
        case argument(Parameter)
        /// The objects that a search at the other end of a relationship found; nil where it has no plan for other arguments.
        case search(PlanTemplate.Target?)
    }

    let key: IndexKey
    package let kind: Kind
    /// Whether the index gives exactly the rows for which the test holds. Otherwise it may give more, and the test is still evaluated.
    let isExact: Bool
    /// Where the components come from.
    let operand: Operand

    init(_ key: IndexKey, kind: Kind, isExact: Bool = true, operand: Operand = .value) {
        self.key = key
        self.kind = kind
        self.isExact = isExact
        self.operand = operand
    }

    convenience init(property: Int, kind: Kind) {
        self.init(.property(property), kind: kind)
    }

    /// - Parameter least: see `Kind`.
    convenience init?(property: Int, _ comparison: ComparisonOperator, _ component: [UInt8], least: [UInt8]? = nil) {
        guard let kind = Kind(comparison, component, least: least) else { return nil }
        self.init(.property(property), kind: kind)
    }

    /// The least number for which an order comparison can hold: NaN's key comes first.
    static let leastDouble: [UInt8] = {
        let key = KeyBuilder()
        key.append(double: -.infinity)
        return key.bytes
    }()

    /// The column that the condition is about; nil where it is about an expression.
    package var property: Int? {
        if case .property(let index) = key { return index }
        return nil
    }

    /// The components of an equality or a list; nil for any other condition.
    package var components: [[UInt8]]? {
        if case .equal(let list) = kind { return list }
        return nil
    }

    /// The lower end of a comparison with an argument that has only an upper one.
    var leastOfArgument: [UInt8]? {
        guard case .argument(let parameter) = operand else { return nil }
        return parameter.comparison == .less || parameter.comparison == .lessOrEqual ? parameter.least : nil
    }
}
