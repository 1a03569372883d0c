import Foundation

/// The common base of attributes and relationships.
/// Source: https://developer.apple.com/documentation/coredata/nspropertydescription
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: only the thread that builds a model changes its parts, and no thread does once it is immutable.

    /// The entity to which the property belongs.
    /// - Precondition: it belongs to one.
    open var entity: NSEntityDescription {
        guard let holder else { misuse("The property \"\(name)\" belongs to no entity.") }
        return holder
    }
    /// The entity to which the property belongs; nil for none.
    package final var holder: NSEntityDescription? { owner?.takeUnretainedValue() }
    /// The entity clears this when it is freed. A weak reference would make each retain of an entity several times as expensive, and making an
    /// object retains its entity.
    final var owner: Unmanaged<NSEntityDescription>?
    open var name: String = "" { willSet { checkEditable() } }
    /// Whether an object may be saved without a value.
    open var isOptional = true { willSet { checkEditable() } }
    /// Whether the value exists only in memory. It is validated all the same.
    open var isTransient = false { willSet { checkEditable() } }
    /// Whether Spotlight indexes the property on Apple's platforms. It has no effect here.
    /// Source: https://developer.apple.com/documentation/coredata/nspropertydescription/isindexedbyspotlight
    open var isIndexedBySpotlight = false { willSet { checkEditable() } }
    /// Free for the program; empty at first. It may change while the model is in use, on one thread at a time.
    open var userInfo: [AnyHashable: Any]? = [:]
    /// The property's name in an earlier version of the model.
    open var renamingIdentifier: String? {
        get { declaredRenamingIdentifier ?? name }
        set { declaredRenamingIdentifier = newValue }
    }

    /// nil if it is the name.
    package final var declaredRenamingIdentifier: String? { willSet { checkEditable() } }
    /// Any text. Changing it makes a new version of a property that is otherwise unchanged.
    open var versionHashModifier: String? { willSet { checkEditable() } }
    /// 32 bytes that change with everything that affects how the property is stored.
    open var versionHash: Data { VersionHash.hash(of: self) }
    /// The conditions that a value other than nil must meet; SELF is the value. They include the ranges, lengths and patterns that a model file
    /// states.
    open private(set) var validationPredicates: [NSPredicate] = []
    /// For each predicate, the text or the numeric error code that an error has if the predicate fails.
    open private(set) var validationWarnings: [Any] = []
    /// The property's index among its entity's properties, inherited ones first; set when the model becomes immutable.
    // Read for each value that is set. What another module sees is checked at each access: 170 instructions more for an insertion.
    @exclusivity(unchecked) package final var index = -1
    /// The checks that a save makes; set when the model becomes immutable, nil if there are none.
    final var check: PropertyCheck?
    final var isImmutable = false

    public override init() {
        super.init()
    }

    /// Whether both have equal settings and belong to entities with the same name. Two loads of one file give equal properties.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return self === other || name == other.name && ModelContents.contents(of: self) == ModelContents.contents(of: other)
    }

    /// A hash of the name. A set no longer finds a property whose name changed after it was added.
    open override var hash: Int { name.hashValue }

    /// Returns an editable copy that belongs to no entity. A relationship's copy keeps destination and inverse until it gets into a model with
    /// entities of their names; see `NSEntityDescription.copy(with:)`.
    open func copy(with zone: NSZone? = nil) -> Any { NSPropertyDescription().taking(self) }

    final func taking(_ original: NSPropertyDescription) -> NSPropertyDescription {
        take(original)
        return self
    }

    /// Copies the settings of another property of the same kind.
    func take(_ original: NSPropertyDescription) {
        name = original.name
        isOptional = original.isOptional
        isTransient = original.isTransient
        isIndexedBySpotlight = original.isIndexedBySpotlight
        userInfo = original.userInfo
        declaredRenamingIdentifier = original.declaredRenamingIdentifier
        versionHashModifier = original.versionHashModifier
        setValidation(original.validationPredicates, warnings: original.validationWarnings)
    }

    /// Replaces the predicates against which saves check a value.
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
        demand(
            warnings.isEmpty || warnings.count == predicates.count,
            "The property \(name) was given \(predicates.count) validation predicates and \(warnings.count) warnings.")
        validationPredicates = predicates
        validationWarnings = warnings
    }

    final func checkEditable() {
        demand(!isImmutable, ModelMessages.immutable)
    }
}

enum ModelMessages {
    static let immutable = "A model cannot be changed once a coordinator uses it; change it before, or make a copy of it."
}
