import RecordLog

/// What a part of an index is over.
enum IndexKey: Hashable, Sendable {
    case property(Int)
    /// An expression, as the format language prints it, whose values are texts, or else numbers and dates.
    case expression(ExactText, isText: Bool)

    /// What its components hold.
    func columnType(_ runtime: EntityRuntime) -> ColumnType {
        switch self {
        case .property(let index): runtime.properties[index].kind.columnType ?? .bytes
        case .expression(_, let isText): isText ? .text : .double
        }
    }
}

/// What a test says about one key in an index's terms: bytes of encoded key components.
final class IndexCondition {
    enum Kind {
        /// One of these components.
        case equal([[UInt8]])
        /// Between two components; an end is absent or open as said.
        case range(lower: [UInt8]?, lowerIsOpen: Bool, upper: [UInt8]?, upperIsOpen: Bool)
        /// Any component that starts with these bytes.
        case prefix([UInt8])
    }

    let key: IndexKey
    let kind: Kind
    /// Whether the index gives the very rows for which the test holds; otherwise it may give others too, and the test is asked still.
    let isExact: Bool

    init(_ key: IndexKey, kind: Kind, isExact: Bool = true) {
        self.key = key
        self.kind = kind
        self.isExact = isExact
    }

    convenience init(property: Int, kind: Kind) {
        self.init(.property(property), kind: kind)
    }

    /// - Parameter least: the component below which no value lies for which an order comparison could hold; nil: null alone does.
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

    /// The components of an equality or a list; nil for anything else.
    var components: [[UInt8]]? {
        if case .equal(let list) = kind { return list }
        return nil
    }

    /// Where the components of a range or a prefix are; nil for an equality.
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
