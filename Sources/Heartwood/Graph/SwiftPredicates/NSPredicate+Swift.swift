import Foundation

extension NSPredicate {
    /// Takes over a predicate of Swift's, so that a store is asked it; nil where it cannot be. `init(translating:)` tells why.
    /// Source: https://developer.apple.com/documentation/foundation/nspredicate/init(_:)
    public convenience init?<Object: NSManagedObject>(_ predicate: Predicate<Object>) {
        guard let node = try? PredicateTranslation.node(predicate) else { return nil }
        self.init(node: node)
    }

    /// Takes over a predicate of Swift's, so that a store is asked it.
    ///
    /// Text compares by its bytes, as in a format, and counts UTF-16 units; where Swift would throw for nil that is unwrapped with `!`,
    /// a store takes it as null. To find out what a key path reads, its accessor is called on an object made for that, with a few values
    /// of the attribute's type, the default, or 0 and "", first, and with null where the model lets the attribute, or a relationship on
    /// the way to it, be null; it must not trap on them. What it makes of null (0, "", a case) is what the store takes null for.
    /// - Throws: `PredicateTranslationError` for what a store cannot be asked, such as a property that is computed.
    /// - Complexity: O(size of the predicate); each key path is looked into once for each entity.
    public convenience init<Object: NSManagedObject>(translating predicate: Predicate<Object>) throws {
        self.init(node: try PredicateTranslation.node(predicate))
    }
}

extension NSExpression {
    /// The value of a property. A key path that reads none, or computes its value, is told by the fetch that meets it.
    public convenience init<Object: NSManagedObject, Value>(forKeyPath keyPath: KeyPath<Object, Value>) {
        do {
            self.init(node: .keyPath(try KeyPathReading.of(keyPath).keys))
        } catch {
            self.init(node: .fault(PredicateFault(reason: "\(error)")))
        }
    }

    /// The same from a root that a generic function does not know more of. One that is no managed object's is told by the fetch that meets it.
    @_disfavoredOverload
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        do {
            self.init(node: .keyPath(try KeyPathReading.of(keyPath).keys))
        } catch {
            self.init(node: .fault(PredicateFault(reason: "\(error)")))
        }
    }
}

extension NSFetchRequest where ResultType: NSManagedObject {
    /// A request for the objects of a class, by a condition and an order in Swift's terms.
    /// - Throws: `PredicateTranslationError`, as `NSPredicate(translating:)`.
    public convenience init(predicate: Predicate<ResultType>? = nil, sortBy order: [SortDescriptor<ResultType>]) throws {
        self.init(objectClass: ResultType.self)
        ManagedObjectClasses.note(ResultType.self)
        self.predicate = try predicate.map { try NSPredicate(translating: $0) }
        sortDescriptors = order.isEmpty ? nil : order.map { NSSortDescriptor($0) }
    }

    /// A request for the objects of a class, by a condition in Swift's terms.
    /// - Throws: `PredicateTranslationError`, as `NSPredicate(translating:)`.
    public convenience init(predicate: Predicate<ResultType>) throws {
        try self.init(predicate: predicate, sortBy: [])
    }
}
