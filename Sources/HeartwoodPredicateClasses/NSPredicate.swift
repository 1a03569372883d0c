import Foundation

/// A condition on an object: a format, a block, or a predicate built in code.
///
/// Off Apple's platforms Foundation's class of this name cannot parse formats. This class inherits from it and adds the missing parts.
/// Source: https://developer.apple.com/documentation/foundation/nspredicate
open class NSPredicate: Foundation.NSPredicate, MadeByFactory {
    @exclusivity(unchecked) private final var stated: (any PredicateBody)?
    package final var body: any PredicateBody { stated ?? BlockBody.unstated }

    // This is the only designated initializer, so a subclass inherits the convenience initializers.
    #if canImport(ObjectiveC)
        /// A predicate without a condition: nothing meets it, and a fetch with it throws.
        public override init() {
            super.init(value: false)
        }
    #else
        /// A predicate without a condition: nothing meets it, and a fetch with it throws.
        public init() {
            super.init(value: false)
        }
    #endif

    package convenience init(body: any PredicateBody) {
        self.init()
        stated = body
    }

    /// A predicate that is always true or always false.
    public convenience override init(value: Bool) { self.init(body: BlockBody(constant: value)) }

    /// A predicate that only objects in memory can answer. A fetch with it throws.
    public convenience override init(block: @escaping (Any?, [String: Any]?) -> Bool) { self.init(body: BlockBody(block: block)) }

    /// The predicate in the format language. Parsing it gives an equal predicate, except for objects and blocks, which the language cannot express.
    open override var predicateFormat: String { body.format }

    /// Whether `object` meets the condition. `variables` gives the values of the `$VARIABLES`.
    /// - Precondition: each variable has a value, and each part that was built in code can be evaluated.
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
