extension ManagedValue {
    /// Whether two values of one property are stored alike. A store keeps a number's bits, so -0 differs from 0, and NaN equals itself.
    func isEqual(to other: ManagedValue) -> Bool {
        switch (self, other) {
        case (.unset, .unset), (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): a.bitPattern == b.bitPattern
        case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        case (.url(let a), .url(let b)): a == b
        case (.object(let a), .object(let b)): a === b
        case (.reference(let a), .reference(let b)): a == b
        default: isNull && other.isNull
        }
    }
}
