import Foundation

/// One element of a composite attribute at run time. Its value lies with the object's other values, under an index of its own.
struct CompositeElement {
    /// Within the composite.
    let name: String
    let index: Int

    /// Tells each composite where its elements are. Costs a test where the entity has none.
    static func connect(_ list: [PropertyRuntime], of entity: NSEntityDescription) -> [PropertyRuntime] {
        guard entity.hasComposites else { return list }
        var result = list
        for (position, property) in entity.frozenProperties.enumerated() {
            guard let composite = property as? NSCompositeAttributeDescription else { continue }
            result[position].elements = composite.elements.compactMap { element in
                entity.propertyIndexByName["\(composite.name).\(element.name)"].map { CompositeElement(name: element.name, index: $0) }
            }
        }
        return result
    }
}

extension EntityRuntime {
    /// Values by property name with the elements of composites in dictionaries, as key-value coding shows them.
    func nested(_ values: [String: Any]) -> [String: Any] {
        guard entity.hasComposites else { return values }
        var result = values
        // Inner ones first: a composite comes before its elements.
        for property in properties.reversed() {
            guard let elements = property.elements else { continue }
            var inner: [String: Any] = [:]
            for element in elements {
                let value = result.removeValue(forKey: "\(property.name).\(element.name)")
                if let value, !(value is NSNull) { inner[element.name] = value }
            }
            if !inner.isEmpty { result[property.name] = inner }
        }
        return result
    }

    /// The index of the property that the entity states: of an element, its outermost composite's.
    func statedIndex(_ index: Int) -> Int {
        guard entity.hasComposites, let dot = properties[index].name.firstIndex(of: ".") else { return index }
        return indexByName[String(properties[index].name[..<dot])] ?? index
    }
}
