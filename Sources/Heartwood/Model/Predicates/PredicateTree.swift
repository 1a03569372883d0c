import Foundation

/// The tree behind a predicate object.
final class PredicateTree: PredicateBody {
    /// The number of the tree's levels.
    let depth: Int
    /// The format from which the tree was filled, if it is known. A fetch that an index answers at once needs the format and its arguments, and no
    /// node.
    let template: KnownFormat?
    /// The arguments of `template`. A single one is kept apart, since an array would be allocated for it.
    private let onlyArgument: PredicateValue
    private let arguments: [PredicateValue]
    private let made: NodeMadeOnce

    /// - Parameter depth: the node's levels. Passing it in saves a recursion over the node's parts.
    init(_ node: PredicateNode, depth: Int) {
        let isTooDeep = depth > PredicateNode.depthMax
        made = NodeMadeOnce(isTooDeep ? .fault(.tooDeep) : node)
        self.depth = isTooDeep ? 1 : depth
        (template, onlyArgument, arguments) = (nil, .null, [])
    }

    /// - Parameter node: the template's tree with these arguments, which is no deeper than a parsed tree may be.
    init(_ node: PredicateNode, of template: KnownFormat, _ arguments: [PredicateValue]) {
        made = NodeMadeOnce(node)
        (depth, self.template, onlyArgument, self.arguments) = (template.read(\.depth), template, .null, arguments)
    }

    /// - Precondition: the template takes the value.
    init(_ template: KnownFormat, _ value: PredicateValue) {
        made = NodeMadeOnce()
        (depth, self.template, onlyArgument, arguments) = (template.read(\.depth), template, value, [])
    }

    /// The number of the format, if it is known.
    var number: Int? { template?.read { $0.number } }

    /// The comparisons of the format that the tree was filled from; see `FormatTemplate.conditions`.
    var conditions: [FormatTemplate.Condition]? { template?.read { $0.conditions } }

    /// The value of a format's argument.
    /// - Precondition: `conditions` names the argument.
    func value(_ index: Int) -> PredicateValue { arguments.isEmpty ? onlyArgument : arguments[index] }

    /// The value of an argument, or one end of it, if it is a pair of ends; of another list neither end is a value.
    /// - Precondition: as for `value(_:)`.
    func value(_ index: Int, _ element: Int?) -> PredicateValue {
        guard let element else { return value(index) }
        return value(index).members.flatMap { $0.count == 2 ? $0[element] : nil } ?? .null
    }

    var node: PredicateNode {
        made.node {
            guard let template else { preconditionFailure("a tree without a format has a node") }
            return template.read { $0.filled(with: onlyArgument) }
        }
    }

    /// The key and the value, if the tree is only a test that they are equal.
    var equality: (key: String, value: PredicateValue)? {
        if let template { return template.read(\.equalKey).map { ($0, value(0)) } }
        guard case .comparison(let comparison) = node, comparison.isPlainEquality, case .keyPath(let keys) = comparison.left, keys.count == 1,
            case .constant(let value) = comparison.right
        else { return nil }
        return (keys[0], value)
    }

    /// A pattern that does not compile, or takes too many steps, may be a person's: nothing meets such a predicate.
    func evaluate(_ object: Any?, _ variables: [String: Any]?) -> Bool {
        do {
            return try node.evaluate(PredicateScope(subject: object, variables: variables ?? [:]))
        } catch let fault as PredicateFault where fault.isMisuse {
            misuse("\(fault)")
        } catch {
            return false
        }
    }

    var format: String { PredicatePrinter.format(node) }

    func isEqual(_ other: any PredicateBody) -> Bool {
        if other === self { return true }
        guard !node.hasBlock, let tree = other as? PredicateTree else { return false }
        return tree.format.hasSameBytes(as: format)
    }
}

/// The tree behind an expression object.
final class ExpressionTree: ExpressionBody {
    let node: ExpressionNode
    let depth: Int

    init(_ node: ExpressionNode, depth: Int) {
        self.node = depth > PredicateNode.depthMax ? .fault(.tooDeep) : node
        self.depth = depth > PredicateNode.depthMax ? 1 : depth
    }

    var format: String { PredicatePrinter.format(node) }
}

extension NSPredicate {
    /// The tree from which the predicate was made, also for a subclass of the program's that may override evaluation.
    final var statedNode: PredicateNode { (body as? PredicateTree)?.node ?? node }
}

extension Foundation.NSPredicate {
    /// The tree of any predicate: from a format, built in code, or from a compound of Foundation's own; a block for others.
    package var node: PredicateNode {
        switch self {
        // A subclass of the program's may override evaluation, so it becomes a block.
        case let predicate as NSPredicate where Self.isOwn(type(of: predicate)):
            switch predicate.body {
            case let tree as PredicateTree: return tree.node
            case let block as BlockBody: return block.constant.map(PredicateNode.constant) ?? .block(block)
            default: return .block(BlockBody { predicate.evaluate(with: $0, substitutionVariables: $1) })
            }
        case let compound as Foundation.NSCompoundPredicate where type(of: compound) == Foundation.NSCompoundPredicate.self:
            guard compound.depth <= PredicateNode.depthMax else { return .fault(.tooDeep) }
            return PredicateNode(compound.compoundPredicateType.own, compound.subpredicates.map(\.node))
        case let predicate as NSPredicate:
            return .block(BlockBody(stating: predicate.body) { predicate.evaluate(with: $0, substitutionVariables: $1) })
        default:
            if isEqual(Foundation.NSPredicate(value: true)) { return .constant(true) }
            if isEqual(Foundation.NSPredicate(value: false)) { return .constant(false) }
            return .block(BlockBody { self.evaluate(with: $0, substitutionVariables: $1) })
        }
    }

    /// The tree for a store. A subclass of the program's is replaced by the tree from which it was made, as in Core Data.
    var storedNode: PredicateNode { formatNumber == nil ? node.stated : node }

    /// The number of the format from which `node` was parsed, if it is known.
    private var formatNumber: Int? { formatTree?.number }

    /// The tree, if it was filled from a format that is known; it has a number.
    var formatTree: PredicateTree? {
        guard let predicate = self as? NSPredicate, Self.isOwn(type(of: predicate)), let tree = predicate.body as? PredicateTree, tree.number != nil
        else { return nil }
        return tree
    }

    private static func isOwn(_ type: NSPredicate.Type) -> Bool {
        type == NSComparisonPredicate.self || type == NSCompoundPredicate.self || type == NSPredicate.self
    }

    /// The number of the tree's levels.
    var depth: Int {
        switch self {
        case let predicate as NSPredicate: return (predicate.body as? PredicateTree)?.depth ?? 1
        case let compound as Foundation.NSCompoundPredicate:
            // Foundation's compounds do not know their depth, so they are counted level by level.
            var level: [Foundation.NSPredicate] = [compound], depth = 0, known = 0
            while !level.isEmpty, depth <= PredicateNode.depthMax {
                depth += 1
                known = level.reduce(known) { max($0, depth + (($1 as? NSPredicate)?.depth ?? 0)) }
                level = level.flatMap { ($0 as? Foundation.NSCompoundPredicate)?.subpredicates ?? [] }
            }
            return max(depth, known)
        default: return 1
        }
    }
}

extension Foundation.NSCompoundPredicate.LogicalType {
    fileprivate var own: NSCompoundPredicate.LogicalType {
        switch self {
        case .not: .not
        case .and: .and
        case .or: .or
        }
    }
}

extension PredicateNode {
    init(_ type: NSCompoundPredicate.LogicalType, _ parts: [PredicateNode]) {
        self = switch type {
        case .and: .and(parts)
        case .or: .or(parts)
        case .not: .not(parts[0])
        }
    }

    /// Replaces predicates of subclasses by the trees from which they were made.
    fileprivate var stated: PredicateNode {
        guard hasBlock else { return self }
        switch self {
        case .block(let block):
            if let tree = block.stated as? PredicateTree { return tree.node.stated }
            return (block.stated as? BlockBody)?.constant.map(PredicateNode.constant) ?? self
        case .and(let parts): return .and(parts.map(\.stated))
        case .or(let parts): return .or(parts.map(\.stated))
        case .not(let part): return .not(part.stated)
        case .comparison:
            return rewriting { expression, _ in
                switch expression {
                case .subquery(let collection, let name, let condition): .subquery(collection, variable: name, condition.stated)
                case .conditional(let condition, let first, let second): .conditional(condition.stated, first, second)
                default: expression
                }
            }
        case .constant, .words, .fault: return self
        }
    }

    /// Whether any part is a block. Blocks cannot be compared.
    fileprivate var hasBlock: Bool {
        switch self {
        case .block: true
        case .and(let parts), .or(let parts): parts.contains(where: \.hasBlock)
        case .not(let part): part.hasBlock
        case .comparison(let comparison): comparison.left.hasBlock || comparison.right.hasBlock
        case .constant, .words, .fault: false
        }
    }
}

extension ExpressionNode {
    fileprivate var hasBlock: Bool {
        switch self {
        case .block: true
        case .path(let base, _): base.hasBlock
        case .aggregate(let list), .call(_, let list): list.contains(where: \.hasBlock)
        case .set(_, let left, let right): left.hasBlock || right.hasBlock
        case .subquery(let collection, _, let condition): collection.hasBlock || condition.hasBlock
        case .conditional(let condition, let first, let second): condition.hasBlock || first.hasBlock || second.hasBlock
        case .constant, .keyPath, .variable, .fault: false
        }
    }
}
