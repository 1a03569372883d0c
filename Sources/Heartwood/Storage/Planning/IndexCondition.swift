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

/// A test's condition on one index key, as encoded key components.
final class IndexCondition {
    enum Kind {
        /// Equal to one of these components.
        case equal([[UInt8]])
        /// Between two components; nil is no bound.
        case range(lower: [UInt8]?, lowerIsOpen: Bool, upper: [UInt8]?, upperIsOpen: Bool)
        /// Any component that starts with these bytes.
        case prefix([UInt8])
    }

    let key: IndexKey
    let kind: Kind
    /// Whether the index gives exactly the rows for which the test holds. Otherwise it may give more, and the test is still evaluated.
    let isExact: Bool

    init(_ key: IndexKey, kind: Kind, isExact: Bool = true) {
        self.key = key
        self.kind = kind
        self.isExact = isExact
    }

    convenience init(property: Int, kind: Kind) {
        self.init(.property(property), kind: kind)
    }

    /// - Parameter least: the lower bound of a less-than comparison, which excludes values for which no order comparison holds; nil excludes only
    ///   null.
    init?(property: Int, _ comparison: ComparisonOperator, _ component: [UInt8], least: [UInt8]? = nil) {
        key = .property(property)
        isExact = true
        switch comparison {
        case .equal: kind = .equal([component])
        case .notEqual: return nil
        case .less: kind = .range(lower: least, lowerIsOpen: false, upper: component, upperIsOpen: true)
        case .lessOrEqual: kind = .range(lower: least, lowerIsOpen: false, upper: component, upperIsOpen: false)
        case .greater: kind = .range(lower: component, lowerIsOpen: true, upper: nil, upperIsOpen: false)
        case .greaterOrEqual: kind = .range(lower: component, lowerIsOpen: false, upper: nil, upperIsOpen: false)
        }
    }

    /// The components of an equality or a list; nil for any other condition.
    var components: [[UInt8]]? {
        if case .equal(let list) = kind { return list }
        return nil
    }

    /// The range of a range or prefix condition; nil for an equality.
    var range: ComponentRange? {
        switch kind {
        case .equal: return nil
        case .prefix(let bytes): return ComponentRange(prefix: bytes)
        case .range(let lower, let lowerIsOpen, let upper, let upperIsOpen):
            var range = ComponentRange()
            if let lower { range.narrow(lower: lower, isOpen: lowerIsOpen) }
            if let upper { range.narrow(upper: upper, isOpen: upperIsOpen) }
            return range
        }
    }

    var isPrefix: Bool {
        if case .prefix = kind { return true }
        return false
    }
}
