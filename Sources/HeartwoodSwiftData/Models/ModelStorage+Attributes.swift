import Foundation
@_spi(GeneratedCode) import Heartwood

// What the accessors of `@Model` call for attributes. Overloads choose the form of a property by its type when the program is compiled; a type that
// no overload takes can be no persisted property.

// MARK: Scalars

extension ModelStorage {
    public final func value<M: PersistentModel, Value: _PersistentScalar>(of model: M, _ keyPath: KeyPath<M, Value>, at position: Int) -> Value {
        access(model, keyPath)
        return value(at: position)
    }

    public final func setValue<M: PersistentModel, Value: _PersistentScalar>(
        _ newValue: Value, of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) {
        withMutation(of: model, keyPath) { set(newValue, at: position) }
    }

    public final func initialize<Value: _PersistentScalar>(_ value: Value, at position: Int) {
        setLoose(.scalar(value._scalar.value), at: position)
    }

    @inline(__always)
    final func value<Value: _PersistentScalar>(at position: Int) -> Value {
        guard let objectReference, let index = index(position) else { return looseValue(at: position) }
        return objectReference._withUnsafeGuaranteedRef { Value._value($0, at: index) }
    }

    /// Apart from `value(at:)`, which would make the metadata of an optional at each call.
    @inline(never)
    private final func looseValue<Value: _PersistentScalar>(at position: Int) -> Value {
        guard objectReference == nil else { return Value._neutral }
        if let probe { return probe.value(of: self, at: position) ?? Value._neutral }
        return loose(position).scalar() ?? Value._neutral
    }

    final func set<Value: _PersistentScalar>(_ newValue: Value, at position: Int) {
        // Retained, unlike in a read: an observer of the object may make the model let go of it.
        guard let object else { return setLoose(.scalar(newValue._scalar.value), at: position) }
        guard let index = index(position) else { return }
        object.keep()
        newValue._write(to: object, at: index)
    }
}

// MARK: Codable values

extension ModelStorage {
    @_disfavoredOverload
    public final func value<M: PersistentModel, Value: Decodable>(of model: M, _ keyPath: KeyPath<M, Value>, at position: Int) -> Value {
        access(model, keyPath)
        return value(at: position)
    }

    @_disfavoredOverload
    public final func setValue<M: PersistentModel, Value: Encodable>(
        _ newValue: Value, of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) {
        withMutation(of: model, keyPath) { set(newValue, at: position) }
    }

    @_disfavoredOverload
    public final func initialize<Value: Encodable>(_ value: Value, at position: Int) { setLoose(.other(value), at: position) }

    @_disfavoredOverload
    final func value<Value: Decodable>(at position: Int) -> Value { codedValue(at: position) }

    @_disfavoredOverload
    final func set<Value: Encodable>(_ newValue: Value, at position: Int) { setCoded(newValue, at: position) }

    private func codedValue<Value>(at position: Int) -> Value {
        guard let object else {
            let found: Value? = if let probe { probe.value(of: self, at: position) } else { loose(position).value(as: Value.self) }
            return found ?? PropertyDefaults.value(of: modelType, at: position)
        }
        guard let place = place(position), let attribute = place.attribute, let coding = place.coding,
            let value = coding.readAny(object, at: attribute) as? Value
        else { return PropertyDefaults.value(of: modelType, at: position) }
        place.property.keep(value)
        return value
    }

    private func setCoded<Value>(_ newValue: Value, at position: Int) {
        guard let object else { return setLoose(.other(newValue), at: position) }
        guard let place = place(position), let attribute = place.attribute, let coding = place.coding else { return }
        object.keep()
        do {
            try coding.writeAny(newValue, to: object, at: attribute)
            place.property.keep(newValue)
        } catch {
            // A setter cannot throw: the next save does.
            object.modelContext?.note(SwiftDataError.encodingFailure(error, place.property.name, of: modelType.name))
        }
    }
}

// MARK: Transformable values

extension ModelStorage {
    public final func transformableValue<M: PersistentModel, Value>(of model: M, _ keyPath: KeyPath<M, Value>, at position: Int) -> Value {
        access(model, keyPath)
        return transformableValue(at: position)
    }

    public final func setTransformableValue<M: PersistentModel, Value>(
        _ newValue: Value, of model: M, _ keyPath: KeyPath<M, Value>, at position: Int
    ) {
        withMutation(of: model, keyPath) { setTransformable(newValue, at: position) }
    }

    public final func initializeTransformable<Value>(_ value: Value, at position: Int) { setLoose(.other(value), at: position) }

    final func transformableValue<Value>(at position: Int) -> Value { codedValue(at: position) }

    final func setTransformable<Value>(_ newValue: Value, at position: Int) { setCoded(newValue, at: position) }
}
