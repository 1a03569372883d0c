import Foundation

/// Fetched properties. They are fetched when first read, and kept until the object is refreshed or becomes a fault.
extension NSManagedObject {
    /// The description of a fetched property; nil for any other property.
    final func fetchedProperty(_ index: Int) -> NSFetchedPropertyDescription? {
        guard runtime.properties[index].kind == .undefined else { return nil }
        return entity.propertiesByIndex[index] as? NSFetchedPropertyDescription
    }

    /// The results of the property's fetch; nil for an object without a context. Getters cannot throw: if a store cannot be read the result is
    /// empty, and every later save throws the error until you roll back.
    /// - Precondition: the property has a fetch request that the stores can execute.
    final func fetchedValue(at index: Int) -> NSArray? {
        checkQueue("a fetched property", index)
        if let known = storage?.fetched[index] { return known }
        guard let context = managedObjectContext, let property = fetchedProperty(index) else { return nil }
        do {
            let found = NSArray(array: try context.results(of: property, for: self))
            ownStorage().fetched[index] = found
            return found
        } catch {
            let error = error as NSError
            demand(
                error.code != NSPersistentStoreUnsupportedRequestTypeError,
                "The fetched property \(entity.name ?? "?").\(property.name) cannot be fetched: \(error.localizedDescription)")
            context.readingFailure = context.readingFailure ?? error
            return NSArray()
        }
    }

    final func fetchedRefusal(_ name: String) -> String {
        "\(entity.name ?? "?").\(name) is a fetched property, which is read-only: change the objects that it finds, and refresh this one."
    }

    // MARK: Key paths

    /// The value of a key path for each result.
    final func fetchedValues(_ list: NSArray, _ path: String) -> NSArray {
        NSArray(array: list.map { member in
            switch member {
            case let object as NSManagedObject: object.value(forKeyPath: path) ?? NSNull()
            case let dictionary as NSDictionary: dictionary.object(forKey: path) ?? NSNull()
            default: NSNull()
            }
        })
    }

    /// The value at the end of a path with collection operators.
    final func operatorValue(_ path: String) -> Any? {
        let keys: [String]
        do { keys = try PredicateKeyPath.keys(path) } catch { misuse("\(entity.name ?? "?") has no value: \(error).") }
        for key in keys where key.hasPrefix("@") {
            demand(
                PredicateKeyPath.operators.contains(key),
                "There is no collection operator \"\(key)\"; there are \(PredicateKeyPath.operators.sorted().joined(separator: " ")).")
        }
        return PredicateKeyPath.value(keys[...], of: self).object
    }
}

extension NSManagedObjectContext {
    fileprivate final func results(of property: NSFetchedPropertyDescription, for source: NSManagedObject) throws -> [Any] {
        guard let template = property.fetchRequest, template.entityName != nil else {
            throw CoreDataError.unsupported("it has no fetchRequest with an entity; give it one in the model.")
        }
        let request = template.duplicate()
        request.predicate = template.predicate.map { NSPredicate(node: $0.storedNode.substituting(source: source, property: property)) }
        let specification = try FetchSpecification(request, context: self)
        guard request.resultType.isEmpty else { return try fetch(request) }
        return try fetchObjects(specification)
    }
}

extension PredicateNode {
    /// The predicate for one object: `$FETCH_SOURCE` and key paths that start there are replaced by the object and its values.
    fileprivate func substituting(source: NSManagedObject, property: NSFetchedPropertyDescription) -> PredicateNode {
        func value(of name: String, _ keys: [String]) -> PredicateValue? {
            switch name {
            case "FETCH_SOURCE": keys.isEmpty ? .object(source) : PredicateKeyPath.value(keys[...], of: source)
            case "FETCHED_PROPERTY": keys.isEmpty ? .other(property) : property.value(under: keys)
            default: nil
            }
        }
        return rewriting { expression, bound in
            switch expression {
            case .path(.variable(let name), let keys) where !bound.contains(name):
                value(of: name, keys).map(ExpressionNode.constant) ?? expression
            // A variable in a key path is visited before the path, which needs it unchanged.
            default: expression
            }
        }.rewriting { expression, bound in
            guard case .variable(let name) = expression, !bound.contains(name) else { return expression }
            return value(of: name, []).map(ExpressionNode.constant) ?? expression
        }
    }
}

extension NSFetchedPropertyDescription {
    /// The value of a key path in the description.
    fileprivate func value(under keys: [String]) -> PredicateValue {
        let rest = keys.dropFirst()
        return switch keys[0] {
        case "name": PredicateKeyPath.value(rest, of: name)
        case "userInfo": PredicateKeyPath.value(rest, of: NSDictionary(dictionary: userInfo ?? [:]))
        case "entity" where rest == ["name"]: PredicateValue(holder?.name)
        default: .null
        }
    }
}
