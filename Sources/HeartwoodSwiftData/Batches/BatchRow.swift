import Foundation
import Heartwood

/// The values of one model for the store, without the model: the row of a batch insertion, which a closure fills.
///
/// A property that is not set gets its default value.
public struct BatchRow<Model: PersistentModel> {
    private let predicates: ModelPredicates
    /// The values by the paths of the managed object model.
    private(set) var values: [String: Any] = [:]
    /// What `set` could not throw.
    private(set) var failure: (any Error)?

    init(_ predicates: ModelPredicates) { self.predicates = predicates }

    /// Sets a property of any type that a model may have, or a part of a structure, but no to-many relationship.
    ///
    /// A relationship takes a saved model; its inverse, if any, is an array. A value that cannot be stored makes the batch throw.
    public mutating func set<Value>(_ keyPath: KeyPath<Model, Value>, to value: Value) {
        note { try $0.put(keyPath, value, AttributeCodings.coding(of: Value.self)) }
    }

    /// Sets a relationship to the model with an identifier.
    public mutating func set<Other: PersistentModel>(_ keyPath: KeyPath<Model, Other?>, to identifier: PersistentIdentifier) {
        note { try $0.refer($0.property(keyPath), identifier) }
    }

    public mutating func set<Other: PersistentModel>(_ keyPath: KeyPath<Model, Other>, to identifier: PersistentIdentifier) {
        note { try $0.refer($0.property(keyPath), identifier) }
    }

    mutating func removeAll() { values.removeAll(keepingCapacity: true) }

    mutating func note(_ body: (inout BatchRow) throws -> Void) {
        do { try body(&self) } catch { failure = failure ?? error }
    }

    // MARK: Values

    /// The name of a scalar, for an expression.
    /// - Throws: `SwiftDataError.unsupportedKeyPath` for anything else.
    mutating func put(_ expression: NSExpression, at keyPath: PartialKeyPath<Model>) throws {
        let path = try path(keyPath)
        guard let property = path.property, case .attribute(let coding) = property.kind else {
            throw Self.refusal(keyPath, "is no attribute, and an expression gives values of attributes")
        }
        switch coding.form {
        case .scalar, .raw: break
        case .composite where path.hasElements: break
        case .composite, .json, .transformable: throw Self.refusal(keyPath, "has a type that no expression gives")
        }
        try checkForm(path, coding, keyPath)
        values[try path.managedKeys(in: predicates.mapped, root: ModelType.of(Model.self)).joined(separator: ".")] = expression
    }

    private mutating func put<Value>(_ keyPath: KeyPath<Model, Value>, _ value: Value, _ coding: (any AttributeCoding)?) throws {
        let path = try path(keyPath)
        guard let property = path.property else { throw Self.refusal(keyPath, "is the identity, which the store gives") }
        switch property.kind {
        case .attribute(let own):
            // The type of a part of a structure is its own.
            guard let coding = path.hasElements ? coding : own else { throw Self.refusal(keyPath, "has a type that no store keeps") }
            try checkForm(path, coding, keyPath)
            try put(path.keys.joined(separator: "."), coding.form, try coding.objectOfAny(value))
        case .toOne:
            guard let model = Unwrapping.value(value) else { return values[property.name] = NSNull() }
            guard let model = model as? any PersistentModel else { throw Self.refusal(keyPath, "takes a model") }
            try refer(property, model.persistentModelID)
        case .toMany: throw Self.refusal(keyPath, "is a to-many relationship; set its inverse in the rows of the other class")
        case .unfit: throw Self.refusal(keyPath, "has a type that no store keeps")
        }
    }

    /// Refuses a value that has another form in a store which was not made for the classes.
    private func checkForm(_ path: PropertyPath, _ coding: any AttributeCoding, _ keyPath: PartialKeyPath<Model>) throws {
        guard predicates.mapped.isFollowing else { return }
        if !path.hasElements, case .scalar = coding.form { return }
        throw Self.refusal(keyPath, "is kept in the form that the store was made with, which models alone know")
    }

    /// Puts a value at its path, and a structure's parts at theirs.
    private mutating func put(_ path: String, _ form: AttributeForm, _ object: Any?) throws {
        switch form {
        case .scalar, .json, .transformable: values[path] = object ?? NSNull()
        case .raw: values[path + "." + (path.split(separator: ".").last ?? "")] = object ?? NSNull()
        case .composite(let elements, _):
            let parts = object as? [String: Any]
            for element in elements { try put(path + "." + element.name, element.form, parts?[element.name]) }
        }
    }

    private mutating func refer(_ property: ModelProperty, _ identifier: PersistentIdentifier) throws {
        guard let id = predicates.objectID(identifier), !id.isTemporaryID else {
            throw SwiftDataError.missingModelContext.because("\(Model.self).\(property.name) takes a model that is saved, not \(identifier).")
        }
        values[property.name] = id
    }

    private func property(_ keyPath: PartialKeyPath<Model>) throws -> ModelProperty {
        guard let property = try path(keyPath).property else { throw Self.refusal(keyPath, "is no relationship") }
        return property
    }

    private func path(_ keyPath: PartialKeyPath<Model>) throws -> PropertyPath {
        do {
            let path = try PropertyPath.of(keyPath, root: ModelType.of(Model.self))
            guard path.hasElements || path.keys.count < 2 else { throw Self.refusal(keyPath, "leads to another model") }
            return path
        } catch let error as PredicateTranslationError {
            throw SwiftDataError.unsupportedKeyPath.because("\(error)", underlying: error)
        }
    }

    private static func refusal(_ keyPath: AnyKeyPath, _ reason: String) -> SwiftDataError {
        .unsupportedKeyPath.because("A batch cannot set the key path \(keyPath) of \(Model.self): it \(reason).")
    }
}
