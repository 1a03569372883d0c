import Foundation

/// An attribute made of others, its elements: `address` with `city` and `street`, which may be composite themselves.
///
/// A store has a column for each element, so that fetches compare and sort by key paths such as "address.city". `value(forKey:)` of
/// the composite gives a dictionary of the elements that have a value, or nil where none has; `setValue(_:forKey:)` takes one, and clears
/// the elements that it does not name. Of an optional composite no element is required: it may be absent as a whole.
/// Source: https://developer.apple.com/documentation/coredata/nscompositeattributedescription
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// Attributes, among them composite ones and no derived ones; their names are unique.
    open var elements: [NSAttributeDescription] = [] { willSet { checkEditable() } }

    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    open override func copy(with zone: NSZone? = nil) -> Any { NSCompositeAttributeDescription().taking(self) }

    override func take(_ original: NSPropertyDescription) {
        super.take(original)
        guard let original = original as? NSCompositeAttributeDescription else { return }
        elements = original.elements.compactMap { $0.copy() as? NSAttributeDescription }
    }

    /// Whether an element, or one within an element, is derived.
    final var hasDerivedElements: Bool {
        elements.contains { $0 is NSDerivedAttributeDescription || ($0 as? NSCompositeAttributeDescription)?.hasDerivedElements == true }
    }

    final func freezeElements() {
        for element in elements {
            element.isFrozen = true
            (element as? NSCompositeAttributeDescription)?.freezeElements()
        }
    }

    /// The attributes that stand for the elements in rows, named by their key paths from the entity; elements of elements too.
    final func flattened() -> [NSAttributeDescription] {
        elements.flatMap { element -> [NSAttributeDescription] in
            if let composite = element as? NSCompositeAttributeDescription {
                let inner = NSCompositeAttributeDescription()
                inner.name = "\(name).\(composite.name)"
                inner.elements = composite.elements
                inner.isOptional = isOptional || composite.isOptional
                inner.isTransient = isTransient || composite.isTransient
                return [inner] + inner.flattened()
            }
            let column = NSAttributeDescription()
            column.name = "\(name).\(element.name)"
            column.attributeType = element.attributeType
            column.isOptional = isOptional || element.isOptional
            column.isTransient = isTransient || element.isTransient
            column.defaultValue = element.defaultValue
            column.allowsExternalBinaryDataStorage = element.allowsExternalBinaryDataStorage
            column.valueTransformerName = element.valueTransformerName
            if let name = element.statedValueClassName { column.attributeValueClassName = name }
            column.setValidation(element.validationPredicates, warnings: element.validationWarnings)
            return [column]
        }
    }
}
