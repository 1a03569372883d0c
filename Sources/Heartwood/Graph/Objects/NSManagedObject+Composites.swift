import Foundation

extension NSManagedObject {
    /// The elements that have a value, by name; nil if none has.
    final func compositeValue(_ property: PropertyRuntime) -> Any? {
        var result: [String: Any] = [:]
        for element in property.elements ?? [] { result[element.name] = value(at: element.index) }
        return result.isEmpty ? nil : result
    }

    /// Sets the elements that a dictionary names, and clears the others.
    final func setCompositeValue(_ value: Any?, _ property: PropertyRuntime, takesUnfit: Bool) throws(ValueMismatch) {
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
        if let unknown = given.keys.sorted().first(where: { key in !elements.contains { $0.name == key } }) {
            throw ValueMismatch(
                message: "\(entity.name ?? "?").\(property.name) has no element \"\(unknown)\"; it has "
                    + elements.map(\.name).sorted().joined(separator: ", ") + ".")
        }
        for element in elements { try setValue(given[element.name], at: element.index, takesUnfit: takesUnfit) }
    }

    /// The object whose composite contains the end of a path, and the element's key; nil if the path leads into no composite.
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
