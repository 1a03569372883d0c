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
        for (place, property) in entity.frozenProperties.enumerated() {
            guard let composite = property as? NSCompositeAttributeDescription else { continue }
            result[place].elements = composite.elements.compactMap { element in
                entity.propertyIndexByName["\(composite.name).\(element.name)"].map { CompositeElement(name: element.name, index: $0) }
            }
        }
        return result
    }
}

extension NSManagedObject {
    /// The elements that have a value, by name; nil where none has.
    final func compositeValue(_ property: PropertyRuntime) -> Any? {
        var result: [String: Any] = [:]
        for element in property.elements ?? [] { result[element.name] = value(at: element.index) }
        return result.isEmpty ? nil : result
    }

    /// Sets the elements that a dictionary names, and clears the others.
    final func setCompositeValue(_ value: Any?, _ property: PropertyRuntime) throws(ValueMismatch) {
        let elements = property.elements ?? []
        var given: [String: Any] = [:]
        if let value, !(value is NSNull) {
            guard let dictionary = value as? [String: Any] else {
                throw ValueMismatch(
                    message: "Unacceptable type of value for \(entity.name ?? "?").\(property.name): it is a composite, which takes a "
                        + "dictionary of its elements; the value is \(type(of: value)).")
            }
            given = dictionary
        }
        if let stranger = given.keys.sorted().first(where: { key in !elements.contains { $0.name == key } }) {
            throw ValueMismatch(
                message: "\(entity.name ?? "?").\(property.name) has no element \"\(stranger)\"; it has "
                    + elements.map(\.name).sorted().joined(separator: ", ") + ".")
        }
        for element in elements { try setValue(given[element.name], at: element.index) }
    }

    /// The object whose composite the end of a path leads into, and the element's key; nil where none does.
    final func compositeOwner(of path: String) -> (object: NSManagedObject, key: String)? {
        var object = self
        var rest = path[...]
        while true {
            if object.entity.hasComposites, object.runtime.index(of: String(rest)) != nil { return (object, String(rest)) }
            guard let dot = rest.firstIndex(of: "."), let index = object.runtime.index(of: String(rest[..<dot])),
                object.runtime.properties[index].kind == .toOne, let next = object.managedObject(at: index)
            else { return nil }
            object = next
            rest = rest[rest.index(after: dot)...]
        }
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
