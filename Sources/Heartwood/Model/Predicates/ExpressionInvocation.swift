import Foundation

/// An object that answers a FUNCTION by the method's name. Without the Objective-C runtime an object cannot be sent an arbitrary message.
protocol FunctionReceiver: AnyObject {
    /// - Returns: nil if the receiver does not know the method.
    func answer(toFunction selector: String, arguments: [PredicateValue]) throws -> PredicateValue?
}

extension ExpressionNode {
    /// The call of a method on the first argument: a method that predicates know, or any that the receiver may answer.
    /// - Returns: nil if a method that predicates know takes another number of arguments, or if there is no receiver.
    static func call(ofMethod name: String, _ arguments: [ExpressionNode]) -> ExpressionNode? {
        if let known = PredicateFunction.method(name) { return known.accepts(count: arguments.count) ? .call(known, arguments) : nil }
        guard !arguments.isEmpty else { return nil }
        return .block(ExpressionBlock(.method(name)), arguments)
    }

    var isVariable: Bool {
        if case .variable = self { return true }
        return false
    }
}

extension ExpressionNode {
    /// Whether this is FETCH(request, context, countOnly).
    var isFetch: Bool {
        if case .block(let block, _) = self, case .fetch? = block.invocation { return true }
        return false
    }
}

extension ExpressionBlock {
    var isMethod: Bool {
        if case .method? = invocation { return true }
        return false
    }
}

extension ExpressionBlock.Invocation {
    /// - Throws: `PredicateFault` if the receiver does not answer; the receiver's own errors.
    func value(_ arguments: [PredicateValue]) throws -> PredicateValue {
        switch self {
        case .method(let name):
            guard let first = arguments.first, case .other(let object) = first, let receiver = object as? any FunctionReceiver else {
                throw PredicateFault(
                    reason: "FUNCTION calls \"\(name)\" on an object whose methods cannot be called by name; predicates know "
                        + "\(PredicateFunction.methodNames).")
            }
            guard let value = try receiver.answer(toFunction: name, arguments: Array(arguments.dropFirst())) else {
                throw PredicateFault(reason: "\(type(of: object)) does not implement the function \"\(name)\".")
            }
            return value
        case .fetch:
            guard arguments.count == 3, let request = arguments[0].object as? NSPersistentStoreRequest,
                let context = arguments[1].object as? any RequestExecutor
            else { throw PredicateFault(reason: "FETCH needs a request and a context.") }
            if arguments[2].isTrue, let count = try context.countIfFetch(request) { return .integer(Int64(count)) }
            return PredicateValue(try context.directResult(of: request))
        }
    }
}

extension PredicateValue {
    var isTrue: Bool {
        switch self {
        case .bool(let flag): flag
        case .integer(let number): number != 0
        default: false
        }
    }
}
