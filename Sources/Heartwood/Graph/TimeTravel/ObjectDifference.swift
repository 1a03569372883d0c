import Foundation

/// An object that two states of a store do not have alike.
package struct ObjectDifference {
    package enum Kind: String {
        case inserted, updated, deleted
    }

    package let kind: Kind
    /// The entity in the newer state, or in the older one for a deleted object.
    package let entity: String
    /// The object's URI.
    package let object: String
    /// Of an inserted or deleted object those with a value. In the order of the entity's properties.
    package let properties: [PropertyDifference]

    package init(kind: Kind, entity: String, object: String, properties: [PropertyDifference]) {
        (self.kind, self.entity, self.object, self.properties) = (kind, entity, object, properties)
    }
}

/// A property that differs.
package struct PropertyDifference {
    /// A value of an attribute.
    package struct Value {
        package let attribute: NSAttributeDescription
        /// As key-value coding returns it; of a transformable without its class nil.
        package let object: Any?
        /// The stored bytes of a transformable.
        package let bytes: Data?

        package init(attribute: NSAttributeDescription, object: Any?, bytes: Data?) {
            (self.attribute, self.object, self.bytes) = (attribute, object, bytes)
        }
    }

    package enum Change {
        /// nil stands for null.
        case attribute(old: Value?, new: Value?)
        /// Destinations' URIs; nil stands for null.
        case toOne(old: String?, new: String?)
        /// Members' URIs.
        case members(added: [String], removed: [String])
        /// All members' URIs, in their order.
        case order(old: [String], new: [String])
    }

    /// The name in the newer state, or the one in the older state for a property that only that one has.
    package let name: String
    package let change: Change

    package init(name: String, change: Change) { (self.name, self.change) = (name, change) }
}
