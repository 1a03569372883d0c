import Synchronization

/// The condition of a fetch, checked for its entity.
///
/// A condition from a known format makes its tree only on demand: a plan that is kept for the format needs the arguments alone.
final class FetchCondition {
    // Unchecked: a tree is immutable except for the matchers of its comparisons, which have locks.
    private struct Made: @unchecked Sendable {
        let node: PredicateNode
    }

    /// The tree that was filled from a format of comparisons only; nil for any other condition.
    let tree: PredicateTree?
    private let entity: NSEntityDescription?
    private let made: Mutex<Made?>

    /// - Parameter node: checked, folded, and with constants of its columns' types.
    init(_ node: PredicateNode) {
        (tree, entity) = (nil, nil)
        made = Mutex(Made(node: node))
    }

    /// - Parameter tree: has conditions; its format was checked for the entity.
    init(_ tree: PredicateTree, _ entity: NSEntityDescription) {
        (self.tree, self.entity) = (tree, entity)
        made = Mutex(nil)
    }

    var node: PredicateNode {
        if let made = made.withLock({ $0 }) { return made.node }
        guard let tree, let entity else { preconditionFailure("a condition has a node or a tree") }
        let new = Made(node: tree.node.joiningComposites(of: entity).folded.matchingColumns(of: entity))
        return made.withLock { made in
            let first = made ?? new
            made = first
            return first
        }.node
    }
}
