import Foundation

extension NSPredicate {
    /// Translates a Swift predicate for a store; nil if that is not possible. `init(translating:)` gives the reason.
    /// Source: https://developer.apple.com/documentation/foundation/nspredicate/init(_:)
    public convenience init?<Object: NSManagedObject>(_ predicate: Predicate<Object>) {
        guard let made = try? PredicateTranslation.predicate(predicate) else { return nil }
        self.init(translated: made)
    }

    /// Translates a Swift predicate for a store.
    ///
    /// Text is compared by its bytes, as in a format, and counted in UTF-16 units. Where Swift would throw for nil that `!` unwraps, a store uses
    /// null. To find the property that a key path reads, its accessor is called on an object made for that: first with the default, or 0 and "",
    /// then with a few more values of the attribute's type, and with null if the model lets the attribute, or a relationship on the way to it, be
    /// null. The accessor must not trap on them. If it returns another value for null (0, "", a case), a store treats null as that value.
    /// - Throws: `PredicateTranslationError` for an expression that a store cannot evaluate, such as a computed property.
    /// - Complexity: O(size of the predicate); each key path is analysed once for each entity.
    public convenience init<Object: NSManagedObject>(translating predicate: Predicate<Object>) throws {
        self.init(translated: try PredicateTranslation.predicate(predicate))
    }
}

extension NSExpression {
    /// The value of a property; `\.self` is the object itself. A key path that reads no property, or computes its value, makes the fetch throw.
    public convenience init<Object: NSManagedObject, Value>(forKeyPath keyPath: KeyPath<Object, Value>) {
        self.init(node: Self.node(keyPath))
    }

    /// The same for a root of a generic type. If it is no managed object, the fetch throws.
    @_disfavoredOverload
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) { self.init(node: Self.node(keyPath)) }

    private static func node<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> ExpressionNode {
        if keyPath as AnyKeyPath == \Root.self { return .keyPath([]) }
        do {
            return .keyPath(try KeyPathReading.keys(of: keyPath))
        } catch {
            return .fault(PredicateFault(reason: "\(error)"))
        }
    }
}

extension NSFetchRequest where ResultType: NSManagedObject {
    /// A request for the objects of a class, with a Swift predicate and Swift sort descriptors.
    /// - Throws: `PredicateTranslationError`, as `NSPredicate(translating:)` does.
    public convenience init(predicate: Predicate<ResultType>? = nil, sortBy order: [SortDescriptor<ResultType>]) throws {
        self.init(objectClass: ResultType.self)
        ManagedObjectClasses.note(ResultType.self)
        self.predicate = try predicate.map { try NSPredicate(translating: $0) }
        sortDescriptors = order.isEmpty ? nil : order.map { NSSortDescriptor($0) }
    }

    /// A request for the objects of a class, with a Swift predicate.
    /// - Throws: `PredicateTranslationError`, as `NSPredicate(translating:)` does.
    public convenience init(predicate: Predicate<ResultType>) throws {
        try self.init(predicate: predicate, sortBy: [])
    }
}
