import Foundation
import Heartwood

/// A value of several models together: their number, or the sum, mean, least or greatest value of a property.
///
/// `ModelContext.aggregate(_:_:)` and `aggregates(_:groupedBy:_:)` take them.
public struct Aggregate<Model: PersistentModel, Value> {
    /// The function over rows; see `NSExpression(forFunction:arguments:)`.
    let function: String
    /// nil for the models themselves.
    let keyPath: PartialKeyPath<Model>?
    /// The value of a result of the store; nil for none.
    let value: (Any?) throws -> Value
    /// The value over models, where the store cannot be asked.
    let reduce: ([Model]) throws -> Value

    /// Whether the store can compute it.
    let isStored: Bool

    private init<Property>(
        _ function: String, _ keyPath: KeyPath<Model, Property>, _ value: @escaping (Any?) throws -> Value,
        _ reduce: @escaping ([Model]) throws -> Value
    ) {
        self.function = function
        self.keyPath = keyPath
        self.value = value
        self.reduce = reduce
        // A structure, a case and a relationship have no sums and no order here.
        isStored = StoredColumns.isStored(keyPath) && Unwrapping.wrapped(Property.self) is any _PersistentScalar.Type
    }

    private init(count: Void, _ value: @escaping (Any?) throws -> Value, _ reduce: @escaping ([Model]) throws -> Value) {
        function = "count:"
        keyPath = nil
        self.value = value
        self.reduce = reduce
        isStored = true
    }
}

extension Aggregate where Value == Int {
    /// The number of models.
    public static var count: Aggregate { Aggregate(count: (), { ($0 as? NSNumber)?.intValue ?? 0 }, { $0.count }) }

    /// The number of models whose property is not nil.
    public static func count<Property>(of keyPath: KeyPath<Model, Property>) -> Aggregate {
        Aggregate("count:", keyPath, { ($0 as? NSNumber)?.intValue ?? 0 }, { $0.count { Unwrapping.value($0[keyPath: keyPath]) != nil } })
    }
}

extension Aggregate {
    /// The sum of numbers: 0 of none, and nil counts as 0. A sum that is too large for a type of whole numbers is the error 1610
    /// (`NSValidationNumberTooLargeError`).
    public static func sum<Property: _AggregateOperand>(
        _ keyPath: KeyPath<Model, Property>
    ) -> Aggregate where Property._Operand: _AggregateNumber, Value == Property._Operand {
        Aggregate("sum:", keyPath, { try $0.flatMap { try Value._sum(stored: $0) } ?? 0 }) { try Value._sum(operands($0, keyPath)) }
    }

    /// The mean of the numbers that are not nil; nil of none.
    public static func average<Property: _AggregateOperand>(
        _ keyPath: KeyPath<Model, Property>
    ) -> Aggregate where Property._Operand: _AggregateNumber, Value == Double? {
        Aggregate("average:", keyPath, { $0.flatMap(Double.init(_object:)) }) {
            let numbers = operands($0, keyPath).map(\._double)
            return numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
        }
    }

    /// The least value; nil of none. A store compares texts by their bytes.
    public static func min<Property: _AggregateOperand>(_ keyPath: KeyPath<Model, Property>) -> Aggregate where Value == Property._Operand? {
        Aggregate("min:", keyPath, { $0.flatMap(Property._Operand.init(_object:)) }) { operands($0, keyPath).min() }
    }

    /// The greatest value; nil of none. A store compares texts by their bytes.
    public static func max<Property: _AggregateOperand>(_ keyPath: KeyPath<Model, Property>) -> Aggregate where Value == Property._Operand? {
        Aggregate("max:", keyPath, { $0.flatMap(Property._Operand.init(_object:)) }) { operands($0, keyPath).max() }
    }

    private static func operands<Property: _AggregateOperand>(_ models: [Model], _ keyPath: KeyPath<Model, Property>) -> [Property._Operand] {
        models.compactMap { $0[keyPath: keyPath]._operand }
    }
}

extension Aggregate {
    /// The column of a fetch of dictionaries.
    func column(_ name: String) throws -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        let path = try keyPath.map { try ModelKeys.path($0) }
        column.expression = NSExpression(
            forFunction: function, arguments: [path.map { NSExpression(forKeyPath: $0) } ?? NSExpression.expressionForEvaluatedObject()])
        return column
    }
}
