import Foundation

extension Predicate {
    /// A predicate that holds where all of these hold; with none of them it holds always.
    public static func all(_ predicates: [Predicate<repeat each Input>]) -> Predicate<repeat each Input> {
        predicates.isEmpty ? .true : joined(predicates, isAnd: true)
    }

    /// A predicate that holds where any of these holds; with none of them it never holds.
    public static func any(_ predicates: [Predicate<repeat each Input>]) -> Predicate<repeat each Input> {
        predicates.isEmpty ? .false : joined(predicates, isAnd: false)
    }

    /// Whether the predicate holds for a value, for use within another predicate: Foundation's macro takes this name, and not `evaluate`.
    ///
    /// ```swift
    /// let thick = #Predicate<Book> { $0.pages > 500 }
    /// let wanted = #Predicate<Book> { thick.contains($0) || $0.title.starts(with: "A") }
    /// ```
    /// Outside of a predicate it is false where `evaluate` throws.
    public func contains(_ input: repeat each Input) -> Bool { (try? evaluate(repeat each input)) ?? false }

    private static func joined(_ predicates: [Predicate<repeat each Input>], isAnd: Bool) -> Predicate<repeat each Input> {
        Predicate { (variables: repeat PredicateExpressions.Variable<each Input>) in
            var parts: [any StandardPredicateExpression<Bool>] = []
            for predicate in predicates {
                parts.append(PredicateExpressions.build_contains(PredicateExpressions.Value(predicate), repeat each variables))
            }
            return PredicateJoining.joined(parts[...], isAnd: isAnd)
        }
    }
}

/// Joins conditions. The types of the expressions nest, so the tree has as few levels as it can: the logarithm of the number of conditions.
private enum PredicateJoining {
    static func joined(_ parts: ArraySlice<any StandardPredicateExpression<Bool>>, isAnd: Bool) -> any StandardPredicateExpression<Bool> {
        guard parts.count > 1 else { return parts.first ?? PredicateExpressions.Value(isAnd) }
        let middle = parts.startIndex + parts.count / 2
        return both(joined(parts[..<middle], isAnd: isAnd), joined(parts[middle...], isAnd: isAnd), isAnd: isAnd)
    }

    private static func both<Left: StandardPredicateExpression<Bool>, Right: StandardPredicateExpression<Bool>>(
        _ left: Left, _ right: Right, isAnd: Bool
    ) -> any StandardPredicateExpression<Bool> {
        isAnd ? PredicateExpressions.Conjunction(lhs: left, rhs: right) : PredicateExpressions.Disjunction(lhs: left, rhs: right)
    }
}

extension PredicateExpressions {
    /// Asks another predicate; see `Predicate.contains(_:)`.
    public struct PredicateContains<Condition: PredicateExpression, each Element: PredicateExpression>: PredicateExpression
    where Condition.Output == Predicate<repeat (each Element).Output> {
        public let predicate: Condition
        public let element: (repeat each Element)

        public init(predicate: Condition, element: repeat each Element) {
            self.predicate = predicate
            self.element = (repeat each element)
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try predicate.evaluate(bindings).evaluate(repeat try (each element).evaluate(bindings))
        }
    }

    public static func build_contains<Condition, each Element>(
        _ predicate: Condition, _ element: repeat each Element
    ) -> PredicateContains<Condition, repeat each Element> {
        PredicateContains(predicate: predicate, element: repeat each element)
    }
}

extension PredicateExpressions.PredicateContains: @unchecked Sendable where repeat each Element: Sendable {
    // Unchecked: predicates are Sendable, and so are the expressions that give them.
}

/// A predicate that asks another one has no encoded form.
extension PredicateExpressions.PredicateContains: Codable where repeat each Element: Codable {
    public init(from decoder: any Decoder) throws {
        throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "Nested predicates have no encoded form."))
    }

    public func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: "Nested predicates have no encoded form."))
    }
}

extension PredicateExpressions.PredicateContains: StandardPredicateExpression where repeat each Element: StandardPredicateExpression {}

// MARK: Translation

extension PredicateExpressions.PredicateContains: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let inner = try translation.known(predicate, self)
        return try translation.translate(inner.expression, variables: repeat each inner.variable, inputs: repeat each element)
    }
}

extension PredicateExpressions.ExpressionEvaluate: TranslatableExpression {
    func translated(in translation: inout PredicateTranslation) throws -> Translated {
        let inner = try translation.known(expression, self)
        return try translation.translate(inner.expression, variables: repeat each inner.variable, inputs: repeat each input)
    }
}

extension PredicateTranslation {
    /// Translates the body of another predicate or expression, with its variables bound to what it is asked of.
    fileprivate mutating func translate<each Variable, each Input: PredicateExpression>(
        _ body: any PredicateExpression, variables: repeat PredicateExpressions.Variable<each Variable>, inputs: repeat each Input
    ) throws -> Translated {
        var keys: [PredicateExpressions.VariableID] = [], values: [TranslatedValue] = []
        repeat keys.append((each variables).key)
        repeat values.append(try value(each inputs))
        return try translate(body, binding: keys, to: values)
    }

    /// - Throws: for a predicate or expression that depends on the object.
    fileprivate func known<Held: PredicateExpression>(_ held: Held, _ expression: any PredicateExpression) throws -> Held.Output {
        guard let found = try? held.evaluate(PredicateBindings()) else {
            throw PredicateTranslationError("\(Self.name(expression)) cannot be asked of a store.")
        }
        return found
    }
}
