import Foundation
import Heartwood

/// Translates the predicates and orders of models to those of their managed objects.
struct ModelPredicates: PredicateLayer {
    let mapped: MappedModel
    /// Finds the object of a model or of an identifier in the context that asks.
    let objectID: (PersistentIdentifier) -> NSManagedObjectID?

    func predicate<Model: PersistentModel>(_ predicate: Predicate<Model>, entity: NSEntityDescription) throws -> NSPredicate {
        try NSPredicate(translating: predicate, entity: entity, layer: self)
    }

    // MARK: Key paths

    func reading(of keyPath: AnyKeyPath, root: Any.Type) throws -> LayerReading? {
        if let model = root as? any PersistentModel.Type { return try reading(of: keyPath, model: ModelType.of(model)) }
        if root is any RawRepresentable.Type, Self.isRawValue(keyPath) { return LayerReading(keys: []) }
        guard let codable = root as? any (Encodable & Decodable).Type, !(root is any _PersistentScalar.Type),
            case .composite(let elements, _)? = AttributeCodings.coding(of: codable)?.form
        else { return nil }
        let name = String("\(keyPath)".split(separator: ".").last ?? "")
        guard let element = elements.first(where: { $0.name == name }) else {
            throw PredicateTranslationError("The key path \(keyPath) reads no stored property of \(root).")
        }
        if mapped.isFollowing, !element.form.isScalar {
            throw PredicateTranslationError("\(root).\(name) may be kept in another form by the store.")
        }
        if case .raw = element.form { return LayerReading(keys: [name, name]) }
        try Self.check(element.form, "\(root).\(name)")
        return LayerReading(keys: [name])
    }

    private func reading(of keyPath: AnyKeyPath, model: ModelType) throws -> LayerReading {
        let path = try PropertyPath.of(keyPath, root: model)
        let keys = try path.managedKeys(in: mapped, root: model)
        guard let property = path.property, !path.hasElements else { return LayerReading(keys: keys) }
        switch property.kind {
        case .toOne(let type): return LayerReading(keys: path.keys, entity: mapped.model.entitiesByName[ModelType.of(type).name])
        case .toMany(let type):
            return LayerReading(keys: path.keys, isCollection: true, entity: mapped.model.entitiesByName[ModelType.of(type).name])
        case .attribute(let coding):
            let name = "\(model.name).\(property.name)"
            try Self.check(coding.form, name)
            if mapped.isFollowing, let stored = mapped.description(at: path.keys, of: model) as? NSAttributeDescription {
                try Self.check(coding.following(stored)?.form ?? coding.form, name)
            }
            return LayerReading(keys: keys)
        case .unfit: throw PredicateTranslationError("\(model.name).\(property.name) has a type that no store keeps.")
        }
    }

    /// A store compares the bytes of what is kept encoded, which is not what Swift compares.
    private static func check(_ form: AttributeForm, _ name: String) throws {
        switch form {
        case .scalar, .raw, .composite: return
        case .json: throw PredicateTranslationError("\(name) is kept encoded, and its parts are not known to a store.")
        case .transformable: throw PredicateTranslationError("\(name) is kept as its transformer writes it, which a store cannot compare.")
        }
    }

    /// Whether a key path of a type with raw values gives those. It is applied to the values that are known of the type.
    private static func isRawValue(_ keyPath: AnyKeyPath) -> Bool {
        func isRawValue<Value: RawRepresentable>(_: Value.Type) -> Bool {
            guard type(of: keyPath).valueType == Value.RawValue.self else { return false }
            let values = RawValues.known(of: Value.self)
            return !values.isEmpty && values.allSatisfy { value in
                (value as Any)[keyPath: keyPath].flatMap { $0 as? AnyHashable } == (value.rawValue as? AnyHashable)
            }
        }
        guard let root = type(of: keyPath).rootType as? any RawRepresentable.Type else { return false }
        return isRawValue(root)
    }

    // MARK: Constants

    func constant(_ value: Any) -> Any {
        switch value {
        case let model as any PersistentModel: objectID(model.persistentModelID) ?? NSManagedObjectID()
        case let identifier as PersistentIdentifier: objectID(identifier) ?? NSManagedObjectID()
        default: value
        }
    }

    // MARK: Classes

    func entity(of type: Any.Type) -> NSEntityDescription? {
        (type as? any PersistentModel.Type).flatMap { mapped.entity(of: ModelType.of($0)) }
    }

    // MARK: Orders

    /// - Throws: `SwiftDataError.unsupportedSortDescriptor` for an order that no store makes.
    func descriptors<Model: PersistentModel>(_ order: [SortDescriptor<Model>]) throws -> [NSSortDescriptor] {
        try order.map { descriptor in
            #if canImport(Darwin)
                let keyPath: AnyKeyPath? = NSSortDescriptor(descriptor).keyPath
            #else
                let keyPath: AnyKeyPath? = descriptor.keyPath
            #endif
            guard let keyPath else {
                throw SwiftDataError.unsupportedSortDescriptor.because("A sort descriptor of \(Model.self) does not name a key path.")
            }
            let key: String
            do {
                let type = ModelType.of(Model.self)
                key = try PropertyPath.of(keyPath, root: type).managedKeys(in: mapped, root: type).joined(separator: ".")
            } catch {
                throw SwiftDataError.unsupportedSortDescriptor.because("\(error)")
            }
            let isAscending = descriptor.order == .forward
            guard let text = descriptor.stringComparator, text != .lexical else {
                return NSSortDescriptor(key: key, ascending: isAscending)
            }
            // Foundation names no other comparator off Apple's platforms.
            return NSSortDescriptor(key: key, ascending: isAscending, textOrder: .localizedStandard)
        }
    }
}
