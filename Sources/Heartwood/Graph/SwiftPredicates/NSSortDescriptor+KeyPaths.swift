import Foundation

extension NSSortDescriptor {
    /// Sorts by a property, as `init(key:ascending:)` does. A key path that is no property's is told by the fetch that meets it.
    public convenience init<Object: NSManagedObject, Value>(keyPath: KeyPath<Object, Value>, ascending: Bool) {
        self.init(reading: keyPath, ascending: ascending)
    }

    // Foundation has one for values that can be compared, which a fetch could not look into.
    public convenience init<Object: NSManagedObject, Value: Comparable>(keyPath: KeyPath<Object, Value>, ascending: Bool) {
        self.init(reading: keyPath, ascending: ascending)
    }

    /// Sorts by a String in another order than by its bytes.
    public convenience init<Object: NSManagedObject>(keyPath: KeyPath<Object, String>, ascending: Bool, textOrder: TextOrder) {
        self.init(reading: keyPath, ascending: ascending, textOrder)
    }

    public convenience init<Object: NSManagedObject>(keyPath: KeyPath<Object, String?>, ascending: Bool, textOrder: TextOrder) {
        self.init(reading: keyPath, ascending: ascending, textOrder)
    }

    #if !canImport(Darwin)
        /// Takes over a sort descriptor of Swift's. What it does not order by `<`, or text by anything but `.lexical`, is told by the
        /// fetch that meets it; Foundation has nothing else here. `init(keyPath:ascending:textOrder:)` has other orders of text.
        public convenience init<Object: NSManagedObject>(_ sortDescriptor: SortDescriptor<Object>) {
            let isPlain = sortDescriptor.stringComparator.map { $0 == .lexical } ?? true
            self.init(reading: isPlain ? sortDescriptor.keyPath : nil, ascending: sortDescriptor.order == .forward)
        }
    #endif

    /// - Parameter path: nil for what no fetch can sort by.
    private convenience init(reading path: AnyKeyPath?, ascending: Bool, _ textOrder: TextOrder = .literal) {
        self.init(keyPath: \NSObject.self, ascending: ascending) { a, b in
            if let probe = a as? SortProbe {
                (probe.keyPath, probe.textOrder) = (path, textOrder)
                return .orderedSame
            }
            guard let path else { return .orderedSame }
            func value(_ object: Any) -> PredicateValue { Self.value(path, of: object) }
            return SortKey.compare(value(a), value(b), textOrder)
        }
    }

    /// By the properties' names where these are known: a class may say that a relationship is always there which is not.
    private static func value(_ path: AnyKeyPath, of object: Any) -> PredicateValue {
        if let object = object as? NSManagedObject, let keys = try? KeyPathReading.of(path, entity: object.entity).keys, keys.count > 1 {
            return PredicateValue(object.value(forKeyPath: keys.joined(separator: ".")))
        }
        return PredicateValue(Unwrapping.rawValue(object[keyPath: path]))
    }
}
