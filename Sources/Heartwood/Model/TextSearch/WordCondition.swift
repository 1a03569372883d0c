import Foundation

/// A part of a predicate: some attributes together have all words of a query.
package struct WordCondition {
    let query: WordQuery
    /// Key paths.
    package var attributes: [ExpressionNode]

    func evaluate(_ scope: PredicateScope) throws -> Bool {
        let terms = TextTerms(wantsTrigrams: false)
        var found: UInt64 = 0
        for attribute in attributes {
            guard case .text(var text) = try attribute.value(scope) else { continue }
            text.withUTF8 { terms.read(UnsafeRawBufferPointer($0)) }
            found |= query.found(in: terms)
        }
        return found == query.all
    }

    /// In the words of the format language, for messages: it has no such operator.
    var format: String {
        let names = attributes.map { PredicatePrinter.format($0) }
        let words = query.words.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isPrefix ? "*" : "") }
        return "words(\(words.joined(separator: " "))) IN {\(names.joined(separator: ", "))}"
    }
}
