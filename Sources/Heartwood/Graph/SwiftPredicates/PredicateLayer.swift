import Foundation

/// A layer above with classes of its own, each of whose objects stands for a managed object. The translation asks the layer what its predicates mean.
package protocol PredicateLayer {
    /// Returns the property that a key path of one of the layer's types reads; nil for a key path of another type.
    /// - Throws: `PredicateTranslationError` if the key path reads nothing that a store can be asked for.
    func reading(of keyPath: AnyKeyPath, root: Any.Type) throws -> LayerReading?
    /// Returns the value that the store compares with: the ID for a model, the raw value for a case, and any other value unchanged.
    func constant(_ value: Any) -> Any
    /// Returns the entity of a class of the layer; nil for another type.
    func entity(of type: Any.Type) -> NSEntityDescription?
}

/// The property that a key path of a layer above reads.
package struct LayerReading {
    let keys: [String]
    let isCollection: Bool
    /// The entity of the objects at the end of a relationship.
    let entity: NSEntityDescription?

    /// - Parameter keys: empty where the key path gives its root in another form.
    package init(keys: [String], isCollection: Bool = false, entity: NSEntityDescription? = nil) {
        self.keys = keys
        self.isCollection = isCollection
        self.entity = entity
    }
}

extension NSPredicate {
    /// Translates a predicate of a layer above.
    /// - Throws: `PredicateTranslationError`, as `init(translating:)` does.
    package convenience init<Model>(translating predicate: Predicate<Model>, entity: NSEntityDescription, layer: any PredicateLayer) throws {
        self.init(translated: try PredicateTranslation.predicate(predicate.expression, predicate.variable.key, entity, layer))
    }
}

extension NSExpression {
    /// Translates an expression of a layer above.
    /// - Throws: `PredicateTranslationError` for an expression that a store cannot compute.
    package convenience init<Model, Value>(
        translating expression: Expression<Model, Value>, entity: NSEntityDescription, layer: any PredicateLayer
    ) throws {
        var translation = PredicateTranslation(layer: layer)
        translation.bind(expression.variable.key, to: TranslatedValue(.keyPath([]), entity: entity))
        self.init(node: try translation.value(expression.expression).whole)
    }
}

extension NSPredicate {
    /// The predicate that a program has written with names about objects of a layer above, about the managed objects for which they stand.
    /// - Parameter keys: gives a managed object's keys for the layer's.
    package func lowered(by layer: any PredicateLayer, keys: ([String]) -> [String]) -> NSPredicate {
        var isChanged = false
        func lowered(_ value: PredicateValue) -> PredicateValue {
            switch value {
            case .other(let object):
                // A case comes in a box.
                let plain: Any = (object as? any RawRepresentable).map { $0.rawValue } ?? object
                guard let known = PredicateTranslation.constant(plain, layer) else { return value }
                isChanged = true
                return known
            case .collection(let members): return .collection(members.map(lowered))
            default: return value
            }
        }
        let node = storedNode.rewriting { expression, _ in
            switch expression {
            case .constant(let value): return .constant(lowered(value))
            case .keyPath(let path):
                let own = keys(path)
                if own.count != path.count { isChanged = true }
                return .keyPath(own)
            default: return expression
            }
        }
        // An unchanged predicate keeps the plans of its format.
        return isChanged ? NSPredicate(node: node) : self
    }
}
