import Foundation
import Heartwood

/// Values of properties that neither the program nor the store has given one: of a model whose row is gone, of bytes that cannot be decoded, or of a
/// column that a store lacks.
///
/// A getter has no error. So each property has a value to fall back on before a model is made of a row: see `ModelProperty.fallback`.
enum PropertyDefaults {
    /// The default that the class declares, or else a neutral value, or else the newest value that a model had.
    static func value<Value>(of type: ModelType, at position: Int) -> Value {
        guard position < type.own.count else { return neutral() }
        if let value = type.own[position].defaultValue as? Value { return value }
        if let value = neutralIfAny(Value.self) { return value }
        return type.own[position].fallback as? Value ?? neutral()
    }

    static func neutral<Value>() -> Value {
        if let found = neutralIfAny(Value.self) { return found }
        // Only a program comes here that makes a model of backing data without values.
        preconditionFailure("A property of the type \(Value.self) was read before it had a value. Give it a default value, or make it optional.")
    }

    /// Whether a value of the type can be made up.
    static func hasNeutral(_ type: Any.Type) -> Bool {
        func hasNeutral<Value>(_: Value.Type) -> Bool { neutralIfAny(Value.self) != nil }
        return _openExistential(type, do: hasNeutral)
    }

    private static func neutralIfAny<Value>(_ type: Value.Type) -> Value? {
        switch type {
        case let optional as any OptionalValue.Type: return optional.init(nilLiteral: ()) as? Value
        case let scalar as any _PersistentScalar.Type: return scalar._neutral as? Value
        default: break
        }
        if let empty = emptyCollection(type) { return empty as? Value }
        return (type as? any Decodable.Type).flatMap { decoded($0) as? Value }
    }

    /// nil for a type that is no collection.
    static func emptyCollection(_ type: Any.Type) -> Any? {
        switch type {
        case let list as any ExpressibleByArrayLiteral.Type: empty(list)
        case let map as any ExpressibleByDictionaryLiteral.Type: empty(map)
        default: nil
        }
    }

    private static func empty<List: ExpressibleByArrayLiteral>(_: List.Type) -> Any { [] as List }
    private static func empty<Map: ExpressibleByDictionaryLiteral>(_: Map.Type) -> Any { [:] as Map }
    private static func decoded<Value: Decodable>(_ type: Value.Type) -> Any? { CompositeProbe.anyNeutral(type) }

    /// A new model of no context, for a relationship that must have one and has none.
    static func neutralModel<Model: PersistentModel>() -> Model { Model(backingData: DefaultBackingData<Model>()) }
}
