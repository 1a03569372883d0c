import Foundation

/// An attribute whose value follows from others by an expression: `canonical:(name)`, `uppercase:(name)`, `lowercase:(name)`, `now()`,
/// a key path over to-one relationships (`group.name`), or `members.@count` and `members.@sum.amount`.
///
/// A save computes it, and so does a batch request, within its transaction: for the objects that it writes and for those that depend on
/// them, whichever side was changed. Until then the object shows what it was; what code sets is replaced. `now()` is when the object
/// itself was written. Objects of the saving context show the new value after the save, those of other contexts once they merge it or are
/// refreshed; that somebody else's save has changed nothing but derived attributes of an object is no conflict. Fetches compare, sort
/// and index it as any other attribute. It is not validated.
///
/// A store whose model has a derivation that it cannot compute is not added: error 134020 says which and why.
/// Source: https://developer.apple.com/documentation/coredata/nsderivedattributedescription
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// What the value is made of; required once the model is used.
    open var derivationExpression: NSExpression? { willSet { checkEditable() } }

    open override func copy(with zone: NSZone? = nil) -> Any { NSDerivedAttributeDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSDerivedAttributeDescription else { return }
        derivationExpression = original.derivationExpression
    }
}
