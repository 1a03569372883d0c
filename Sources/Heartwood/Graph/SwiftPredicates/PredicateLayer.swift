import Foundation

/// A layer above with classes of its own, each of whose objects stands for a managed object. The translation asks the layer what its predicates mean.
package protocol PredicateLayer {
    /// Returns the property that a key path of one of the layer's types reads; nil for a key path of another type.
    /// - Throws: `PredicateTranslationError` if the key path reads nothing that a store can be asked for.
    func reading(of keyPath: AnyKeyPath, root: Any.Type) throws -> LayerReading?
    /// Returns the value that the store compares with: the ID for a model, the raw value for a case, and any other value unchanged.
    func constant(_ value: Any) -> Any
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
        var translation = PredicateTranslation(layer: layer)
        translation.bind(predicate.variable.key, to: TranslatedValue(.keyPath([]), entity: entity))
        self.init(node: try translation.predicate(predicate.expression))
    }
}
