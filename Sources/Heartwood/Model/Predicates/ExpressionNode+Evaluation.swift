import Foundation

extension ExpressionNode {
    /// - Throws: `PredicateFault`, as predicates do, also for a variable without a value.
    func value(_ scope: PredicateScope) throws -> PredicateValue {
        switch self {
        case .constant(let value): return value
        case .keyPath(let keys): return PredicateKeyPath.value(keys[...], of: scope.subject)
        case .path(let base, let keys): return PredicateKeyPath.value(keys[...], of: try base.value(scope))
        case .aggregate(let list): return .collection(try list.map { try $0.value(scope) })
        case .variable(let name):
            guard let value = scope.variables[name] else { throw PredicateFault.unbound(name) }
            return PredicateValue(value)
        case .call(let function, let arguments): return function.apply(try arguments.map { try $0.value(scope) })
        case .set(let operation, let left, let right):
            return operation.apply(try left.value(scope).listed ?? [], try right.value(scope).listed ?? [])
        case .subquery(let collection, let name, let predicate):
            var inner = scope
            return .collection(try (try collection.value(scope).listed ?? []).filter { member in
                inner.variables[name] = member
                return try predicate.evaluate(inner)
            })
        case .conditional(let predicate, let first, let second):
            return try predicate.evaluate(scope) ? first.value(scope) : second.value(scope)
        case .block(let block, let arguments):
            if let invocation = block.invocation { return try invocation.value(try arguments.map { try $0.value(scope) }) }
            let values = try arguments.map { try $0.value(scope).object ?? NSNull() }
            return PredicateValue(block.body(scope.subject, values, NSMutableDictionary(dictionary: scope.variables)))
        case .fault(let fault): throw fault
        }
    }
}

extension PredicateFault {
    static func unbound(_ name: String) -> PredicateFault {
        PredicateFault(
            reason: "The variable $\(name) has no value; give it one with withSubstitutionVariables(_:).", isMisuse: true)
    }
}

extension ExpressionNode.SetOperation {
    /// Keeps each member once, in the order of first appearance.
    func apply(_ a: [PredicateValue], _ b: [PredicateValue]) -> PredicateValue {
        let others = self == .union ? nil : MemberTable(b, [])
        let kept = switch self {
        case .union: a + b
        case .intersect: a.filter { others?.contains($0) { $0.isEqual($1) } ?? false }
        case .minus: a.filter { !(others?.contains($0) { $0.isEqual($1) } ?? false) }
        }
        return .collection(PredicateValue.distinct(kept))
    }
}

extension PredicateValue {
    /// Keeps each value once, in the order of first appearance.
    /// - Complexity: O(values), except for values without a hash.
    static func distinct(_ values: [PredicateValue]) -> [PredicateValue] {
        var result: [PredicateValue] = [], indexes: [Int: [Int]] = [:]
        for value in values {
            let hash = value.equalityHash
            guard !indexes[hash, default: []].contains(where: { result[$0].isEqual(value) }) else { continue }
            indexes[hash, default: []].append(result.count)
            result.append(value)
        }
        return result
    }

    /// Equal values of any types have equal hashes; 0 for values without a hash.
    var equalityHash: Int {
        switch self {
        case .bool(let flag): (flag ? 1.0 : 0.0).hashValue
        case .integer(let number): Double(number).hashValue
        case .double(let number), .date(let number): number.hashValue
        case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue.hashValue
        case .text(let text): text.hashValue
        case .uuid(let uuid): uuid.hashValue
        case .data(let data): data.hashValue
        case .object(let object): object.objectID.hashValue
        case .objectID(let id): id.hashValue
        case .url(let url): url.absoluteString.hashValue
        case .null, .collection, .other: 0
        }
    }
}

/// Key paths with collection operators.
enum PredicateKeyPath {
    /// The most keys in a path. Parsing or evaluating a longer one fails, so that following a path cannot exhaust the stack.
    static let keysMax = 64

    /// Splits a written path into its keys.
    static func keys(_ path: String) throws(PredicateFault) -> [String] {
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard keys.count <= keysMax else { throw .longPath }
        guard !keys.contains("") else { throw .emptyKey }
        return keys
    }

    /// A collection on the path gives its members' values, null included, in one list. An operator applies to the collection at the end of the
    /// path before it.
    static func value(_ keys: ArraySlice<String>, of subject: Any?) -> PredicateValue {
        guard let key = keys.first else { return PredicateValue(subject) }
        guard keys.count <= keysMax else { return .null }
        let rest = keys.dropFirst()
        // A cast of a dictionary to a collection's class would copy all of it.
        if let known = subject, type(of: known) == [String: Any].self, !key.hasPrefix("@"), let values = known as? [String: Any] {
            return value(rest, of: values[key])
        }
        // Tested early, since finding out that an object is no collection is slow.
        if let object = subject as? any EntityObject, !key.hasPrefix("@") { return value(rest, of: object.predicateValue(forKey: key)) }
        if let members = members(of: subject) {
            if key.hasPrefix("@") { return collect(key, rest, members) }
            return .collection(members.flatMap { member -> [PredicateValue] in
                let value = value(keys, of: member)
                return value.members ?? [value]
            })
        }
        guard !key.hasPrefix("@") else { return collect(key, rest, []) }
        switch subject {
        case let subject as any PredicateSubject: return value(rest, of: subject.predicateValue(forKey: key))
        case let subject as PredicateValue: return value(of: subject, key, rest)
        case let subject as [String: Any]: return value(rest, of: subject[key])
        case let subject as NSDictionary: return value(rest, of: subject.object(forKey: key))
        case let text as String where key == "length": return value(rest, of: text.utf16.count)
        case _ where key.lowercased() == "self" && subject != nil: return value(rest, of: subject)
        default: return .null
        }
    }

    private static func value(of subject: PredicateValue, _ key: String, _ rest: ArraySlice<String>) -> PredicateValue {
        switch subject {
        case .object(let object): value(rest, of: object.predicateValue(forKey: key))
        case .other(let object): value([key] + rest, of: object)
        case .text(let text) where key == "length": value(rest, of: text.utf16.count)
        case .null: .null
        default: key.lowercased() == "self" ? value(rest, of: subject) : .null
        }
    }

    private static func members(of subject: Any?) -> [Any]? {
        switch subject {
        case let value as PredicateValue: value.members
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: set.array
        case let array as NSArray: array.map { $0 }
        case let array as [Any]: array
        case let set as Set<AnyHashable>: Array(set)
        default: nil
        }
    }

    /// Applies a collection operator to the members' values for the rest of the path. Members that are collections contribute their own members.
    private static func collect(_ name: String, _ rest: ArraySlice<String>, _ members: [Any]) -> PredicateValue {
        if name == "@count" { return .integer(Int64(members.count)) }
        let values = members.flatMap { member -> [PredicateValue] in
            let value = value(rest, of: member)
            return value.members ?? [value]
        }
        switch name {
        case "@min": return PredicateFunction.min.aggregate([.collection(values)])
        case "@max": return PredicateFunction.max.aggregate([.collection(values)])
        case "@sum": return PredicateFunction.sum.aggregate([.collection(values)])
        case "@avg": return PredicateFunction.average.aggregate([.collection(values)])
        case "@unionOfObjects", "@unionOfArrays", "@unionOfSets": return .collection(values.filter { !$0.isNull })
        case "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets":
            return .collection(PredicateValue.distinct(values.filter { !$0.isNull }))
        default: return .null
        }
    }

    /// All known operators.
    static let operators: Set<String> = [
        "@count", "@min", "@max", "@sum", "@avg", "@unionOfObjects", "@unionOfArrays", "@unionOfSets", "@distinctUnionOfObjects",
        "@distinctUnionOfArrays", "@distinctUnionOfSets",
    ]
}
