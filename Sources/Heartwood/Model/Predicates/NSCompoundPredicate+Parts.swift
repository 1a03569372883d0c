import Foundation

extension NSCompoundPredicate {
    /// Joins predicates of this module's class or of Foundation's. If the result has more than 400 levels, a fetch throws and `evaluate(with:)`
    /// traps.
    /// - Precondition: `.not` has one predicate.
    public convenience init(type: LogicalType, subpredicates: [Foundation.NSPredicate]) {
        demand(type != .not || subpredicates.count == 1, "A NOT predicate has one subpredicate, not \(subpredicates.count).")
        let depth = 1 + subpredicates.reduce(0) { max($0, $1.depth) }
        guard depth <= PredicateNode.depthMax else {
            self.init(body: PredicateTree(.fault(.tooDeep), depth: 1))
            return
        }
        self.init(body: PredicateTree(PredicateNode(type, subpredicates.map(\.node)), depth: depth))
    }

    /// True if there are no subpredicates.
    public convenience init(andPredicateWithSubpredicates subpredicates: [Foundation.NSPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    /// False if there are no subpredicates.
    public convenience init(orPredicateWithSubpredicates subpredicates: [Foundation.NSPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    public convenience init(notPredicateWithSubpredicate predicate: Foundation.NSPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }

    public final var compoundPredicateType: LogicalType {
        switch statedNode {
        case .or: .or
        case .not: .not
        default: .and
        }
    }

    public final var subpredicates: [NSPredicate] {
        switch statedNode {
        case .and(let parts), .or(let parts): parts.map { NSPredicate(node: $0) }
        case .not(let part): [NSPredicate(node: part)]
        default: []
        }
    }
}
