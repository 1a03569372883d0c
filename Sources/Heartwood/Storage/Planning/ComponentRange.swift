import RecordLog

/// A range of values of one column, without null.
struct ComponentRange {
    // Every value's component starts with the tag, and null's does not.
    private var lower: [UInt8] = [KeyBuilder.valueTag]
    private var lowerIsOpen = false
    private var upper: [UInt8] = [KeyBuilder.valueTag]
    private var upperIsOpen = false

    init() {}

    /// All components that start with these bytes.
    init(prefix: [UInt8]) {
        lower = prefix
        upper = prefix
    }

    private init(lower: [UInt8], lowerIsOpen: Bool, upper: [UInt8], upperIsOpen: Bool) {
        self.lower = lower
        self.lowerIsOpen = lowerIsOpen
        self.upper = upper
        self.upperIsOpen = upperIsOpen
    }

    mutating func narrow(lower new: [UInt8], isOpen: Bool) {
        guard !new.lexicographicallyPrecedes(lower) else { return }
        lowerIsOpen = new == lower ? lowerIsOpen || isOpen : isOpen
        lower = new
    }

    mutating func narrow(upper new: [UInt8], isOpen: Bool) {
        // An upper end that is only the tag includes every value.
        guard upper.count == 1 || !upper.lexicographicallyPrecedes(new) else { return }
        upperIsOpen = new == upper ? upperIsOpen || isOpen : isOpen
        upper = new
    }

    mutating func narrow(to other: ComponentRange) {
        narrow(lower: other.lower, isOpen: other.lowerIsOpen)
        if other.upper.count > 1 { narrow(upper: other.upper, isOpen: other.upperIsOpen) }
    }

    /// The same values in a descending column.
    var complemented: ComponentRange {
        ComponentRange(lower: upper.map { ~$0 }, lowerIsOpen: upperIsOpen, upper: lower.map { ~$0 }, upperIsOpen: lowerIsOpen)
    }

    /// Returns the range of index entries that have these equal leading components and a component in this range.
    func under(_ prefix: [UInt8]) -> KeyRange {
        let low = prefix.isEmpty ? lower : prefix + lower, high = prefix.isEmpty ? upper : prefix + upper
        return KeyRange(
            lower: lowerIsOpen ? KeyRange.successor(of: low) : low, upper: upperIsOpen ? high : KeyRange.successor(of: high))
    }
}
