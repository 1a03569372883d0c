import Foundation
import Heartwood

/// The options of the commands that read an entity's objects: which ones, in which order, how many.
enum FetchOptions {
    static let condition = Parameter.predicate("where", "which objects: 'age > 30 AND name BEGINSWITH \"A\"'")
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
