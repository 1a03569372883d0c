import Foundation

/// What attributes and relationships have in common.
/// Source: https://developer.apple.com/documentation/coredata/nspropertydescription
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: a model's parts are changed by the thread that builds it, and by none once it is frozen.

    /// The entity that states the property.
    /// - Precondition: one does.
    open var entity: NSEntityDescription {
        guard let holder else { preconditionFailure("The property \"\(name)\" is stated by no entity.") }
        return holder
    }
    /// The same; nil for a property that no entity states.
    package final var holder: NSEntityDescription? { owner?.takeUnretainedValue() }
    /// The entity takes this back before it goes. A weak reference in its place would make each retain of an entity several times as
    /// dear, and every object that is made retains one.
    final var owner: Unmanaged<NSEntityDescription>?
    open var name: String = "" { willSet { checkEditable() } }
    /// Whether an object may be saved without a value.
    open var isOptional = true { willSet { checkEditable() } }
    /// Whether the value lives in memory alone. It is validated all the same.
    open var isTransient = false { willSet { checkEditable() } }
    /// What the program notes; empty at first. It may change while the model is in use, on one thread at a time.
    open var userInfo: [AnyHashable: Any]? = [:]
    /// The name under which an earlier version of the model had the property.
    open var renamingIdentifier: String? {
        get { statedRenamingIdentifier ?? name }
        set { statedRenamingIdentifier = newValue }
    }

    /// nil where it is the name.
    package final var statedRenamingIdentifier: String? { willSet { checkEditable() } }
    /// Set it to make a version of the property that is otherwise the same count as another.
    open var versionHashModifier: String? { willSet { checkEditable() } }
    /// 32 bytes that change with everything that matters to how the property is stored.
    open var versionHash: Data { VersionHash.hash(of: self) }
    /// What a value that is not nil must satisfy, with the value as SELF; what a model file says of ranges, lengths and patterns
    /// is here too.
    open private(set) var validationPredicates: [NSPredicate] = []
    /// By predicate, what an error says where the predicate fails: a text, or an error code as a number.
    open private(set) var validationWarnings: [Any] = []
    /// The property's place among its entity's properties, inherited ones first; set when the model is frozen.
    final var index = -1
    /// What saves check; set when the model is frozen, nil where there is nothing.
    final var check: PropertyCheck?
    final var isFrozen = false

    public override init() {
        super.init()
    }

    /// Whether both say the same, in entities of one name: of two loads of one file all properties are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return self === other || name == other.name && ModelContents.facts(of: self) == ModelContents.facts(of: other)
    }

    /// Of the name. A property whose name changes while it is in a set is not found there any more.
    open override var hash: Int { name.hashValue }

    /// A copy that can be changed, and that no entity states. A relationship's destination and inverse are what they were, until the copy
    /// gets into a model with entities of their names; see `NSEntityDescription.copy(with:)`.
    open func copy(with zone: NSZone? = nil) -> Any { NSPropertyDescription().taking(self) }

    final func taking(_ original: NSPropertyDescription) -> NSPropertyDescription {
        take(original)
        return self
    }

    /// Takes over what another property of the same kind says.
    func take(_ original: NSPropertyDescription) {
        name = original.name
        isOptional = original.isOptional
        isTransient = original.isTransient
        userInfo = original.userInfo
        statedRenamingIdentifier = original.statedRenamingIdentifier
        versionHashModifier = original.versionHashModifier
        setValidation(original.validationPredicates, warnings: original.validationWarnings)
    }

    /// Replaces the predicates that saves check a value against.
    ///
    /// A predicate that fails gives `NSManagedObjectValidationError` (1550) with its warning as the description. Without warnings
    /// a plain limit (`SELF >= 1`, `length <= 10`, `SELF MATCHES "a+"`) gives the code of its kind (1610 to 1680).
    /// - Precondition: there are as many warnings as predicates, or none.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        setValidation((validationPredicates ?? []), warnings: validationWarnings ?? [])
    }

    final func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
        checkEditable()
        precondition(
            warnings.isEmpty || warnings.count == predicates.count,
            "The property \(name) was given \(predicates.count) validation predicates and \(warnings.count) warnings.")
        validationPredicates = predicates
        validationWarnings = warnings
    }

    final func checkEditable() {
        precondition(!isFrozen, ModelMessages.frozen)
    }
}

enum ModelMessages {
    static let frozen = "A model cannot be changed once a coordinator uses it; change it before, or make a copy of it."
}
