import Foundation

#if !canImport(ObjectiveC)
    /// What Foundation lacks off Apple's platforms.
    extension NSSortDescriptor {
        /// The key path that the descriptor sorts by, for stores of a program's own; `self` for the objects themselves. nil if it sorts by a
        /// function, or by a Swift key path that reads no property of a model in use.
        /// Source: https://developer.apple.com/documentation/foundation/nssortdescriptor/key
        public var key: String? {
            let probe = SortProbe(self)
            if let key = probe.key { return key }
            let path: AnyKeyPath? = probe.keyPath ?? keyPath
            return path.flatMap { try? KeyPathReading.keys(of: $0).joined(separator: ".") }
        }

        /// Sorts by a function of the values of a key path; a missing value is `NSNull`. For arrays only: a fetch with such a descriptor throws.
        /// Source: https://developer.apple.com/documentation/foundation/nssortdescriptor/init(key:ascending:comparator:)
        public convenience init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
            let path = key ?? "self"
            let keys = (try? PredicateKeyPath.keys(path)).map { $0 == ["self"] ? [] : $0 }
            self.init(keyPath: \NSObject.self, ascending: ascending) { a, b in
                if let probe = a as? SortProbe {
                    (probe.key, probe.hasComparator) = (path, true)
                    return .orderedSame
                }
                guard let keys else { return .orderedSame }
                func value(_ object: Any) -> Any { PredicateKeyPath.value(keys[...], of: object).object ?? NSNull() }
                return comparator(value(a), value(b))
            }
        }
    }
#endif
