import Foundation

extension NSExpression {
    package convenience init(node: ExpressionNode, depth: Int? = nil) {
        let tree = ExpressionTree(node, depth: depth ?? node.depth)
        if Self.self == NSExpression.self, node.isFetch {
            self.init(taking: unsafeDowncast(NSFetchRequestExpression(body: tree), to: Self.self))
        } else {
            self.init(body: tree)
        }
    }

    private convenience init(_ node: ExpressionNode, over parts: [NSExpression]) {
        self.init(node: node, depth: 1 + parts.reduce(0) { max($0, $1.depth) })
    }

    package var node: ExpressionNode { (body as? ExpressionTree)?.node ?? .constant(.null) }
    var depth: Int { (body as? ExpressionTree)?.depth ?? 1 }

    /// Parses an expression in the format language.
    /// An argument that does not fit makes an expression without a value: a fetch with it throws.
    /// - Precondition: the format is well-formed; the message quotes it and marks the position.
    public convenience init(format: String, _ args: any CVarArg...) {
        self.init(trapping: format, args)
    }

    /// Parses a format like `init(format:_:)`, with the arguments in an array.
    public convenience init(format: String, argumentArray arguments: [Any]) {
        self.init(trapping: format, arguments)
    }

    /// Parses an expression that comes from outside the program.
    /// - Throws: an error whose description quotes the format and marks the position.
    public convenience init(parsing format: String, argumentArray arguments: [Any]? = nil) throws {
        let (node, depth) = try PredicateParser.parseExpression(format, arguments: arguments ?? [])
        self.init(node: node, depth: depth)
    }

    private convenience init(trapping format: String, _ arguments: [Any]) {
        do {
            let (node, depth) = try PredicateParser.lenientExpression(format, arguments: arguments)
            self.init(node: node, depth: depth)
        } catch {
            misuse("\(error)")
        }
    }

    public convenience init(forConstantValue value: Any?) { self.init(.constant(PredicateValue(value)), over: []) }

    public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.keyPath([]), over: []) }

    /// The value of a `$name`.
    public convenience init(forVariable name: String) { self.init(.variable(name), over: []) }

    /// The value at the end of a path of keys joined by dots. `self` at its start adds no key, as in a format. An expression with an empty key or
    /// with more than 64 keys cannot be evaluated, and a fetch with it throws.
    public convenience init(forKeyPath path: String) {
        do {
            let keys = try PredicateKeyPath.keys(path)
            self.init(.keyPath(keys[0].uppercased() == "SELF" ? Array(keys.dropFirst()) : keys), over: [])
        } catch {
            self.init(.fault(error), over: [])
        }
    }

    /// A function by Core Data's name, such as `sum:`. An argument that is no expression is a constant.
    /// - Precondition: the function exists and takes this number of arguments.
    public convenience init(forFunction name: String, arguments: [Any]) {
        guard let function = PredicateFunction(rawValue: name), !function.isMethod else {
            misuse("There is no function \"\(name)\"; there are \(PredicateFunction.names).")
        }
        demand(function.accepts(count: arguments.count), "\(name) takes \(function.arityText), not \(arguments.count).")
        let parts = arguments.map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
        self.init(.call(function, parts.map(\.node)), over: parts)
    }

    /// A method of the value that `target` gives, such as `uppercaseString`. On a variable to which a migration gives a value, such as
    /// `$manager`, it may be any method that the value answers (`NSEntityMigrationPolicy.value(ofFunction:arguments:)`). Other objects cannot be
    /// sent a message by name: a fetch with such an expression throws.
    /// - Precondition: a method that FUNCTION in a format knows has the right number of arguments.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
        let parts = [target] + (arguments ?? []).map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
        guard let node = ExpressionNode.call(ofMethod: name, parts.map(\.node)) else {
            misuse("\(name) takes \((PredicateFunction.method(name)?.arity ?? 1) - 1) arguments beside its receiver, not \(parts.count - 1).")
        }
        self.init(node, over: parts)
    }

    /// A list of expressions. A member that is no expression is a constant.
    public convenience init(forAggregate expressions: [Any]) {
        let parts = expressions.map { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
        self.init(.aggregate(parts.map(\.node)), over: parts)
    }

    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.union, left.node, right.node), over: [left, right])
    }

    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.intersect, left.node, right.node), over: [left, right])
    }

    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(.set(.minus, left.node, right.node), over: [left, right])
    }

    /// The members of a collection that meet a predicate. The variable has each member as its value in turn.
    public convenience init(
        forSubquery collection: NSExpression, usingIteratorVariable variable: String, predicate: Foundation.NSPredicate
    ) {
        self.init(
            node: .subquery(collection.node, variable: variable, predicate.node), depth: 1 + max(collection.depth, predicate.depth))
    }

    public convenience init(forConditional predicate: Foundation.NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression) {
        self.init(
            node: .conditional(predicate.node, trueExpression.node, falseExpression.node),
            depth: 1 + max(predicate.depth, trueExpression.depth, falseExpression.depth))
    }

    /// The value of a block, in memory only. A fetch with it throws.
    public convenience init(block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?) {
        self.init(.block(ExpressionBlock(block), (arguments ?? []).map(\.node)), over: arguments ?? [])
    }
}
