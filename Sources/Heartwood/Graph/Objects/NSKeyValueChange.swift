#if !canImport(ObjectiveC)
    /// What is done to an ordered set, of a property that holds one. The raw values are Foundation's, which has no key-value observing
    /// off Apple's platforms.
    /// Source: https://developer.apple.com/documentation/foundation/nskeyvaluechange
    public enum NSKeyValueChange: UInt, Sendable {
        case setting = 1
        case insertion = 2
        case removal = 3
        case replacement = 4
    }

    /// What is done to a set, of a property that holds one. The raw values are Foundation's.
    /// Source: https://developer.apple.com/documentation/foundation/nskeyvaluesetmutationkind
    public enum NSKeyValueSetMutationKind: UInt, Sendable {
        /// The given objects are added.
        case union = 1
        /// The given objects are removed.
        case minus = 2
        /// What is not among the given objects is removed.
        case intersect = 3
        /// The given objects take the place of all.
        case set = 4
    }
#endif
