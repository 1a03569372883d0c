import Foundation

/// What a layer above tells the translation of its predicates: classes whose objects are no managed objects, but stand for them.
package protocol PredicateLayer {
    /// What a key path of one of the layer's types reads; nil for another key path.
    /// - Throws: `PredicateTranslationError` if the key path reads nothing that a store can be asked for.
    func reading(of keyPath: AnyKeyPath, root: Any.Type) throws -> LayerReading?
    /// What a predicate compares in place of a constant: the ID of a model, the raw value of a case. Other values are returned as they are.
    func constant(_ value: Any) -> Any
}

/// What a key path of a layer above reads.
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
