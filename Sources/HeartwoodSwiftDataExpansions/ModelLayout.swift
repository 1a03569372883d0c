import HeartwoodSwiftText

/// What of a class's members goes into its schema, in the order and under the `#if` of the source.
struct ModelLayout {
    indirect enum Item {
        case property(SwiftProperty, isTransformable: Bool)
        case constraint(SwiftFreestanding)
        /// The clauses' directives with what is in them.
        case conditional([(directive: String, items: [Item])], hasElse: Bool)
    }

    private(set) var items: [Item] = []
    /// Faults of members, each with the byte where it shows.
    private(set) var faults: [(message: String, byte: Int)] = []
    private(set) var hasInitializer = false
    private(set) var hasObservers = false
    private let text: SwiftText

    init(_ members: [SwiftMember], in text: SwiftText) {
        self.text = text
        items = read(members)
    }

    private mutating func read(_ members: [SwiftMember]) -> [Item] {
        var items: [Item] = []
        for member in members {
            switch member {
            case .property(let property): read(property, into: &items)
            case .initializer: hasInitializer = true
            case .freestanding(let macro) where macro.name == "Index" || macro.name == "Unique": items.append(.constraint(macro))
            case .conditional(let conditional): read(conditional, into: &items)
            case .freestanding, .other: break
            }
        }
        return items
    }

    private mutating func read(_ property: SwiftProperty, into items: inout [Item]) {
        switch PersistenceJudgement(property, in: text) {
        case .persisted(let isTransformable):
            items.append(.property(property, isTransformable: isTransformable))
            if case .observers = property.accessors { hasObservers = true }
        case .left: break
        case .refused(let message): faults.append((message, text.tokens[property.first].start))
        }
    }

    private mutating func read(_ conditional: SwiftConditional, into items: inout [Item]) {
        var clauses: [(directive: String, items: [Item])] = []
        for clause in conditional.clauses {
            if let attribute = clause.attribute {
                let message = "@Model cannot read '@\(attribute.name)' in an '#if' without its property. Write the property in each clause"
                faults.append((message, text.tokens[attribute.tokens.lowerBound].start))
            }
            clauses.append((clause.directive, read(clause.members)))
        }
        if clauses.contains(where: { !$0.items.isEmpty }) { items.append(.conditional(clauses, hasElse: conditional.hasElse)) }
    }
}
