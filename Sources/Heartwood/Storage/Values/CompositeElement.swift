import Foundation

/// An element of a composite attribute. Its value is one of the object's values, with its own index.
struct CompositeElement {
    /// The name within the composite.
    let name: String
    let index: Int

    /// Sets the elements of each composite. Costs one test where the entity has none.
    static func connect(_ list: [PropertyRuntime], of entity: NSEntityDescription) -> [PropertyRuntime] {
        guard entity.hasComposites else { return list }
        var result = list
        for (position, property) in entity.propertiesByIndex.enumerated() {
            guard let composite = property as? NSCompositeAttributeDescription else { continue }
            result[position].elements = composite.elements.compactMap { element in
                entity.propertyIndexByName["\(composite.name).\(element.name)"].map { CompositeElement(name: element.name, index: $0) }
            }
        }
        return result
    }
}

extension EntityRuntime {
    /// Moves the elements of composites in a dictionary of values into inner dictionaries, as key-value coding returns them.
    package func nested(_ values: [String: Any]) -> [String: Any] {
        guard entity.hasComposites else { return values }
        var result = values
        // Inner composites first: a composite comes before its elements.
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

    /// Returns the index of the declared property: for an element, that of its outermost composite.
    package func declaredIndex(_ index: Int) -> Int {
        guard entity.hasComposites, let dot = properties[index].name.firstIndex(of: ".") else { return index }
        return self.index(of: String(properties[index].name[..<dot])) ?? index
    }
}
