import Heartwood

/// The type of one side of a comparison.
struct ComparedType {
    enum Kind {
        /// An attribute's type, or that of a function's value.
        case value(NSAttributeType)
        case object
    }

    /// The side as messages name it: a key path, or an expression.
    var name: String
    let kind: Kind
    /// Whether it has many values for one object, as a path through a to-many relationship.
    var isMany = false

    /// Whether operators for texts, such as LIKE, take it.
    var isText: Bool {
        isValue(.stringAttributeType) || isValue(.URIAttributeType)
    }

    var isDate: Bool { isValue(.dateAttributeType) }

    func isValue(_ type: NSAttributeType) -> Bool {
        if case .value(let own) = kind { return own == type }
        return false
    }

    var description: String {
        switch kind {
        case .value(let type): AttributeTextForm(type).description
        case .object: isMany ? "a relationship to many objects" : "an object"
        }
    }
}
