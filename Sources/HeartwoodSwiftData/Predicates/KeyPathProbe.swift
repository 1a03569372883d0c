import Foundation
import Heartwood

/// Finds out what a key path reads, by applying it to a model whose storage records what is read.
///
/// A key path is opaque, and only one that declares a property equals the one in the class's metadata: an inherited, generic or longer one does
/// not. The model has values that nothing computes by chance, twice others, so that a property that is returned differs from one that is used to
/// compute.
final class KeyPathProbe {
    private struct Read {
        let model: AnyObject?
        let storage: ModelStorage
        let property: ModelProperty
    }

    private let round: Int
    private var reads: [Read] = []
    /// By storage and position: the model at the other end of a relationship.
    private var destinations: [Place: any PersistentModel] = [:]

    private struct Place: Hashable {
        let storage: ObjectIdentifier
        let position: Int
    }

    private init(round: Int) { self.round = round }

    // MARK: Reading

    static func reading(of keyPath: AnyKeyPath, root: ModelType) throws -> PropertyPath {
        let first = try KeyPathProbe(round: 0).reading(of: keyPath, root)
        let second = try KeyPathProbe(round: 1).reading(of: keyPath, root)
        guard first.keys == second.keys else { throw refusal(keyPath, "reads different properties at different times") }
        return first
    }

    private static func refusal(_ keyPath: AnyKeyPath, _ reason: String) -> PredicateTranslationError {
        PredicateTranslationError("The key path \(keyPath) \(reason). A store is asked for one persisted property as it is.")
    }

    private func reading(of keyPath: AnyKeyPath, _ root: ModelType) throws -> PropertyPath {
        // A getter that has nothing to return cannot be tried.
        guard !Self.leadsToFragile(root) else { throw Self.refusal(keyPath, "may read a property whose type has no value to try it with") }
        let model = make(root.type)
        let value = (model as Any)[keyPath: keyPath]
        var end: any PersistentModel = model
        for (index, read) in reads.enumerated() {
            guard end._$storages().contains(where: { $0 === read.storage }) else { throw Self.refusal(keyPath, "reads several properties") }
            guard index < reads.count - 1 else { break }
            guard let next = destinations[Place(storage: ObjectIdentifier(read.storage), position: read.property.position)] else {
                throw Self.refusal(keyPath, "reads several properties")
            }
            end = next
        }
        let keys = reads.map(\.property.name)
        if let identifier = value as? PersistentIdentifier {
            let last = reads.last.flatMap { destinations[Place(storage: ObjectIdentifier($0.storage), position: $0.property.position)] } ?? model
            guard identifier == last.persistentModelID else { throw Self.refusal(keyPath, "computes its value") }
            return PropertyPath(keys: keys, property: reads.last?.property, hasElements: false)
        }
        guard let last = reads.last?.property else { throw Self.refusal(keyPath, "reads no persisted property of \(root.name)") }
        let wanted = type(of: keyPath).valueType
        if isValue(value, wanted, of: last) { return PropertyPath(keys: keys, property: last, hasElements: false) }
        if isRawValue(value, of: last) { return PropertyPath(keys: keys, property: last, hasElements: false) }
        guard case .attribute(let coding) = last.kind, case .composite(let elements, _) = coding.form else {
            throw Self.refusal(keyPath, "computes its value from \(keys.joined(separator: "."))")
        }
        return PropertyPath(keys: keys + (try Self.elements(keyPath, elements)), property: last, hasElements: true)
    }

    /// Whether the value is that of the property, unchanged.
    private func isValue(_ value: Any?, _ type: Any.Type, of property: ModelProperty) -> Bool {
        let bare = Unwrapping.wrapped(type)
        let own = Unwrapping.wrapped(property.valueType)
        guard bare == own else { return false }
        guard let scalar = own as? any _PersistentScalar.Type, let probe = Self.probe(scalar, round) as? AnyHashable else { return true }
        guard let found = value.flatMap(Unwrapping.value) as? AnyHashable else { return false }
        return found == probe
    }

    /// Whether the value is the raw value of the case that the property gave.
    private func isRawValue(_ value: Any?, of property: ModelProperty) -> Bool {
        guard case .attribute(let coding) = property.kind, case .raw = coding.form,
            let own = Unwrapping.wrapped(property.valueType) as? any RawRepresentable.Type,
            let known = Self.rawValue(own, round) as? AnyHashable
        else { return false }
        return value.flatMap(Unwrapping.value) as? AnyHashable == known
    }

    private static func rawValue<Value: RawRepresentable>(_ type: Value.Type, _ round: Int) -> Any? { rawCase(type, round)?.rawValue }

    /// Different cases in the two rounds, where the type lists its cases.
    private static func rawCase<Value: RawRepresentable>(_ type: Value.Type, _ round: Int) -> Value? {
        let known = RawValues.known(of: type)
        return round == 0 ? known.first : known.last
    }

    /// The names after the property, as the key path prints them: its last steps read stored properties of structures.
    private static func elements(_ keyPath: AnyKeyPath, _ elements: [AttributeForm.Element]) throws -> [String] {
        let text = "\(keyPath)"
        let tail = text.lastIndex(of: ">").map { text[text.index(after: $0)...] } ?? text[...]
        let names = tail.split(separator: ".").map { $0.filter { $0 != "?" && $0 != "!" } }.filter { !$0.isEmpty && !$0.hasPrefix("\\") }
        var level = elements
        var found: [String] = []
        for name in names {
            guard let element = level.first(where: { $0.name == name }) else { continue }
            found.append(name)
            switch element.form {
            case .composite(let inner, _): level = inner
            case .raw: found.append(name)
            default: level = []
            }
        }
        guard !found.isEmpty else { throw refusal(keyPath, "reads a part of a structure that is no stored property of it") }
        return found
    }

    private static func leadsToFragile(_ root: ModelType) -> Bool {
        var known: Set<ObjectIdentifier> = [], waiting = [root]
        while let type = waiting.popLast() {
            guard known.insert(ObjectIdentifier(type)).inserted else { continue }
            if type.isFragile { return true }
            waiting += type.properties.compactMap { $0.destination.map(ModelType.of) }
        }
        return false
    }

    // MARK: Answering

    private func make(_ type: any PersistentModel.Type) -> any PersistentModel {
        func make<M: PersistentModel>(_: M.Type) -> any PersistentModel {
            let data = DefaultBackingData<M>()
            data.probe = self
            return M(backingData: data)
        }
        return make(type)
    }

    private func note(_ storage: ModelStorage, _ position: Int) -> ModelProperty? {
        let own = storage.modelType.own
        guard position < own.count else { return nil }
        if let last = reads.last, last.storage === storage, last.property === own[position] { return own[position] }
        reads.append(Read(model: nil, storage: storage, property: own[position]))
        return own[position]
    }

    func value<Value>(of storage: ModelStorage, at position: Int) -> Value? {
        guard let property = note(storage, position) else { return nil }
        if let destination = property.destination { return other(storage, position, destination) as? Value }
        if let scalar = Value.self as? any _PersistentScalar.Type { return Self.probe(scalar, round) as? Value }
        let wrapped = Unwrapping.wrapped(Value.self)
        if let raw = wrapped as? any RawRepresentable.Type, let found = Self.rawCase(raw, round) as? Value { return found }
        if let optional = Value.self as? any OptionalValue.Type, let decodable = optional.wrappedType as? any Decodable.Type {
            return Self.neutral(decodable) as? Value
        }
        return (Value.self as? any Decodable.Type).flatMap { Self.neutral($0) } as? Value
    }

    func members<Member: PersistentModel>(of storage: ModelStorage, at position: Int) -> [Member] {
        guard let property = note(storage, position), let destination = property.destination else { return [] }
        return [other(storage, position, destination)].compactMap { $0 as? Member }
    }

    private func other(_ storage: ModelStorage, _ position: Int, _ type: any PersistentModel.Type) -> any PersistentModel {
        let place = Place(storage: ObjectIdentifier(storage), position: position)
        if let known = destinations[place] { return known }
        let made = make(type)
        destinations[place] = made
        return made
    }

    private static func neutral<Value: Decodable>(_ type: Value.Type) -> Any? { CompositeProbe.neutral(type, depth: 0) }

    /// A value that an accessor returns, and does not make up; it differs from round to round.
    private static func probe(_ type: any _PersistentScalar.Type, _ round: Int) -> Any? {
        func example<Value: _PersistentScalar>(_: Value.Type) -> Any? { Unwrapping.value(Value._examples[round % Value._examples.count]) }
        return example(type)
    }
}
