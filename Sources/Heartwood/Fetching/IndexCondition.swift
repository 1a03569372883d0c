import RecordLog

/// What a test says about one property in an index's terms: bytes of encoded key components.
struct IndexCondition {
    enum Kind {
        /// One of these components.
        case equal([[UInt8]])
        /// Between two components; an end is absent or open as said.
        case range(lower: [UInt8]?, lowerIsOpen: Bool, upper: [UInt8]?, upperIsOpen: Bool)
        /// Any component that starts with these bytes.
        case prefix([UInt8])
    }

    let property: Int
    let kind: Kind

    init(property: Int, kind: Kind) {
        self.property = property
        self.kind = kind
    }

    init?(property: Int, _ comparison: ComparisonOperator, _ component: [UInt8]) {
        self.property = property
        switch comparison {
        case .equal: kind = .equal([component])
        case .notEqual: return nil
        case .less: kind = .range(lower: nil, lowerIsOpen: false, upper: component, upperIsOpen: true)
        case .lessOrEqual: kind = .range(lower: nil, lowerIsOpen: false, upper: component, upperIsOpen: false)
        case .greater: kind = .range(lower: component, lowerIsOpen: true, upper: nil, upperIsOpen: false)
        case .greaterOrEqual: kind = .range(lower: component, lowerIsOpen: false, upper: nil, upperIsOpen: false)
        }
    }
}
