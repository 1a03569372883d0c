#if !canImport(ObjectiveC)
    /// A change to the ordered set of a property. The raw values are Foundation's, which has no key-value observing except on Apple's platforms.
    /// Source: https://developer.apple.com/documentation/foundation/nskeyvaluechange
    public enum NSKeyValueChange: UInt, Sendable {
        case setting = 1
        case insertion = 2
        case removal = 3
        case replacement = 4
    }

    /// A change to the set of a property. The raw values are Foundation's.
    /// Source: https://developer.apple.com/documentation/foundation/nskeyvaluesetmutationkind
    public enum NSKeyValueSetMutationKind: UInt, Sendable {
        /// The given objects are added.
        case union = 1
        /// The given objects are removed.
        case minus = 2
        /// The objects that are not among the given ones are removed.
        case intersect = 3
        /// The given objects replace all.
        case set = 4
    }
#endif
