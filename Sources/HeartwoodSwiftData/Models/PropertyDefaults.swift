import Foundation
import Heartwood

/// Values of properties that neither the program nor the store has given one: of a model whose row is gone, or of a column that a store lacks.
enum PropertyDefaults {
    /// The default that the class declares, or else a neutral value.
    static func value<Value>(of type: ModelType, at position: Int) -> Value {
        if position < type.own.count, let value = type.own[position].defaultValue as? Value { return value }
        return neutral()
    }

    static func neutral<Value>() -> Value {
        if let found = neutralIfAny(Value.self) { return found }
        // No value of the type is known, and a getter has no error. The class promises to set such a property before it is read.
        preconditionFailure("A property of the type \(Value.self) was read before it had a value. Give it a default value, or make it optional.")
    }

    private static func neutralIfAny<Value>(_ type: Value.Type) -> Value? {
        switch type {
        case let optional as any OptionalValue.Type: return optional.init(nilLiteral: ()) as? Value
        case let scalar as any _PersistentScalar.Type: return scalar._neutral as? Value
        case let list as any ExpressibleByArrayLiteral.Type: return empty(list) as? Value
        case let map as any ExpressibleByDictionaryLiteral.Type: return empty(map) as? Value
        case let decodable as any Decodable.Type: return decoded(decodable) as? Value
        default: return nil
        }
    }

    private static func empty<List: ExpressibleByArrayLiteral>(_: List.Type) -> Any { [] as List }
    private static func empty<Map: ExpressibleByDictionaryLiteral>(_: Map.Type) -> Any { [:] as Map }
    private static func decoded<Value: Decodable>(_ type: Value.Type) -> Any? { CompositeProbe.neutral(type, depth: 0) }

    /// A new model of no context, for a relationship that must have one and has none.
    static func neutralModel<Model: PersistentModel>() -> Model { Model(backingData: DefaultBackingData<Model>()) }
}
