/// The condition of a fetch, checked for its entity.
///
/// A condition from a known format makes its tree only on demand: a plan that is kept for the format needs the arguments alone.
final class FetchCondition {
    /// The tree that was filled from a format of comparisons only; nil for any other condition.
    let tree: PredicateTree?
    private let entity: NSEntityDescription?
    private let made: NodeMadeOnce

    /// - Parameter node: checked, folded, and with constants of its columns' types.
    init(_ node: PredicateNode) {
        (tree, entity) = (nil, nil)
        made = NodeMadeOnce(node)
    }

    /// - Parameter tree: has conditions; its format was checked for the entity.
    init(_ tree: PredicateTree, _ entity: NSEntityDescription) {
        (self.tree, self.entity) = (tree, entity)
        made = NodeMadeOnce()
    }

    var node: PredicateNode {
        made.node {
            guard let tree, let entity else { preconditionFailure("a condition has a node or a tree") }
            return tree.node.joiningComposites(of: entity).folded.matchingColumns(of: entity)
        }
    }
}
