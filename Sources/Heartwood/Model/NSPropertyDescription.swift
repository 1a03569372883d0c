import Foundation

/// What attributes and relationships have in common.
/// Source: https://developer.apple.com/documentation/coredata/nspropertydescription
open class NSPropertyDescription: NSObject, @unchecked Sendable {
    // Unchecked: a model's parts are changed by the thread that builds it, and by none once it is frozen.

    /// The entity that states the property.
    public internal(set) final weak var entity: NSEntityDescription?
    public final var name: String = "" { willSet { checkEditable() } }
    /// Whether an object may be saved without a value.
    public final var isOptional = true { willSet { checkEditable() } }
    /// Whether the value lives in memory alone.
    public final var isTransient = false { willSet { checkEditable() } }
    public final var userInfo: [AnyHashable: Any]? { willSet { checkEditable() } }
    /// The name under which an earlier version of the model had the property.
    public final var renamingIdentifier: String? { willSet { checkEditable() } }
    /// Set it to make a version of the property that is otherwise the same count as another.
    public final var versionHashModifier: String? { willSet { checkEditable() } }
    /// The property's place among its entity's properties, inherited ones first; set when the model is frozen.
    final var index = -1
    final var isFrozen = false

    public override init() {
        super.init()
    }

    final func checkEditable() {
        precondition(!isFrozen, ModelMessages.frozen)
    }
}

enum ModelMessages {
    static let frozen = "A model cannot be changed once a coordinator uses it; change it before, or make a copy of it."
}
