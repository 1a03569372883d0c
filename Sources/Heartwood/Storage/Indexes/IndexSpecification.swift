import Foundation
import RecordLog

/// What an index that is not over columns alone has of each row. Its JSON is the extractor's name in the store's catalog, so that whoever
/// opens the store can keep the index: FORMAT.md, "How the stack uses tables".
struct IndexSpecification: Codable, Equatable {
    struct Element: Codable, Equatable {
        /// A column by its name; else `expression` is there.
        var column: String?
        /// In the format language.
        var expression: String?
        /// Whether the values of the expression are texts; else they are numbers or dates.
        var isText: Bool?
        var isDescending: Bool?
    }

    var elements: [Element]
    /// The rows that are in the index, in the format language; nil: all.
    var predicate: String?

    private static let prefix = "heartwood:"

    var name: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return Self.prefix + json
    }

    /// - Returns: nil for a name that is no specification.
    init?(name: String) {
        guard name.hasPrefix(Self.prefix),
            let made = try? JSONDecoder().decode(Self.self, from: Data(name.dropFirst(Self.prefix.count).utf8))
        else { return nil }
        self = made
    }

    init(elements: [Element], predicate: String?) {
        self.elements = elements
        self.predicate = predicate
    }

    /// Whether the engine makes the keys of columns by itself.
    var isPlain: Bool { predicate == nil && elements.allSatisfy { $0.column != nil } }
}

extension ExpressionNode {
    /// Whether a value of the expression is text, where nobody said.
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
    /// The value of an indexed expression. Numbers are taken as doubles, dates as their seconds; what is not of the kind is null.
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
