import Foundation

/// An attribute whose value follows from others by an expression: `canonical:(name)`, `uppercase:(name)`, `lowercase:(name)`, `now()`,
/// a key path over to-one relationships, or `members.@count` and `members.@sum.amount`.
///
/// The model has it whole: it is built in code, read from model files, kept in stores and part of an entity's version. Stores here
/// keep the attribute as any other, and do **not** compute it yet: until a save does so, code sets it itself.
/// Source: https://developer.apple.com/documentation/coredata/nsderivedattributedescription
public final class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// What the value is made of; nil is none.
    public var derivationExpression: NSExpression? { willSet { checkEditable() } }
}
