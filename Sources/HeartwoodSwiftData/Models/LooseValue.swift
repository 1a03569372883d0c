import Foundation
@_spi(GeneratedCode) import Heartwood

/// A value of a model that no context has. A scalar is kept in the form that a managed object keeps it in, so an insertion moves it without a cast.
enum LooseValue {
    /// The property was never set.
    case unset
    case scalar(ManagedValue)
    case model((any PersistentModel)?)
    case models([any PersistentModel]?)
    /// A value that a coder or a transformer makes an attribute of.
    indirect case other(Any)

    /// The models of a relationship.
    var members: [any PersistentModel] {
        switch self {
        case .model(let model): model.map { [$0] } ?? []
        case .models(let models): models ?? []
        default: []
        }
    }

    /// The value, if it is one of the type.
    ///
    /// A scalar may come here through code that knows its type only when it runs.
    func value<Value>(as type: Value.Type) -> Value? {
        switch self {
        case .unset: nil
        case .scalar(let value): (type as? any _PersistentScalar.Type).flatMap { $0.init(_scalar: _ScalarValue(value)) as? Value }
        case .model(let model): model as? Value
        case .models(let models): models as? Value
        case .other(let value): value as? Value
        }
    }

    /// The same for a type that is known to be a scalar.
    func scalar<Value: _PersistentScalar>() -> Value? {
        if case .scalar(let value) = self { return Value(_scalar: _ScalarValue(value)) }
        return value(as: Value.self)
    }
}

/// A scalar in the form that a managed object keeps it in.
public struct _ScalarValue {
    let value: ManagedValue

    init(_ value: ManagedValue) { self.value = value }

    /// - Parameter index: that of an attribute of the value's type.
    func write(to object: NSManagedObject, at index: Int) {
        switch value {
        case .integer(let number): object.setManagedInteger(number, at: index)
        case .bool(let flag): object.setManagedInteger(flag ? 1 : 0, at: index)
        case .double(let number): object.setManagedDouble(number, at: index)
        case .date(let seconds): object.setManagedDate(Date(timeIntervalSinceReferenceDate: seconds), at: index)
        case .text(let text): object.setManagedString(text, at: index)
        case .data(let data): object.setManagedAttribute(data, at: index)
        case .uuid(let uuid): object.setManagedAttribute(uuid, at: index)
        case .decimal(let number): object.setManagedAttribute(number, at: index)
        case .url(let url): object.setManagedAttribute(url, at: index)
        default: object.setManagedAttribute(nil, at: index)
        }
    }
}
