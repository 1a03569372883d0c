import Foundation
import Heartwood

/// The values that a batch update gives to all models that it chooses: constants, or expressions over each model's own properties.
public struct BatchUpdate<Model: PersistentModel> {
    var row: BatchRow<Model>
    private let predicates: ModelPredicates
    private let entity: NSEntityDescription

    init(_ entity: NSEntityDescription, _ predicates: ModelPredicates) {
        row = BatchRow(predicates)
        self.predicates = predicates
        self.entity = entity
    }

    /// Sets a property, or a part of a structure, to a constant. The rules of `BatchRow.set(_:to:)` apply.
    public mutating func set<Value>(_ keyPath: KeyPath<Model, Value>, to value: Value) { row.set(keyPath, to: value) }

    /// Sets a relationship to the model with an identifier.
    public mutating func set<Other: PersistentModel>(_ keyPath: KeyPath<Model, Other?>, to identifier: PersistentIdentifier) {
        row.set(keyPath, to: identifier)
    }

    public mutating func set<Other: PersistentModel>(_ keyPath: KeyPath<Model, Other>, to identifier: PersistentIdentifier) {
        row.set(keyPath, to: identifier)
    }

    /// Sets an attribute to what an expression gives for each model, from its values before the batch.
    ///
    /// ```swift
    /// try context.update(FetchDescriptor<Book>()) { $0.set(\.pages, to: #Expression { $0.pages + 1 }) }
    /// ```
    /// The expression reads attributes of the model itself, not of others.
    public mutating func set<Value>(_ keyPath: KeyPath<Model, Value>, to expression: Expression<Model, Value>) {
        row.note { row in
            let translated: NSExpression
            do {
                translated = try NSExpression(translating: expression, entity: entity, layer: predicates)
            } catch let error as PredicateTranslationError {
                throw SwiftDataError.unsupportedKeyPath.because("\(error)", underlying: error)
            }
            try row.put(translated, at: keyPath)
        }
    }
}
