import Foundation

/// An attribute made of elements: `address` with `city` and `street`. An element may be composite itself.
///
/// A store has a column for each element, so fetches can compare and sort by key paths such as "address.city". `value(forKey:)` of the
/// composite returns a dictionary of the elements that have a value, or nil if none has. `setValue(_:forKey:)` takes such a dictionary and
/// clears the elements that it omits. If the composite is optional, so is each element: the whole may be absent.
/// Source: https://developer.apple.com/documentation/coredata/nscompositeattributedescription
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// Attributes with unique names. They may be composite but not derived.
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

    /// Whether an element at any depth is derived.
    final var hasDerivedElements: Bool {
        elements.contains { $0 is NSDerivedAttributeDescription || ($0 as? NSCompositeAttributeDescription)?.hasDerivedElements == true }
    }

    final func makeElementsImmutable() {
        for element in elements {
            element.isImmutable = true
            (element as? NSCompositeAttributeDescription)?.makeElementsImmutable()
        }
    }

    /// The attributes that represent the elements at any depth in rows. Their names are key paths from the entity.
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
            if let name = element.declaredValueClassName { column.attributeValueClassName = name }
            column.setValidation(element.validationPredicates, warnings: element.validationWarnings)
            return [column]
        }
    }
}
