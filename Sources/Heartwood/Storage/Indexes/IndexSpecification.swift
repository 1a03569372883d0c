import Foundation
import RecordLog

/// The elements of an index over more than columns. Its JSON is the extractor's name in the store's catalog, so that any process that opens the
/// store can maintain the index: docs/format/stack.md.
struct IndexSpecification: Codable, Equatable {
    struct Element: Codable, Equatable {
        /// A column's name; nil where `expression` is set.
        var column: String?
        /// An expression in the format language.
        var expression: String?
        /// Whether the expression's values are texts; otherwise they are numbers or dates.
        var isText: Bool?
        var isDescending: Bool?
    }

    var elements: [Element]
    /// The condition of the rows in the index, in the format language; nil for all rows.
    var predicate: String?
    /// The version of a text index's terms, `TextTerms.version`; nil for an index of keys. A text index has one element, a column.
    var terms: Int?

    private static let prefix = "heartwood:"
    /// The engine keeps the entries of an index whose extractor's name starts so as lists of rows.
    private static let termsPrefix = "terms:"

    var name: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return (terms == nil ? Self.prefix : Self.termsPrefix) + json
    }

    /// - Returns: nil for a name that is not a specification.
    init?(name: String) {
        let isText = name.hasPrefix(Self.termsPrefix)
        guard let prefix = isText ? Self.termsPrefix : name.hasPrefix(Self.prefix) ? Self.prefix : nil,
            let made = try? JSONDecoder().decode(Self.self, from: Data(name.dropFirst(prefix.count).utf8)), isText == (made.terms != nil)
        else { return nil }
        self = made
    }

    init(elements: [Element], predicate: String?) {
        self.elements = elements
        self.predicate = predicate
    }

    /// A text index over a column.
    init(textColumn: String, predicate: String?) {
        self.init(elements: [Element(column: textColumn)], predicate: predicate)
        terms = TextTerms.version
    }

    /// The same index after columns have got other names.
    /// - Parameter names: gives a column's new name; nil for a column that is gone, or whose values are others now.
    /// - Returns: nil if the index reads such a column, or more than columns.
    func renamed(_ names: (String) -> String?) -> IndexSpecification? {
        var isWhole = true, isChanged = false
        func renamed(_ node: ExpressionNode) -> ExpressionNode {
            guard case .keyPath(let keys) = node else {
                if case .path = node { isWhole = false }
                return node
            }
            guard let name = names(keys.joined(separator: ".")) else {
                isWhole = false
                return node
            }
            if name != keys.joined(separator: ".") { isChanged = true }
            return .keyPath(name.split(separator: ".").map(String.init))
        }
        var new = self
        for (position, element) in elements.enumerated() {
            if let column = element.column {
                guard let name = names(column) else { return nil }
                if name != column { isChanged = true }
                new.elements[position].column = name
            }
            if let format = element.expression {
                guard let node = try? PredicateParser.parseExpression(format, arguments: []).node else { return nil }
                new.elements[position].expression = PredicatePrinter.format(node.rewriting(bound: []) { part, _ in renamed(part) }.folded)
            }
        }
        if let predicate {
            guard let node = try? PredicateParser.parse(predicate, arguments: []) else { return nil }
            new.predicate = PredicatePrinter.format(node.rewriting { part, _ in renamed(part) }.folded)
        }
        // A text that is parsed and printed again may be another one.
        return isWhole ? isChanged ? new : self : nil
    }

    /// Whether the engine can build the keys from columns without an extractor.
    var isPlain: Bool { predicate == nil && terms == nil && elements.allSatisfy { $0.column != nil } }
}

extension ExpressionNode {
    /// Whether the expression gives text, for an index that does not state the type.
    var givesText: Bool {
        switch self {
        case .constant(.text): return true
        case .call(let function, let arguments):
            switch function {
            case .uppercase, .lowercase, .canonical, .uppercaseString, .lowercaseString, .capitalizedString, .appending: return true
            case .noIndex: return arguments.first?.givesText ?? false
            default: return false
            }
        default: return false
        }
    }
}

extension KeyBuilder {
    /// Appends the value of an indexed expression. Numbers are stored as doubles, dates as seconds; a value of another kind becomes null.
    func append(_ value: PredicateValue, isText: Bool, descending: Bool = false) {
        switch value {
        case .text(let text) where isText: append(text: text, descending: descending)
        case .date(let seconds) where !isText: append(double: seconds, descending: descending)
        case _ where !isText:
            guard let number = PredicateNumber(value) else { fallthrough }
            append(double: number.double, descending: descending)
        default: appendNull(descending: descending)
        }
    }
}
