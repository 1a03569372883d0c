import Foundation

#if canImport(Darwin)
    extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
        func translated(in translation: inout PredicateTranslation) throws -> Translated {
            try translation.localizedContains(root, other)
        }
    }
#else
    // Except on Apple's platforms Foundation lacks this expression, though the macro uses it.
    extension PredicateExpressions {
        /// Whether a text contains another one, ignoring case and diacritics, in the current locale.
        public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
        where Root.Output: StringProtocol, Other.Output: StringProtocol {
            let root: Root
            let other: Other

            public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
                try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
            }
        }

        public static func build_localizedStandardContains<Root, Other>(
            _ root: Root, _ other: Other
        ) -> StringLocalizedStandardContains<Root, Other> {
            StringLocalizedStandardContains(root: root, other: other)
        }
    }

    extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}

    extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {
        public init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            root = try container.decode(Root.self)
            other = try container.decode(Other.self)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(root)
            try container.encode(other)
        }
    }

    extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
    where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

    extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
        func translated(in translation: inout PredicateTranslation) throws -> Translated {
            try translation.localizedContains(root, other)
        }
    }
#endif

extension PredicateTranslation {
    fileprivate mutating func localizedContains(_ root: any PredicateExpression, _ other: any PredicateExpression) throws -> Translated {
        let options: PredicateNode.Options = [.caseInsensitive, .diacriticInsensitive, .localeSensitive]
        return .truth(try value(root).compared(.contains, try value(other), options: options))
    }
}
