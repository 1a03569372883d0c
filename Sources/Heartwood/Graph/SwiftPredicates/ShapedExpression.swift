import Foundation

/// An expression of Swift predicates whose translation depends on its shape alone, while captured values go into it unchanged. A fetch with such
/// a predicate translates it once, and keeps its plan as that of a format.
///
/// Invariant: `describe` adds the parts in the order in which `TranslatableExpression.translated` translates them.
protocol ShapedExpression: PredicateExpression {
    /// Whether it has no variable, so that it is one value.
    static var isConstant: Bool { get }
    func describe(in reader: inout ShapeReader)
}

extension ShapedExpression {
    static var isConstant: Bool { false }

    /// Whether a placeholder stands for it in a format.
    static var isPlaceholder: Bool { isConstant && Output.self != Bool.self }
}

/// Reads the shape and the values of a predicate.
struct ShapeReader {
    var shape: PredicateShape
    private(set) var values: [PredicateValue] = []
    /// Whether a value is one that a translation has to look at: nil, or none that a store compares.
    private(set) var isOdd = false
    /// By the numbers that marks have.
    private var variables: [PredicateExpressions.VariableID]
    private let layer: (any PredicateLayer)?

    init(_ type: Any.Type, _ variable: PredicateExpressions.VariableID, _ layer: (any PredicateLayer)?) {
        shape = PredicateShape(ObjectIdentifier(type))
        variables = [variable]
        self.layer = layer
    }

    mutating func add<Part: ShapedExpression>(_ part: Part) {
        guard Part.isConstant else { return part.describe(in: &self) }
        guard let value = try? part.evaluate(PredicateBindings()) else { return isOdd = true }
        // A translation simplifies conditions that are known.
        if Part.Output.self == Bool.self, let flag = value as? Bool { return add(mark: flag ? 1 : 0) }
        add(value: value)
    }

    mutating func add(_ first: some ShapedExpression, _ second: some ShapedExpression) {
        add(first)
        add(second)
    }

    /// Adds a part, and one in which a variable stands for what the first gives.
    mutating func add(
        _ source: some ShapedExpression, binding variable: PredicateExpressions.VariableID, _ body: some ShapedExpression
    ) {
        add(source)
        bind(variable)
        add(body)
    }

    private mutating func add<Value>(value: Value) {
        guard let found = Self.plain(value) ?? PredicateTranslation.constant(value, layer), !found.isNull else { return isOdd = true }
        values.append(found)
    }

    /// The commonest types, without a cast.
    private static func plain<Value>(_ value: Value) -> PredicateValue? {
        withUnsafePointer(to: value) { address in
            let address = UnsafeRawPointer(address)
            if Value.self == String.self { return .text(address.assumingMemoryBound(to: String.self).pointee) }
            if Value.self == Int.self { return .integer(Int64(address.assumingMemoryBound(to: Int.self).pointee)) }
            if Value.self == Double.self { return .double(address.assumingMemoryBound(to: Double.self).pointee) }
            if Value.self == Date.self { return .date(address.assumingMemoryBound(to: Date.self).pointee.timeIntervalSinceReferenceDate) }
            return nil
        }
    }

    mutating func refuse() { isOdd = true }

    mutating func bind(_ variable: PredicateExpressions.VariableID) { variables.append(variable) }

    mutating func add(variable: PredicateExpressions.VariableID) {
        // The same predicate may be asked twice: its variable is the one that was bound last.
        guard let number = variables.lastIndex(of: variable) else { return isOdd = true }
        add(mark: number)
    }

    mutating func add(mark: Int) {
        guard let mark = UInt8(exactly: mark) else { return isOdd = true }
        shape.marks.append(mark)
    }
}

// MARK: Leaves

extension PredicateExpressions.Variable: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(variable: key) }
}

extension PredicateExpressions.Value: ShapedExpression {
    static var isConstant: Bool { true }
    func describe(in reader: inout ShapeReader) {}
}

extension PredicateExpressions.NilLiteral: ShapedExpression {
    func describe(in reader: inout ShapeReader) {}
}

extension PredicateExpressions.KeyPath: ShapedExpression where Root: ShapedExpression {
    static var isConstant: Bool { Root.isConstant }
    func describe(in reader: inout ShapeReader) {
        reader.add(root)
        reader.shape.keyPaths.append(keyPath)
    }
}

// MARK: Logic

extension PredicateExpressions.Conjunction: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(lhs, rhs) }
}

extension PredicateExpressions.Disjunction: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(lhs, rhs) }
}

extension PredicateExpressions.Negation: ShapedExpression where Wrapped: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(wrapped) }
}

extension PredicateExpressions.ForcedUnwrap: ShapedExpression where Inner: ShapedExpression {
    static var isConstant: Bool { Inner.isConstant }
    func describe(in reader: inout ShapeReader) { reader.add(inner) }
}

extension PredicateExpressions.OptionalFlatMap: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(wrapped, binding: variable.key, transform) }
}

extension PredicateExpressions.NilCoalesce: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(lhs, rhs) }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(lhs, rhs) }
}

extension PredicateExpressions.Comparison: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) {
        switch op {
        case .lessThan: reader.add(mark: 0)
        case .lessThanOrEqual: reader.add(mark: 1)
        case .greaterThan: reader.add(mark: 2)
        case .greaterThanOrEqual: reader.add(mark: 3)
        @unknown default: reader.add(mark: .max)
        }
        reader.add(lhs, rhs)
    }
}

extension PredicateExpressions.SequenceContains: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(sequence, element) }
}

extension PredicateExpressions.CollectionContainsCollection: ShapedExpression where Base: ShapedExpression, Other: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(base, other) }
}

extension PredicateExpressions.SequenceStartsWith: ShapedExpression where Base: ShapedExpression, Prefix: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(base, prefix) }
}

// MARK: Classes

extension PredicateExpressions.TypeCheck: ShapedExpression where Input: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(input) }
}

extension PredicateExpressions.ConditionalCast: ShapedExpression where Input: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(input) }
}

extension PredicateExpressions.ForceCast: ShapedExpression where Input: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(input) }
}

// MARK: Members

extension PredicateExpressions.SequenceContainsWhere: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(sequence, binding: variable.key, test) }
}

extension PredicateExpressions.SequenceAllSatisfy: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(sequence, binding: variable.key, test) }
}

extension PredicateExpressions.Filter: ShapedExpression where LHS: ShapedExpression, RHS: ShapedExpression {
    func describe(in reader: inout ShapeReader) { reader.add(sequence, binding: variable.key, filter) }
}

// MARK: Other predicates

extension PredicateExpressions.PredicateContains: ShapedExpression where repeat each Element: ShapedExpression {
    func describe(in reader: inout ShapeReader) {
        guard let inner = try? predicate.evaluate(PredicateBindings()), let shaped = inner.expression as? any ShapedExpression else {
            return reader.refuse()
        }
        repeat reader.add(each element)
        repeat reader.bind((each inner.variable).key)
        reader.shape.innerTypes.append(ObjectIdentifier(type(of: shaped)))
        reader.read(shaped)
    }
}
