import Foundation

/// A condition on an object, by a format, a block, or built by hand.
///
/// Off Apple's platforms Foundation's class of this name has no formats; this one is a subclass of it, with what is missing.
/// Source: https://developer.apple.com/documentation/foundation/nspredicate
open class NSPredicate: Foundation.NSPredicate, MadeByFactory {
    @exclusivity(unchecked) private final var stated: (any PredicateBody)?
    package final var body: any PredicateBody { stated ?? BlockBody.unstated }

    // The one designated initializer, so that a subclass inherits the others.
    #if canImport(ObjectiveC)
        /// A predicate that states nothing and cannot be asked.
        public override init() {
            super.init(value: false)
        }
    #else
        /// A predicate that states nothing and cannot be asked.
        public init() {
            super.init(value: false)
        }
    #endif

    package convenience init(body: any PredicateBody) {
        self.init()
        stated = body
    }

    /// A predicate that is always true, or never.
    public convenience override init(value: Bool) { self.init(body: BlockBody(constant: value)) }

    /// A predicate that only objects in memory can be asked: a fetch throws.
    public convenience override init(block: @escaping (Any?, [String: Any]?) -> Bool) { self.init(body: BlockBody(block: block)) }

    /// The predicate in the format language, which parses back to the same; objects and blocks have no such form.
    open override var predicateFormat: String { body.format }

    /// Whether `object` meets the condition, with values for the `$VARIABLES`.
    /// - Precondition: each variable has a value, and what was built by hand can be evaluated.
    open override func evaluate(with object: Any?, substitutionVariables variables: [String: Any]?) -> Bool {
        body.evaluate(object, variables)
    }

    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return other === self || type(of: other) == type(of: self) && body.isEqual(other.body)
    }

    open override var hash: Int { predicateFormat.hashValue }

    open override var description: String { predicateFormat }
}
