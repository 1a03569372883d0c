/// `@Name(arguments)` before a declaration.
package struct SwiftAttribute: Sendable {
    /// As written, without the sign: `Attribute`, `SwiftData.Attribute`.
    package let name: String
    /// The bytes between the parentheses; nil without any.
    package let arguments: Range<Int>?
    /// The attribute's tokens.
    package let tokens: Range<Int>

    /// The name without the module or type before it.
    package var lastName: String { name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name }
}

/// A word before the keyword of a declaration: `private`, with `set` where it has `(set)`.
package struct SwiftModifier: Sendable, Equatable {
    package let word: String
    package let argument: String?
}

/// One variable of a `var` or `let`.
package struct SwiftProperty: Sendable {
    package enum Accessors: Sendable {
        case none
        /// A getter with what belongs to it.
        case computed
        case observers([SwiftObserver])
    }

    package let attributes: [SwiftAttribute]
    package let modifiers: [SwiftModifier]
    package let isConstant: Bool
    /// As written, with its backticks. A tuple pattern is its whole text.
    package let name: String
    package let isPattern: Bool
    /// The first token of the declaration, attributes included.
    package let first: Int
    package let nameToken: Int
    /// The written type's bytes; nil where the value tells it.
    package var type: Range<Int>?
    /// The initial value's bytes.
    package let initial: Range<Int>?
    package let accessors: Accessors
    /// How many variables the declaration has.
    package var siblings: Int

    package var isStatic: Bool { has("static") || has("class") }
    package func has(_ modifier: String) -> Bool { modifiers.contains { $0.word == modifier && $0.argument == nil } }
    package var plainName: String { name.first == "`" ? String(name.dropFirst().dropLast()) : name }
}

/// `didSet` or `willSet` of a property.
package struct SwiftObserver: Sendable {
    package let isBefore: Bool
    /// The name in the parentheses.
    package let parameter: String?
    /// The bytes between the braces.
    package let body: Range<Int>
}

/// `#Name<…>(…)` among the members of a type.
package struct SwiftFreestanding: Sendable {
    package let name: String
    /// With the angle brackets.
    package let generics: Range<Int>?
    package let arguments: Range<Int>?
    package let first: Int
}

/// `#if … #elseif … #else … #endif`, clause by clause.
package struct SwiftConditional: Sendable {
    package struct Clause: Sendable {
        /// The directive with its condition: `#if os(Linux)`, `#else`.
        package let directive: String
        package let members: [SwiftMember]
        /// An attribute whose declaration is outside of the clause.
        package let attribute: SwiftAttribute?
    }

    package let clauses: [Clause]
    package let first: Int
    package var hasElse: Bool { clauses.last?.directive.hasPrefix("#else") == true && clauses.last?.directive.hasPrefix("#elseif") == false }
}

/// A member of a type, as far as the reader tells them apart.
package enum SwiftMember: Sendable {
    case property(SwiftProperty)
    case initializer(first: Int)
    case freestanding(SwiftFreestanding)
    case conditional(SwiftConditional)
    case other
}

/// A class, structure, enumeration, actor or protocol.
package struct SwiftType: Sendable {
    package let keyword: String
    package let name: String
    package let nameToken: Int
    /// The first token, attributes included.
    package let first: Int
    package let attributes: [SwiftAttribute]
    package let modifiers: [SwiftModifier]
    package let generics: Range<Int>?
    /// The types after the colon, as written.
    package let inherited: [String]
    package let members: [SwiftMember]

    package func has(_ modifier: String) -> Bool { modifiers.contains { $0.word == modifier && $0.argument == nil } }
}
