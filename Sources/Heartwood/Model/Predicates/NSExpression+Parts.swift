import Foundation

extension NSExpression {
    public final var expressionType: ExpressionType {
        switch node {
        case .constant, .fault: .constantValue
        case .keyPath(let keys): keys.isEmpty ? .evaluatedObject : .keyPath
        case .path: .keyPath
        case .aggregate: .aggregate
        case .variable: .variable
        case .call: .function
        case .set(.union, _, _): .unionSet
        case .set(.intersect, _, _): .intersectSet
        case .set(.minus, _, _): .minusSet
        case .subquery: .subquery
        case .conditional: .conditional
        case .block(let block, _): block.invocation == nil ? .block : node.isFetch ? .fetchRequest : .function
        }
    }

    private func mismatch(_ part: StaticString) -> Never {
        misuse("The expression \(self) has no \(part); look at its expressionType first.")
    }

    /// - Precondition: the expression is a constant. The same holds below: each part exists only in the kinds of expression that its comment names.
    public final var constantValue: Any? {
        guard case .constant(let value) = node else { mismatch("constantValue") }
        return value.object
    }

    /// In a key path.
    public final var keyPath: String {
        switch node {
        case .keyPath(let keys) where !keys.isEmpty: keys.joined(separator: ".")
        case .path(_, let keys): keys.joined(separator: ".")
        default: mismatch("keyPath")
        }
    }

    /// The name, in a function.
    public final var function: String {
        switch node {
        case .call(let function, _): return function.rawValue
        case .block(let block, _):
            switch block.invocation {
            case .method(let name)?: return name
            case .fetch?: return "FETCH"
            case nil: break
            }
        default: break
        }
        mismatch("function")
    }

    /// The name, in a variable or a subquery.
    public final var variable: String {
        switch node {
        case .variable(let name), .subquery(_, variable: let name, _): name
        default: mismatch("variable")
        }
    }

    /// The receiver, in a method and in a key path applied to another expression.
    public final var operand: NSExpression {
        switch node {
        case .path(let base, _): return NSExpression(node: base)
        case .keyPath: return .expressionForEvaluatedObject()
        case .call(let function, let arguments):
            guard function.isMethod, let receiver = arguments.first else { break }
            return NSExpression(node: receiver)
        case .block(let block, let arguments):
            guard case .method? = block.invocation, let receiver = arguments.first else { break }
            return NSExpression(node: receiver)
        default: break
        }
        mismatch("operand")
    }

    /// In a function or a block. In a method the arguments without the receiver.
    public final var arguments: [NSExpression]? {
        switch node {
        case .call(let function, let arguments):
            arguments.dropFirst(function.isMethod ? 1 : 0).map { NSExpression(node: $0) }
        case .block(let block, let arguments): arguments.dropFirst(block.isMethod ? 1 : 0).map { NSExpression(node: $0) }
        default: mismatch("arguments")
        }
    }

    /// In an aggregate its expressions, an array of `NSExpression`; in a subquery the expression of its collection.
    public final var collection: Any {
        switch node {
        case .aggregate(let list): list.map { NSExpression(node: $0) }
        case .subquery(let collection, _, _): NSExpression(node: collection)
        default: mismatch("collection")
        }
    }

    /// In a subquery or a conditional.
    public final var predicate: NSPredicate {
        switch node {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): NSPredicate(node: predicate)
        default: mismatch("predicate")
        }
    }

    /// In a union, an intersection or a difference.
    public final var left: NSExpression {
        guard case .set(_, let left, _) = node else { mismatch("left") }
        return NSExpression(node: left)
    }

    public final var right: NSExpression {
        guard case .set(_, _, let right) = node else { mismatch("right") }
        return NSExpression(node: right)
    }

    /// In a conditional.
    public final var `true`: NSExpression {
        guard case .conditional(_, let first, _) = node else { mismatch("true") }
        return NSExpression(node: first)
    }

    public final var `false`: NSExpression {
        guard case .conditional(_, _, let second) = node else { mismatch("false") }
        return NSExpression(node: second)
    }

    public final var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
        guard case .block(let block, _) = node, block.invocation == nil else { mismatch("expressionBlock") }
        return block.body
    }

    /// The expression's value for an object. `context` gives the values of variables.
    /// - Returns: nil also where a value of the expression cannot be computed, such as a method that its receiver does not answer.
    /// - Precondition: each variable has a value.
    public final func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        var variables: [String: Any] = [:]
        for (name, value) in context ?? [:] {
            if let name = name as? String { variables[name] = value }
        }
        do {
            return try node.value(PredicateScope(subject: object, variables: variables)).object
        } catch let fault as PredicateFault where fault.isMisuse {
            misuse("\(fault)")
        } catch {
            return nil
        }
    }
}
