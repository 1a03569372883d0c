import Foundation

/// An attribute that is computed from others by an expression: `canonical:(name)`, `uppercase:(name)`, `lowercase:(name)`, `now()`,
/// a key path over to-one relationships (`group.name`), or `members.@count` and `members.@sum.amount`.
///
/// A save or a batch request computes it within its transaction, for the objects that it writes and for those that depend on them,
/// on whichever side the change was made. Until then the object shows the old value; a value set by code is replaced. `now()` is the time
/// at which the object itself was written. Objects of the saving context show the new value after the save, those of other contexts after a
/// merge or refresh. If another save changed only derived attributes of an object, that is no conflict. Fetches compare, sort and index it
/// like any other attribute. It is not validated.
///
/// A store is not added if its model has a derivation that the store cannot compute: error 134020 names it and the reason.
/// Source: https://developer.apple.com/documentation/coredata/nsderivedattributedescription
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The expression that gives the value. A model in use must have it.
    open var derivationExpression: NSExpression? { willSet { checkEditable() } }

    open override func copy(with zone: NSZone? = nil) -> Any { NSDerivedAttributeDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSDerivedAttributeDescription else { return }
        derivationExpression = original.derivationExpression
    }
}
