import Foundation
import Heartwood

/// The options of the commands that read an entity's objects: which ones, in which order, how many.
enum FetchOptions {
    static let condition = Parameter.predicate("where", "which objects: 'age > 30 AND name BEGINSWITH \"A\"'")
    /// The meaning of constants in conditions.
    static let constants = """
        A text or a number in a predicate is read as a value of the attribute beside it: 'born > "2001-05"', 'id == "7f3b6a52-…"'. Dates are ISO
        8601, by UTC where no zone is given; a day, a month and a year stand for all of their times. A text that is no such value is an error.
        """
    static let limit = Parameter.integer("limit", "at most N of them")
    static let order = Parameter<[NSSortDescriptor]>(
        ParameterDeclaration(
            name: "sort", placeholder: "KEYS", kind: .orders,
            meaning: """
                name,-age or name,age:desc. Texts are sorted by their bytes; name:caseInsensitive, name:localized, \
                name:localizedCaseInsensitive and name:localizedStandard sort them as people do
                """)
    ) { _, texts in QueryText.order(texts.last) }
}

extension Parameter where Value == [QueryColumn] {
    /// A list of attributes, key paths and expressions.
    static func columns(_ name: String, _ meaning: String) -> Parameter {
        Parameter(ParameterDeclaration(name: name, placeholder: "LIST", kind: .attributes, meaning: meaning)) { _, texts in
            try texts.last.map(QueryColumn.list) ?? []
        }
    }
}
