import Foundation

extension NSSortDescriptor {
    /// Sorts by a property, as `init(key:ascending:)` does. If the key path names no property, the fetch throws.
    public convenience init<Object: NSManagedObject, Value>(keyPath: KeyPath<Object, Value>, ascending: Bool) {
        self.init(reading: keyPath, ascending: ascending)
    }

    // Foundation has such an initializer for comparable values, but a fetch could not read its key path.
    public convenience init<Object: NSManagedObject, Value: Comparable>(keyPath: KeyPath<Object, Value>, ascending: Bool) {
        self.init(reading: keyPath, ascending: ascending)
    }

    /// Sorts by a String in another order than that of its bytes.
    public convenience init<Object: NSManagedObject>(keyPath: KeyPath<Object, String>, ascending: Bool, textOrder: TextOrder) {
        self.init(reading: keyPath, ascending: ascending, textOrder)
    }

    public convenience init<Object: NSManagedObject>(keyPath: KeyPath<Object, String?>, ascending: Bool, textOrder: TextOrder) {
        self.init(reading: keyPath, ascending: ascending, textOrder)
    }

    #if !canImport(Darwin)
        /// Translates a Swift sort descriptor. If it does not sort by `<`, or sorts text otherwise than by `.lexical`, the fetch throws: Foundation
        /// offers no other order here. `init(keyPath:ascending:textOrder:)` has other orders of text.
        public convenience init<Object: NSManagedObject>(_ sortDescriptor: SortDescriptor<Object>) {
            let isPlain = sortDescriptor.stringComparator.map { $0 == .lexical } ?? true
            self.init(reading: isPlain ? sortDescriptor.keyPath : nil, ascending: sortDescriptor.order == .forward)
        }
    #endif

    /// - Parameter path: nil if no fetch can sort by it.
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

    /// Uses the properties' names if they are known, since a class may declare a relationship as non-optional that can be null.
    private static func value(_ path: AnyKeyPath, of object: Any) -> PredicateValue {
        if let object = object as? NSManagedObject, let keys = try? KeyPathReading.of(path, entity: object.entity).keys, keys.count > 1 {
            return PredicateValue(object.value(forKeyPath: keys.joined(separator: ".")))
        }
        return PredicateValue(Unwrapping.rawValue(object[keyPath: path]))
    }
}
